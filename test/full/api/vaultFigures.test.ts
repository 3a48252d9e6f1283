/** Compares figures of pools in a vault over time (current fee, mean balances) with the simulated vault's
 * state. */
import type { ChainLog } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { hashRanges } from '../../../src/ingest/repair/rangeHash';
import type { IngestSession } from '../../../src/ingest/session/session';
import { ALL_ACTIVITY, listEventsBetween } from '../../../src/query/activity/activity';
import type { AuditDirectory } from '../../../src/query/audit/auditDirectory';
import { createAuditTables } from '../../../src/query/audit/auditTables';
import { readAuditInputs, type AuditDeps } from '../../../src/query/audit/auditInputs';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { readHead } from '../../../src/query/head/headState';
import { perVersion } from '../../../src/query/head/perVersion';
import { createPairTables, type PairTable, type PairTables } from '../../../src/query/pairs/pairTable';
import { readPairWindows } from '../../../src/query/pairs/pairWindows';
import { weightsOfPool } from '../../../src/query/pairs/pools';
import { derivePrice, toAudit } from '../../../src/query/audit/tokenAudit';
import { aprPercent, tvlOfWeighted, wholeUnits } from '../../../src/query/pairs/poolValue';
import { createTokenPrices } from '../../../src/query/prices/tokenPrices';
import { isDecoded } from '../../../src/wire/activity';
import { storeChain } from '../../simulation/harness';
import { askRows } from '../../support/engine/askRows';
import { parsePlain } from '../../support/oracle/plainEvents';
import { SIM_CHAIN_ID, simToken, SimChain } from '../../simulation/chain/simChain';
import { SIM_DESCRIPTION } from '../../simulation/chain/simDescription';
import { VAULT, type SimVaultPool } from '../../simulation/chain/simVault';
import { isScaled } from '../../simulation/chain/simStable';
import { headerOf } from '../../simulation/chain/simNode';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

const SEED = 25;
const BLOCKS = 220;

let store: TestStore;
let chain: SimChain;
let session: IngestSession;

beforeAll(async () => {
  store = await openTestStore();
  chain = new SimChain(SEED);
  chain.mine(BLOCKS);
  session = await storeChain(chain, store.db);
});

afterAll(async () => {
  await session?.close();
  await store?.close();
});

/** Ingests all blocks up to the chain's head. */
async function catchUp(): Promise<HeadSnapshot> {
  await session.advanceTo(headerOf(chain.head));
  return (await readHead(store.runner, SIM_CHAIN_ID))!;
}

const memory = { pairs: null as PairTables | null };

function readTable(head: HeadSnapshot): Promise<PairTable> {
  const prices = createTokenPrices(store.runner, SIM_CHAIN_ID, SIM_DESCRIPTION);
  memory.pairs ??= createPairTables(store.runner, SIM_CHAIN_ID, prices, SIM_DESCRIPTION.dexes);
  return memory.pairs.at(head);
}

function listedAt(number: number): readonly SimVaultPool[] {
  const pools = chain.vaultPoolsAt(chain.at(number)!.hash)!;
  return pools.filter(({ nature }) => nature !== 'other');
}

/** From 1e18 = 100 % to basis points. One basis point is 100 pips. */
const bpsOf = ({ fee }: SimVaultPool): number => Math.round(Number(fee) / 1e12) / 100;

test('a pair of a vault shows its current fee as the chain grows and after a reorg', async () => {
  const shown = new Map<Hex, Set<number>>();
  for (let round = 0; round < 9; round += 1) {
    const head = await catchUp();
    const { byAddress } = await readTable(head);
    for (const pool of listedAt(head.number)) {
      const bps = byAddress.get(pool.address)!.item.fee_bps;
      expect([head.number, pool.address, bps]).toEqual([head.number, pool.address, bpsOf(pool)]);
      shown.set(pool.address, (shown.get(pool.address) ?? new Set()).add(bps!));
    }
    if (round % 3 === 2) chain.reorg(10, 12);
    else chain.mine(8);
  }
  expect([...shown.values()].filter(({ size }) => size > 1).length).toBeGreaterThan(2);
});

