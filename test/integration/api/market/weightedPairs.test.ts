/**
 * Tests how weighted and stable pools appear as pairs: all their tokens, the spot price from balances and
 * weights, TVL from trusted tokens.
 */
import { ALL_ACTIVITY, listEventsBetween } from '../../../../src/query/activity/activity';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { readHead } from '../../../../src/query/head/headState';
import { listPairs } from '../../../../src/query/pairs/pairList';
import { createPairTables, type PairTable } from '../../../../src/query/pairs/pairTable';
import { createHeadSwaps } from '../../../../src/query/bars/headSwaps';
import type { PairEntry } from '../../../../src/query/pairs/pairItem';
import { trustedValueOf } from '../../../../src/query/pairs/poolValue';
import type { PairWindows } from '../../../../src/query/pairs/pairWindows';
import { toPairDetail } from '../../../../src/query/pairs/pairDetail';
import { Directory } from '../../../../src/query/tokens/directory';
import { getPairSeries } from '../../../../src/query/bars/pairSeries';
import { createTokenPrices } from '../../../../src/query/prices/tokenPrices';
import { pairDetailShape } from '../../../../src/wire/pairs';
import { isDecoded } from '../../../../src/wire/activity';
import { storeChain } from '../../../simulation/harness';
import { oracleSwaps } from '../../../support/oracle/oracle';
import { VaultOracle } from '../../../support/oracle/oracleVault';
import { SIM_CHAIN_ID, SIM_RANKED, SimChain } from '../../../simulation/chain/simChain';
import { listingOf, VAULT, type SimVaultPool } from '../../../simulation/chain/simVault';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { SIM_DESCRIPTION } from '../../../simulation/chain/simDescription';
import { simDecimals } from '../../../simulation/chain/simTokens';

const SEED = 19;
const BLOCKS = 300;

let store: TestStore;
let table: PairTable;
let entries: PairTable['byAddress'];
let pools: readonly SimVaultPool[];
let head: HeadSnapshot;
let chain: SimChain;

beforeAll(async () => {
  chain = new SimChain(SEED);
  chain.mine(BLOCKS);
  store = await openTestStore(async ({ db }) => void (await storeChain(chain, db)));
  const { runner } = store;
  head = (await readHead(runner, SIM_CHAIN_ID))!;
  const prices = createTokenPrices(runner, SIM_CHAIN_ID, SIM_DESCRIPTION);
  table = await createPairTables(runner, SIM_CHAIN_ID, prices, []).at(head);
  entries = table.byAddress;
  pools = chain.vaultPoolsAt(chain.head.hash)!;
});

afterAll(() => store?.close());

const close = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

/** Amounts in whole tokens. */
const held = (pool: SimVaultPool, i: number): number =>
  Number(pool.balances[i]) / 10 ** simDecimals(pool.tokens[i]!);

test('a weighted or stable pool is a pair that lists all its tokens in the order of the vault, and other vault pools are no pairs', () => {
  expect(pools.length).toBeGreaterThan(5);
  for (const pool of pools) {
    const item = entries.get(pool.address)?.item;
    if (pool.nature === 'other') expect(item).toBeUndefined();
    else expect(item?.tokens.map(({ address }) => address)).toEqual(pool.tokens);
  }
});

test('the best ranked token of a pool is one of its two main tokens', () => {
  let many = 0;
  for (const { tokens, address } of pools.filter(({ nature }) => nature !== 'other')) {
    const quote = SIM_RANKED.find((token) => tokens.includes(token));
    if (quote === undefined) continue;
    const { token0, token1 } = entries.get(address)!.pool;
    expect([token0, token1]).toContain(quote);
    if (tokens.length > 2) many += 1;
  }
  expect(many).toBeGreaterThan(2);
});

