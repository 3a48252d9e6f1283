/** Compares holders and supplies of tokens with a plain sum over every transfer, in every state of the store. */
import type { QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { formatUnits } from '../../../src/domain/amounts';
import { ZERO_ADDRESS } from '../../../src/domain/hex';
import { sumBurned } from '../../../src/query/overview/overview';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { createHolderTables, type HolderTables } from '../../../src/query/holders/holders';
import { perVersion } from '../../../src/query/head/perVersion';
import { createPairTables, type PairTables } from '../../../src/query/pairs/pairTable';
import { createTokenPrices } from '../../../src/query/prices/tokenPrices';
import { createTokenTables } from '../../../src/query/tokens/tokenTable';
import type { TokenDetail, TokenItem } from '../../../src/wire/tokens';
import { CHAIN } from '../../support/server/apiServer';
import { decimalsOf, expectClose, priceNow, upTo } from '../../integration/api/market/plainMarket';
import {
  DEAD,
  LIE,
  makeTransfers,
  movesOf,
  plainBalances,
  sentToZero,
  startWallets,
  wholeSnapshot,
  worldAt,
} from '../../integration/api/portfolio/transferWorld';
import { CHAIN_ID, FIRST_BLOCK, hexOf, snapshotOf } from '../../support/worlds/world';
import { makeMarketWorld, WALLETS_PLAN, type MarketServer } from '../../support/server/marketServer';

const DAY = 86_400;

const marketWorld = makeMarketWorld(WALLETS_PLAN);
const { world, finalTo: FINAL, storedTo: STORED, tip: TIP } = marketWorld;
const moves = makeTransfers(world, world.seed);
const HEAD = wholeSnapshot(world, FINAL, TIP);
let pairs: PairTables;
let market: MarketServer;
beforeAll(async () => {
  market = await startWallets(marketWorld, moves);
  const { runner } = market;
  pairs = createPairTables(runner, CHAIN_ID, createTokenPrices(runner, CHAIN_ID, CHAIN), CHAIN.dexes);
});

afterAll(() => market?.close());

/**
 * Heads in the order in which a process may see them, and in worse orders: forward, over a reorg and back,
 * far ahead and far back.
 */
function heads(): [string, HeadSnapshot][] {
  return [
    ['a cursor and a head above it', wholeSnapshot(world, FINAL, FINAL + 20)],
    ['one block more', wholeSnapshot(world, FINAL, FINAL + 21)],
    ['a few blocks final', wholeSnapshot(world, FINAL + 6, FINAL + 24)],
    ['a reorg of two blocks', wholeSnapshot(world, FINAL + 6, FINAL + 24, [FINAL + 23, FINAL + 24])],
    ['the other branch going on', wholeSnapshot(world, FINAL + 7, FINAL + 25, [FINAL + 23, FINAL + 24])],
    ['the reorg undone', wholeSnapshot(world, FINAL + 7, FINAL + 25)],
    ['the whole head', wholeSnapshot(world, FINAL + 7, TIP)],
    ['nothing above the cursor', wholeSnapshot(world, STORED, STORED)],
    ['a head that lies far behind the store', wholeSnapshot(world, FINAL - 60, FINAL - 60)],
    ['a jump over more than the head', wholeSnapshot(world, FINAL - 5, TIP)],
    ['the very first block', wholeSnapshot(world, FIRST_BLOCK, FIRST_BLOCK)],
    ['the cursor in the midst of a promotion', wholeSnapshot(world, STORED, TIP)],
  ];
}

const balancesAt = new WeakMap<HeadSnapshot, ReturnType<typeof plainBalances>>();

const lpTokens = (): Set<string> =>
  new Set(poolsAt(HEAD).flatMap(({ address, pool_type }) => (pool_type === 2 ? [address] : [])));

/**
 * Expected holders of a token by a plain sum. During a backfill the API counts all stored transfers, even those newer
 * than the snapshot, and so does this sum.
 */
function plainHolding(of: HeadSnapshot, token: string) {
  const asOf = of.number < STORED ? wholeSnapshot(world, STORED, STORED) : of;
  const balances = balancesAt.get(of) ?? plainBalances(movesOf(moves, asOf));
  balancesAt.set(of, balances);
  const holders = balances.get(token);
  if (holders === undefined) return null;
  const zero = holders.get(ZERO_ADDRESS) ?? 0n;
  const others = [...holders].filter(([who]) => who !== ZERO_ADDRESS).map(([, balance]) => balance);
  const positive = others.filter((balance) => balance > 0n).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
  const fits = others.every((balance) => balance >= 0n) && zero <= 0n;
  const sent = lpTokens().has(token) ? sentToZero(movesOf(moves, of), token) : 0n;
  return {
    holders: positive.length,
    supply: fits ? sent - zero : null,
    dead: holders.get(DEAD) ?? 0n,
    largest: positive.slice(0, 40),
  };
}

/** The dead address is watched for every token. */
const watch = perVersion({ read: () => Promise.resolve({ holders: [DEAD], creatorOf: () => null }) });
const poolsAt = (of: HeadSnapshot) => upTo(worldAt(world, of), of, (block) => block.pools);

async function expectPlain(tables: HolderTables, of: HeadSnapshot): Promise<number> {
  const table = await tables.at(of);
  const pools = poolsAt(of);
  const lp = pools.filter(({ pool_type }) => pool_type === 2).map(({ address }) => address);
  const tokens = new Set([...lp, ...pools.flatMap(({ token0, token1 }) => [token0, token1])]);
  let known = 0;
  for (const token of tokens) {
    const wanted = plainHolding(of, token);
    const got = table.holdingOf(token);
    if (wanted === null) expect(got).toBeNull();
    else {
      const dead = got?.watched.get(DEAD) ?? 0n;
      expect({ token, ...got, dead }).toMatchObject({ token, ...wanted });
      known += 1;
    }
  }
  for (const token of [ZERO_ADDRESS, hexOf('99', 3, 40)]) expect(table.holdingOf(token)).toBeNull();
  return known;
}

/** Heads checked after the merge. Before the merge, with rows in many parts, every head is checked. */
const MERGED_HEADS = new Set([
  'a cursor and a head above it',
  'a reorg of two blocks',
  'the whole head',
  'a head that lies far behind the store',
  'the cursor in the midst of a promotion',
]);

describe.each(['before the parts are merged', 'after the parts are merged'])('holders %s', (state) => {
  const isMerged = state === 'after the parts are merged';
  const some = (): [string, HeadSnapshot][] =>
    heads().filter(([name]) => !isMerged || MERGED_HEADS.has(name));

  beforeAll(async () => {
    if (!isMerged) return;
    for (const table of ['token_balances', 'holder_balances', 'owner_positions'])
      await market.db.command('merge', `OPTIMIZE TABLE ${table} FINAL`);
  });

  test('holders counted at each head equal a plain recomputation', async () => {
    for (const [, of] of some()) {
      const known = await expectPlain(createHolderTables(market.runner, pairs, { watch }), of);
      if (of.number >= FINAL) expect(known).toBeGreaterThan(8);
    }
  });

  test('holders updated from the previous head, in both directions, equal a plain recomputation', async () => {
    const tables = createHolderTables(market.runner, pairs, { watch });
    for (const [, of] of [...some(), ...some().reverse()]) await expectPlain(tables, of);
  });

  test('holders updated with single blocks and reorgs equal a plain recomputation', async () => {
    const counted: string[] = [];
    let followed = 0;
    const watching: QueryRunner = {
      ...market.runner,
      run: async (name, params, shape) => {
        const rows = await market.runner.run(name, params, shape);
        if (name.endsWith('count_holders')) counted.push(...(params['tokens'] as string[]));
        if (name === 'holders/list_changes') followed += rows.length;
        return rows;
      },
    };
    const tables = createHolderTables(watching, pairs, { followedAddressesMin: 0, watch });
    const at = (tip: number, orphans: readonly number[] = []): HeadSnapshot =>
      wholeSnapshot(world, STORED, tip, orphans);
    await expectPlain(tables, at(STORED + 3));
    counted.length = 0;
    for (let tip = STORED + 4; tip < TIP; tip += isMerged ? 12 : 7) {
      await expectPlain(tables, at(tip));
      await expectPlain(tables, at(tip + 1, [tip, tip + 1]));
    }
    // The later heads update the counts of the previous head. They count all holders only of tokens that had no
    // transfer before.
    expect(counted.length).toBeLessThan(6);
    for (const [, of] of some()) await expectPlain(tables, of);
    expect(followed).toBeGreaterThan(100);
  });
});

test('a new head counts again only the holders of tokens with new transfers', async () => {
  const asked: string[][] = [];
  const watching: QueryRunner = {
    ...market.runner,
    run: (name, params, shape) => {
      if (name.endsWith('count_holders')) asked.push(params['tokens'] as string[]);
      return market.runner.run(name, params, shape);
    },
  };
  const tables = createHolderTables(watching, pairs);
  const movedIn = (from: number, to: number): Set<string> => {
    const blocks = [...moves.canonical.values()].filter(({ number }) => number >= from && number <= to);
    return new Set(blocks.flatMap(({ transfers }) => transfers.map(({ token }) => token.slice(2))));
  };
  // Every snapshot ends below the last stored block. Transfers above a snapshot must not make the tables count again.
  await tables.at(wholeSnapshot(world, FINAL, FINAL + 10));
  for (const [finalTo, tip] of [
    [FINAL, FINAL + 11],
    [FINAL + 8, FINAL + 12],
    [FINAL + 12, FINAL + 12],
  ] as const) {
    asked.length = 0;
    await tables.at(wholeSnapshot(world, finalTo, tip));
    const listed = new Set(asked.flat());
    const moved = tip === FINAL + 12 && finalTo === tip ? new Set<string>() : movedIn(tip, tip);
    const inPools = poolsAt(wholeSnapshot(world, finalTo, tip)).flatMap((pool) =>
      [pool.token0, pool.token1, ...(pool.pool_type === 2 ? [pool.address] : [])].map((hex) => hex.slice(2)),
    );
    expect([...listed].sort()).toEqual([...moved].filter((token) => inPools.includes(token)).sort());
  }
});

describe('endpoints show the holders and the supply of a token', () => {
  test('the token list shows holders, supply and the value of the supply', async () => {
    const { json } = await market.api.get('/api/v1/tokens?limit=100&sort=holders&order=desc');
    const items = json['data'] as unknown as TokenItem[];
    expect(items.length).toBeGreaterThan(4);
    const counts = items.map(({ holders }) => holders ?? -1);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    for (const item of items) {
      const wanted = plainHolding(HEAD, item.address) ?? {
        holders: null,
        supply: null,
        dead: 0n,
        largest: [],
      };
      const decimals = decimalsOf(world, item.address);
      expect(item.holders).toBe(wanted.supply === null ? null : wanted.holders);
      expect(item.total_supply).toBe(wanted.supply === null ? null : formatUnits(wanted.supply, decimals));
      expect(item.market_cap_usd).toBeNull();
      const { usd } = priceNow(world, HEAD, item.address);
      const worth = wanted.supply === null ? null : Number(wanted.supply - wanted.dead) / 10 ** decimals;
      expectClose(item.fdv_usd, usd === null || worth === null ? null : worth * usd, 1e-12);
      expect(item.flags.includes('unbalanced_transfers')).toBe(
        wanted.supply === null && wanted.holders !== null,
      );
    }
    expect(items.find(({ address }) => address === LIE)).toMatchObject({
      holders: null,
      flags: expect.arrayContaining(['unbalanced_transfers']) as unknown,
    });
    const byWorth = (await market.api.get('/api/v1/tokens?sort=fdv_usd')).json[
      'data'
    ] as unknown as TokenItem[];
    const worths = byWorth.map(({ fdv_usd }) => fdv_usd);
    const known = worths.filter((worth) => worth !== null);
    expect(worths).toEqual([...known.sort((a, b) => b - a), ...worths.filter((worth) => worth === null)]);
  });

  test('a token shows the distribution of its supply and its burned supply', async () => {
    let spread = 0;
    for (const { address } of world.tokens) {
      const answer = await market.api.get(`/api/v1/tokens/${address}`);
      if (answer.status === 404) continue;
      const detail = answer.json['data'] as unknown as TokenDetail;
      const wanted = plainHolding(HEAD, address)!;
      if (wanted.supply === null || wanted.supply === 0n) {
        expect(detail.holder_distribution).toBeNull();
        if (wanted.supply === null) expect(detail.burned_supply).toBeNull();
        continue;
      }
      spread += 1;
      const percentOf = (from: number, to: number): number =>
        wanted.largest
          .slice(from, to)
          .reduce((sum, one) => sum + (Number(one) / Number(wanted.supply)) * 100, 0);
      const parts = detail.holder_distribution!;
      expect(parts.top_10).toBeCloseTo(percentOf(0, 10), 9);
      expect(parts.top_11_20).toBeCloseTo(percentOf(10, 20), 9);
      expect(parts.top_21_40).toBeCloseTo(percentOf(20, 40), 9);
      expect(parts.top_10 + parts.top_11_20 + parts.top_21_40 + parts.rest).toBeCloseTo(100, 9);
      expect(detail.burned_supply).toBe(formatUnits(wanted.dead, decimalsOf(world, address)));
    }
    expect(spread).toBeGreaterThan(2);
  });

  test('a V2 pair shows its LP supply and the number of LP holders', async () => {
    for (const pool of poolsAt(HEAD)) {
      const { json } = await market.api.get(`/api/v1/pairs/${pool.address}`);
      const wanted = plainHolding(HEAD, pool.address) ?? { holders: 0, supply: 0n };
      const lp = pool.pool_type === 2;
      expect(json['data']).toMatchObject({
        total_supply: lp ? formatUnits(wanted.supply ?? 0n, 18) : null,
        lp_holders: lp ? wanted.holders : null,
      });
    }
  });

  test('holders and supply are null if the history is incomplete, except of LP tokens of pools created in the stored history', async () => {
    const partial = { ...snapshotOf(world, FINAL, TIP), version: 'partial' };
    market.head = partial;
    const { json } = await market.api.get('/api/v1/tokens');
    for (const item of json['data'] as unknown as TokenItem[]) {
      expect(item).toMatchObject({ holders: null, total_supply: null, fdv_usd: null });
      expect(item.flags).toContain('partial_history');
    }
    const detail = await market.api.get(`/api/v1/tokens/${world.tokens[0]!.address}`);
    expect(detail.json['data']).toMatchObject({ holder_distribution: null, burned_supply: null });
    for (const pool of poolsAt(partial).filter(({ pool_type }) => pool_type === 2)) {
      const shown = (await market.api.get(`/api/v1/pairs/${pool.address}`)).json['data']!;
      const wanted = plainHolding(partial, pool.address);
      const seen = pool.created_block !== null;
      expect(shown['lp_holders']).toBe(seen ? (wanted?.holders ?? 0) : null);
      expect(shown['total_supply']).toBe(seen ? formatUnits(wanted?.supply ?? 0n, 18) : null);
    }
    market.head = HEAD;
  });

  test('the overview counts the tokens burned within 24 hours', async () => {
    const { json } = await market.api.get('/api/v1/overview');
    const burn = CHAIN.burn!;
    const raw = plainBurned(HEAD, burn.token, burn.addresses);
    expect(json['data']!['token_burned_24h']).toBe(Number(formatUnits(raw, decimalsOf(world, burn.token))));
  });
});

function plainBurned(of: HeadSnapshot, token: string, addresses: readonly string[]): bigint {
  return movesOf(moves, of)
    .flatMap(({ transfers }) => transfers)
    .filter((row) => row.token === token && row.kind === 'transfer' && row.timestamp > of.timestamp - DAY)
    .filter((row) => addresses.includes(row.recipient) && !addresses.includes(row.sender))
    .reduce((sum, { amount }) => BigInt.asUintN(256, sum + amount), 0n);
}

test('burns are transfers into burn addresses from other addresses, in every state of the store', async () => {
  let burned = 0n;
  for (const [index, [, of]] of heads().entries())
    for (const [turn, addresses] of [[ZERO_ADDRESS], [ZERO_ADDRESS, DEAD], [DEAD]].entries()) {
      // Checks all tokens at the first head, and one token at each other head, a different one for each list
      // of addresses.
      const all = world.tokens.map(({ address }) => address);
      for (const token of index === 0 ? all : [all[(index + turn) % all.length]!]) {
        const wanted = plainBurned(of, token, addresses);
        expect(await sumBurned(market.runner, CHAIN_ID, of, { token, addresses }, DAY)).toBe(wanted);
        burned += wanted;
      }
    }
  expect(burned > 0n).toBe(true);
});

test('the tables of tokens and holders that serve one request belong to the same head', async () => {
  const holders = createHolderTables(market.runner, pairs);
  const tokens = createTokenTables(market.runner, CHAIN_ID, pairs, holders);
  const { byAddress } = await tokens.at(HEAD);
  for (const [address, { item }] of byAddress) {
    const wanted = plainHolding(HEAD, address);
    expect(item.holders).toBe(wanted === null || wanted.supply === null ? null : wanted.holders);
  }
});