function auditDeps(pairs: PairTable): AuditDeps {
  const directory: AuditDirectory = {
    findPair: () => undefined,
    listFees: () => [],
    findToken: (address) => pairs.tokens.get(address),
    priceNow: (token) => pairs.prices.now(token),
  };
  return { runner: store.runner, chainId: SIM_CHAIN_ID, sources: SIM_DESCRIPTION, directory, table: null };
}

test('an audit shows the fee that was valid at its block', async () => {
  const head = await catchUp();
  const pairs = await readTable(head);
  const deps = auditDeps(pairs);
  let changed = 0;
  for (let [block, turn] = [100, 0]; block <= head.number; block += 40, turn += 1) {
    const pools = new Map(listedAt(block).map((pool) => [pool.address as string, pool]));
    // To save time, audits half of the tokens at each block, and the other half at the next block.
    const half = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11].filter((index) => (index + turn) % 2 === 0);
    for (const token of half.map(simToken)) {
      const question = { token, block, candidates: [], neighbours: [] };
      const audit = toAudit(token, SIM_CHAIN_ID, null, await readAuditInputs(deps, head, question));
      for (const { address, fee_bps: bps } of audit.hops.flatMap((hop) => hop.pools)) {
        const pool = pools.get(address);
        if (pool === undefined) continue;
        expect([block, address, bps]).toEqual([block, address, Math.round(bpsOf(pool))]);
        if (bps !== Math.round(pairs.byAddress.get(address)!.item.fee_bps!)) changed += 1;
      }
    }
  }
  expect(changed).toBeGreaterThan(0);
});

test('an audit warns about each pool that backs no price, whether read from memory or from the store', async () => {
  const head = await catchUp();
  const pairs = await readTable(head);
  const table = await createAuditTables(
    store.runner,
    SIM_CHAIN_ID,
    perVersion({ read: () => Promise.resolve(pairs) }),
  ).at(head);
  const seen = new Set<string>();
  for (const token of Array.from({ length: 12 }, (_, index) => simToken(index))) {
    const doubted = listedAt(head.number).filter(
      ({ address, tokens }) => tokens.includes(token) && pairs.byAddress.get(address)!.item.flags.length > 0,
    );
    const candidates = doubted.map(({ address }) => address);
    const question = { token, block: head.number, candidates, neighbours: [] };
    for (const memory of [null, table]) {
      const inputs = await readAuditInputs({ ...auditDeps(pairs), table: memory }, head, question);
      const audit = toAudit(token, SIM_CHAIN_ID, null, inputs);
      for (const { address } of doubted) {
        const { flags } = pairs.byAddress.get(address)!.item;
        const ofPool = audit.warnings.filter(({ message }) => message.startsWith(`Pool ${address} `));
        expect(ofPool.map(({ code }) => code)).toEqual(flags);
        const entries = audit.excluded_pools.filter((pool) => pool.address === address);
        expect(new Set(entries.map(({ reason }) => reason))).toEqual(new Set(['no_price']));
        for (const flag of flags) seen.add(flag);
      }
    }
  }
  expect([...seen].sort()).toEqual(['managed_balance', 'price_not_followed', 'weights_in_doubt']);
});