test('the price is the ratio of balances over weights, and null without fixed weights or with doubts', () => {
  let priced = 0;
  // The simulation compares the prices of stable pools.
  for (const pool of pools.filter(({ nature }) => nature === 'plain' || nature === 'moving')) {
    const { item } = entries.get(pool.address)!;
    const [base, quote] = [item.base_token, item.quote_token].map(({ address }) =>
      (pool.tokens as string[]).indexOf(address),
    );
    const part = (i: number): number => held(pool, i) / Number(pool.weights[i]);
    const expected = part(quote!) / part(base!);
    if (pool.nature !== 'plain' || item.flags.length > 0 || !(expected > 0) || !Number.isFinite(expected)) {
      expect(item.price).toBeNull();
      continue;
    }
    expect({ address: pool.address, same: close(Number(item.price), expected) }).toEqual({
      address: pool.address,
      same: true,
    });
    priced += 1;
  }
  expect(priced).toBeGreaterThan(0);
});

/** Whether a cap limits the value of a token of the pool. The tests of `countSides` check caps. */
function isCapped({ holdings }: PairEntry): boolean {
  return holdings.some((side) => trustedValueOf(side) > side.price.capUsd);
}

test('TVL is the value of the trusted tokens divided by their share of the weights, at most twice the value', () => {
  let compared = 0;
  for (const pool of pools.filter(({ nature }) => nature === 'plain')) {
    const { item, holdings } = entries.get(pool.address)!;
    if (isCapped(entries.get(pool.address)!)) continue;
    compared += 1;
    let value = 0;
    let weight = 0;
    const all = pool.weights.reduce((sum, each) => sum + each, 0n);
    holdings.forEach(({ price }, i) => {
      if (price.usd === null || price.confidence < 0.5) return;
      value += held(pool, i) * price.usd;
      weight += Number(pool.weights[i]) / Number(all);
    });
    const tvl = item.flags.length > 0 ? value : Math.min(value / (weight || 1), 2 * value);
    expect(close(item.liquidity_usd, pool.isManaged ? 0 : tvl)).toBe(true);
    expect(item.flags.includes('managed_balance')).toBe(pool.isManaged);
  }
  expect(compared).toBeGreaterThan(3);
});

const quiet = { buys: 0, sells: 0, buyers: 0, sellers: 0, volume: 0 };
const windows: PairWindows = {
  trades: { m5: quiet, h1: quiet, h6: quiet },
  volumeWeek: 0,
  volumeMonth: 0,
  feesWeek: 0,
  meanReservesWeek: null,
  meanBalancesWeek: null,
};

test('the details of a weighted pool name the tokens of the two reserves and list the balance of every token', () => {
  let valued = 0;
  for (const pool of pools.filter(({ nature }) => nature !== 'other')) {
    const entry = entries.get(pool.address)!;
    const detail = toPairDetail(entry, windows, { holding: null, partial: true });
    pairDetailShape.parse(detail);
    expect(detail.balances?.map(({ address, balance_raw: raw }) => [address, raw])).toEqual(
      pool.tokens.map((token, i) => [token, String(pool.balances[i])]),
    );
    for (const [token, raw] of [
      [detail.token0, detail.reserve0_raw],
      [detail.token1, detail.reserve1_raw],
    ] as const)
      expect(detail.balances!.find(({ address }) => address === token)!.balance_raw).toBe(raw);
    for (const [i, { price }] of entry.holdings.entries()) {
      const worth = detail.balances![i]!.value_usd;
      if (price.usd === null) expect(worth).toBeNull();
      else valued += Number(worth! >= 0);
    }
  }
  expect(valued).toBeGreaterThan(10);
});

test('shares that a composable pool holds of itself are no TVL and no supply', () => {
  const stable = pools.filter(({ nature }) => nature === 'stable');
  expect(stable.length).toBeGreaterThan(0);
  for (const pool of stable) {
    const own = pool.tokens.indexOf(pool.address);
    const entry = entries.get(pool.address)!;
    const supply = pool.balances[own]! + 7n * 10n ** 18n;
    const holding = { holders: 2, supply, watched: new Map(), largest: [], addresses: 2 };
    expect(entry.holdings[own]!.amount).toBe(0);
    expect(toPairDetail(entry, windows, { holding, partial: false }).total_supply).toBe('7');
    expect([entry.token0.address, entry.token1.address]).not.toContain(pool.address);
  }
  expect(stable.some(({ tokens, address, balances }) => balances[tokens.indexOf(address)]! > 0n)).toBe(true);
});