test('tokens without a price have the same reason in the tables as in audits from memory and from the store', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 15; round += 1) {
    chain.mine(14);
    const head = await catchUp();
    const pairs = await readTable(head);
    const table = await createAuditTables(
      store.runner,
      SIM_CHAIN_ID,
      perVersion({ read: () => Promise.resolve(pairs) }),
    ).at(head);
    for (const [address, entries] of pairs.tokenPairs.byToken) {
      const token = pairs.tokens.get(address) ?? { address, symbol: null, name: null, decimals: null };
      const reason = pairs.tokenPairs.reasonOf(token);
      if (reason === null) continue;
      const candidates = entries.map(({ pool }) => pool.address as Hex);
      const neighbours = entries.flatMap(({ tokens }) => tokens.all.map((one) => one.address as Hex));
      const question = { token: address as Hex, block: head.number, candidates, neighbours };
      for (const memory of [null, table]) {
        const inputs = await readAuditInputs({ ...auditDeps(pairs), table: memory }, head, question);
        const audit = toAudit(address as Hex, SIM_CHAIN_ID, null, inputs);
        expect([head.number, audit.price_usd, audit.price_reason]).toEqual([head.number, null, reason]);
      }
      seen.add(reason.code);
    }
  }
  expect([...seen].sort()).toEqual(['low_liquidity', 'no_route', 'price_not_followed']);
});

/**
 * Whether the log changes balances of the pool: the vault's events Swap, PoolBalanceChanged and
 * PoolBalanceManaged have more than two topics and more than one data word.
 */
function isMove({ address, topics, data }: ChainLog, poolId: Hex): boolean {
  return address === VAULT && topics[1] === poolId && topics.length > 2 && data.length > 66;
}

/**
 * Time-weighted mean balances of the pool later than `since`, up to `now`. The balances of a block last until
 * the next block.
 */
function plainMeans(address: Hex, now: number, since: number): number[] | null {
  const held = chain.canonical().flatMap(({ hash, timestamp, logs }) => {
    const pool = chain.vaultPoolsAt(hash)!.find((one) => one.address === address);
    if (pool === undefined || timestamp > now) return [];
    // The registration of a stable pool is its first state, because it has terms.
    const moves = isScaled(pool) || logs.some((log) => isMove(log, pool.poolId));
    return [{ timestamp, balances: pool.balances, moves }];
  });
  // The mean starts at the first state of the pool, or else at the first log that changes its balances.
  const first = held.findIndex(({ moves }) => moves);
  const moments = held.slice(first);
  let total = 0;
  let sums: number[] = [];
  moments.forEach(({ timestamp, balances }, i) => {
    const lasted = (moments[i + 1]?.timestamp ?? now) - Math.max(timestamp, since);
    if (first < 0 || lasted <= 0) return;
    total += lasted;
    sums = balances.map((balance, at) => (sums[at] ?? 0) + Number(balance) * lasted);
  });
  return total === 0 ? null : sums.map((sum) => sum / total);
}

test('the yield of a pool with over two tokens uses the mean of its balances over time', async () => {
  const head = await catchUp();
  let [moved, stood] = [0, 0];
  // One window starts before the chain's first block, the other within the chain.
  for (const later of [0, 75_000, 82_000, 590_000]) {
    const now = { ...head, version: `${head.version} ${later}`, timestamp: head.timestamp + later };
    const { byAddress } = await readTable(now);
    for (const { address } of listedAt(head.number).filter(({ tokens }) => tokens.length > 2)) {
      const entry = byAddress.get(address)!;
      const windows = await readPairWindows(store.runner, SIM_CHAIN_ID, now, entry.pool);
      for (const [found, seconds] of [
        [entry.facts.meanBalances, 86_400],
        [windows.meanBalancesWeek, 604_800],
      ] as const) {
        const expected = plainMeans(address, now.timestamp, now.timestamp - seconds);
        if (found === null) {
          stood += 1;
          continue;
        }
        const near = (mean: number, i: number): boolean => Math.abs(mean - expected![i]!) <= 1e-9 * mean;
        expect([address, seconds, found.every(near)]).toEqual([address, seconds, true]);
        moved += 1;
      }
      const means = entry.facts.meanBalances;
      if (means === null) continue;
      const sides = entry.holdings.map(({ price }, i) => ({
        amount: wholeUnits(means[i]!, entry.tokens.all[i]!.decimals ?? 0),
        price,
      }));
      const { doubts, feePips } = entry.facts;
      const tvl = tvlOfWeighted(sides, weightsOfPool(entry.pool), doubts);
      expect(entry.apr24h).toBe(aprPercent(entry.fees24hUsd, 86_400, tvl, feePips));
    }
  }
  expect(moved).toBeGreaterThan(20);
  expect(stood).toBeGreaterThan(0);
});

test('the value of a mint or burn includes all tokens of the pool with a trusted price', async () => {
  const head = await catchUp();
  const pairs = await readTable(head);
  const many = new Map(
    listedAt(head.number).flatMap((pool) => (pool.tokens.length > 2 ? [[pool.address as string, pool]] : [])),
  );
  const filter = { ...ALL_ACTIVITY, kinds: ['mint', 'burn'] as const };
  const events = await listEventsBetween(store.runner, head, filter, 0, 2 ** 52, 5_000);
  const items = events.flatMap(({ item }) => (isDecoded(item) && many.has(item.pair_address) ? [item] : []));
  let beyond = 0;
  for (const item of items.slice(-80)) {
    const { block_number: block, log_index: at, pair_address: pair } = item;
    const { name, args } = parsePlain(chain.at(block)!.logs.find(({ logIndex }) => logIndex === at)!)!;
    // A swap of the pool's own share names two tokens, and only the other one has a value.
    const [tokens, deltas] =
      name === 'Swap'
        ? [args.slice(1, 3) as Hex[], args.slice(3, 5) as bigint[]]
        : [args[2] as Hex[], args[3] as bigint[]];
    const values = new Map<string, number>();
    let isCapped = false;
    for (const [i, checksummed] of tokens.entries()) {
      const token = checksummed.toLowerCase() as Hex;
      if (token === pair) continue;
      const question = { token, block, candidates: [], neighbours: [] };
      const { usd, confidence, capUsd } = derivePrice(
        await readAuditInputs(auditDeps(pairs), head, question),
      );
      const amount = wholeUnits(Math.abs(Number(deltas[i])), pairs.tokens.get(token)?.decimals ?? 0);
      if (usd === null || confidence < 0.5) continue;
      isCapped ||= amount * usd > capUsd;
      if (amount * usd < 1e20) values.set(token, amount * usd);
    }
    const expected = [...values.values()].reduce((sum, value) => sum + value, 0);
    const found = item.amount_usd ?? 0;
    // Skips events whose value a cap limits, because other tests check capped values.
    if (isCapped) continue;
    expect(item.amount_usd === null).toBe(values.size === 0);
    expect([block, at, Math.abs(found - expected) <= 1e-6 + 1e-9 * expected]).toEqual([block, at, true]);
    const [token0, token1] = [item.token0, item.token1].map(({ address }) => values.get(address) ?? 0);
    if (expected > 1.01 * (token0! + token1!)) beyond += 1;
  }
  expect(beyond).toBeGreaterThan(2);
});

test('a liquidity event without other tokens has the same range hash as before the column others_usd', async () => {
  await catchUp();
  const hashOf = async (columns: string, which: string): Promise<bigint> => {
    const [row] = await askRows<{ sum: string; rows: string }>(
      store.db,
      `SELECT toString(sum(reinterpretAsUInt128(sipHash128(tuple(${columns}))))) AS sum, toString(count()) AS rows
       FROM liquidity_events WHERE ${which}`,
    );
    expect(Number(row!.rows)).toBeGreaterThan(2);
    return BigInt(row!.sum);
  };
  const before = await hashOf('* EXCEPT others_usd', 'others_usd IS NULL');
  const since = await hashOf('*', 'others_usd IS NOT NULL');
  for await (const { sums } of hashRanges(store.db, SIM_CHAIN_ID, [0]))
    expect(sums.get('liquidity_events')).toBe((before + since) % 2n ** 128n);
});