test('a join or an exit by a swap of the own share of a pool names no owner', async () => {
  const kinds = ['mint', 'burn'] as const;
  const found = await listEventsBetween(store.runner, head, { ...ALL_ACTIVITY, kinds }, 0, 2 ** 52, 5_000);
  const vaults = new Set(pools.map(({ address }) => address as string));
  const owners = found
    .map(({ item }) => item)
    .filter(isDecoded)
    .flatMap((item) => ('owner' in item && vaults.has(item.pair_address) ? [item.owner] : []));
  expect(owners).toContain(null);
  expect(owners.filter((owner) => owner !== null).length).toBeGreaterThan(0);
  expect(owners).not.toContain(`0x${'0'.repeat(40)}`);
});

test('the yield of a weighted pool uses its mean balances', () => {
  let [two, more] = [0, 0];
  for (const pool of pools.filter(({ nature }) => nature === 'plain')) {
    const entry = entries.get(pool.address)!;
    if (!(entry.liquidityUsd > 0) || isCapped(entry)) continue;
    const ofTwo = pool.tokens.length === 2;
    const aprOver = (share: number | null): number => {
      const { reserve0, reserve1 } = entry.facts.state!;
      const of = (raw: bigint): number => Number(raw) * (share ?? 0);
      const meanReservesWeek =
        share === null
          ? null
          : { mean_reserve0: of(reserve0), mean_reserve1: of(reserve1), mean_value0: 0, mean_value1: null };
      const meanBalancesWeek = share === null || ofTwo ? null : pool.balances.map(of);
      const means = { meanReservesWeek: ofTwo ? meanReservesWeek : null, meanBalancesWeek };
      return toPairDetail(entry, { ...windows, feesWeek: 3, ...means }, { holding: null, partial: true })
        .apr_7d!;
    };
    expect(close(aprOver(0.5), aprOver(null) * 2)).toBe(true);
    if (ofTwo) two += 1;
    else more += 1;
  }
  expect(Math.min(two, more)).toBeGreaterThan(0);
});

test('a search finds a weighted pool by any of its tokens', () => {
  const all = table.entries;
  const find = (filter: { readonly searchText?: string; readonly token?: `0x${string}` }): string[] =>
    listPairs(all, { searchText: null, dex: null, token: null, ...filter }, 'created_at', 'asc').map(
      ({ pool }) => pool.address,
    );
  const tokens = new Set(all.flatMap(({ item }) => item.tokens.map(({ address }) => address)));
  const holders = (token: string): string[] =>
    all
      .filter(({ item }) => item.tokens.some(({ address }) => address === token))
      .map(({ pool }) => pool.address);
  let many = 0;
  for (const token of tokens) {
    expect(find({ token: token as `0x${string}` }).sort()).toEqual(holders(token).sort());
    // A stable pool's own token has the pool's address.
    expect(new Set(find({ searchText: token.toUpperCase().replace('0X', '0x') }))).toEqual(
      new Set(holders(token)),
    );
    many += holders(token).filter((address) => entries.get(address)!.item.tokens.length > 2).length;
  }
  expect(many).toBeGreaterThan(20);
});

test('a pool without trades has no bars, and the reason no_usd_price only if its quote token is unpriced', async () => {
  const reasons: (readonly [boolean, string | undefined])[] = [];
  for (const { pool, item } of table.entries) {
    const source = { ...tickSource(), pairs: { at: () => Promise.resolve(table) } };
    const request = {
      timeframe: '1d',
      limit: 10,
      to: null,
      currency: 'usd',
      fill: false,
      invert: false,
    } as const;
    const { data, meta } = await getPairSeries(source, head, {
      ...request,
      pair: pool.address as `0x${string}`,
      base: null,
      quote: null,
    });
    const priced = table.prices.now(item.quote_token.address).usd !== null;
    if (data.length > 0) expect(meta.reason).toBeUndefined();
    else reasons.push([priced, meta.reason]);
  }
  for (const [priced, reason] of reasons) expect(reason).toBe(priced ? undefined : 'no_usd_price');
  expect(reasons.filter(([priced]) => priced).length).toBeGreaterThan(0);
});

test('a swap of a vault pool has no sender and no recipient', async () => {
  const runner = store.runner;
  const found = await listEventsBetween(
    runner,
    head,
    { ...ALL_ACTIVITY, kinds: ['swap'] },
    0,
    2 ** 52,
    5_000,
  );
  const items = found.map(({ item }) => item).filter(isDecoded);
  const vaults = new Set(pools.map(({ address }) => address as string));
  const [ours, others] = [true, false].map((is) =>
    items.filter((item) => vaults.has(item.pair_address) === is),
  );
  expect(ours!.length).toBeGreaterThan(0);
  expect(others!.length).toBeGreaterThan(0);
  for (const item of ours!) expect(item).toMatchObject({ sender: null, recipient: null });
  for (const item of others!) expect(item).toMatchObject({ sender: expect.stringMatching(/^0x/) });
});

const CHAIN = { anchors: [], wrappedNative: null, majors: [] };

function tickSource() {
  const runner = store.runner;
  return {
    runner,
    chainId: SIM_CHAIN_ID,
    directory: new Directory(runner),
    chain: CHAIN,
    headSwaps: createHeadSwaps(runner),
  };
}

async function ticksOf(pair: `0x${string}`, base: `0x${string}` | null, quote: `0x${string}` | null) {
  const rest = {
    timeframe: '1d',
    limit: 1_000,
    to: null,
    currency: 'quote',
    fill: false,
    invert: false,
  } as const;
  return getPairSeries(tickSource(), head, { ...rest, pair, base, quote });
}

test('every two tokens of a weighted pool have their own bars, in both directions', async () => {
  const listings = new Map(pools.map((pool) => [pool.address as string, listingOf(pool)]));
  const truth = {
    vault: VAULT,
    ranked: SIM_RANKED,
    listingOf: (pool: string) => listings.get(pool as `0x${string}`) ?? null,
  };
  const vault = new VaultOracle(truth, 1);
  const swaps = oracleSwaps(chain.canonical(), new Set<string>(), { vault, firstBlock: 1 });
  let legs = 0;
  for (const pool of pools.filter(({ nature, tokens }) => nature === 'plain' && tokens.length > 2)) {
    for (const [i, first] of pool.tokens.entries()) {
      for (const second of pool.tokens.slice(i + 1)) {
        const own = swaps.filter(
          (swap) => swap.pair === pool.address && swap.token0 === first && swap.token1 === second,
        );
        const priced = own.filter((swap) => (swap.price ?? 0) > 0);
        const answer = await ticksOf(pool.address, second, first);
        const turned = await ticksOf(pool.address, first, second);
        expect(answer.meta.base_token?.address).toBe(second);
        expect(turned.meta.base_token?.address).toBe(first);
        if (priced.length === 0) {
          expect(answer.data).toEqual([]);
          continue;
        }
        // The prices of the oracle are raw token1 per raw token0; here token1 is the base token.
        const price = priced.at(-1)!.price! * 10 ** (simDecimals(first) - simDecimals(second));
        expect(close(answer.data.at(-1)!.close, 1 / price)).toBe(true);
        expect(close(turned.data.at(-1)!.close, price)).toBe(true);
        legs += 1;
      }
    }
  }
  expect(legs).toBeGreaterThan(1);
});

test('ticks refuse a base token that the pool does not hold, and a quote token equal to the base token', async () => {
  const pool = pools.find(({ nature, tokens }) => nature === 'plain' && tokens.length > 2)!;
  const [first] = pool.tokens;
  await expect(ticksOf(pool.address, `0x${'9'.repeat(40)}`, null)).rejects.toThrow(/^base: got/);
  await expect(ticksOf(pool.address, first!, first!)).rejects.toThrow(/^quote: got/);
});
