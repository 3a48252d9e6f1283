import { openDatabase, type Database } from '../../../src/clickhouse/database';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/namedQueries';
import type { PoolRow, SwapRow, TokenRow } from '../../../src/clickhouse/tables';
import { blockOfOrd } from '../../../src/domain/ord';
import { createLog } from '../../../src/log';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { readPairTable } from '../../../src/query/pairTable';
import { toTokenDetail } from '../../../src/query/tokenItem';
import { createTokenTables, readTokenTable, type TokenTable } from '../../../src/query/tokenTable';
import { createPairTables } from '../../../src/query/pairTable';
import { WINDOW_SECONDS, type TradeCounts } from '../../../src/wire/pairs';
import { tokenDetailShape, type TokenDetail } from '../../../src/wire/tokens';
import { createTestDatabase, type TestDatabase } from '../../support/engine';
import { CHAIN } from './apiServer';
import { CHAIN_ID, FIRST_BLOCK, hexOf, makeWorld, snapshotOf, storeWorld, type World } from './world';

const SEED = 77_001;
const BLOCKS = 300;
const FINAL = FIRST_BLOCK + 230;
const STORED = FIRST_BLOCK + 250;
const TIP = FIRST_BLOCK + BLOCKS - 1;

let test_: TestDatabase;
let db: Database;
let runner: QueryRunner;
let world: World;
let heads: HeadSnapshot[];

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, createLog('silent', false));
  world = makeWorld({ seed: SEED, blocks: BLOCKS, pools: 11, spacing: 500, events: 6 });
  await storeWorld(db, world, { storedTo: STORED, headFrom: FINAL - 10, inserts: 5 });
  runner = createQueryRunner(openDatabase({ url: test_.readerUrl }), { checkRows: true });
  heads = [
    snapshotOf(world, FINAL, TIP),
    snapshotOf(world, FINAL, FINAL),
    snapshotOf(world, FINAL - 100, FINAL - 100),
    snapshotOf(world, STORED, TIP),
    snapshotOf(world, FIRST_BLOCK + 3, FIRST_BLOCK + 3),
  ];
}, 120_000);

afterAll(async () => {
  await db?.close();
  await test_?.drop();
});

async function readTable(head: HeadSnapshot): Promise<TokenTable> {
  return readTokenTable(runner, CHAIN_ID, head, CHAIN, await readPairTable(runner, CHAIN_ID, head));
}

function upTo<Row>(head: HeadSnapshot, pick: (block: World['blocks'][number]) => readonly Row[]): Row[] {
  return world.blocks.filter(({ number }) => number <= head.number).flatMap(pick);
}

const holds = (row: { token0: string; token1: string }, token: string): boolean =>
  row.token0 === token || row.token1 === token;

function makersOf(swaps: readonly SwapRow[]): number | null {
  const makers = new Set(swaps.map(({ maker }) => maker).filter((maker) => maker !== null));
  return makers.size === 0 && swaps.length > 0 ? null : makers.size;
}

function expectCounts(token: string, swaps: readonly SwapRow[]): TradeCounts {
  const isBuy = (swap: SwapRow): boolean => (swap.token0 === token ? swap.amount0 : swap.amount1) < 0n;
  const buys = swaps.filter(isBuy);
  const sells = swaps.filter((swap) => !isBuy(swap));
  return { buys: buys.length, sells: sells.length, buyers: makersOf(buys), sellers: makersOf(sells) };
}

function volumeOf(swaps: readonly SwapRow[]): number | null {
  const tracked = swaps.filter((swap) => swap.tracked);
  if (tracked.length === 0) return null;
  return Number(tracked.reduce((sum, { amount_usd }) => sum + amount_usd, 0n)) / 1e12;
}

function expectNear(got: number | null, wanted: number | null): void {
  if (wanted === null || got === null) expect(got).toBe(wanted);
  else expect(Math.abs(got - wanted)).toBeLessThanOrEqual(1e-12 * Math.abs(wanted));
}

function checkDetail(
  detail: TokenDetail,
  token: TokenRow,
  pools: readonly PoolRow[],
  head: HeadSnapshot,
): void {
  tokenDetailShape.parse(detail);
  const swaps = upTo(head, (block) => block.swaps).filter((swap) => holds(swap, token.address));
  const times = pools.map(({ created_at }) => created_at);
  const day = swaps.filter(({ timestamp }) => timestamp > head.timestamp - 86_400);
  const isAnchor = token.address === CHAIN.anchors[0]!.address;
  expect(detail).toMatchObject({
    address: token.address,
    symbol: token.symbol,
    name: token.name,
    decimals: token.decimals,
    pool_count: pools.length,
    traders_24h: makersOf(day),
    created_at: times.includes(null) ? null : Math.min(...times.map(Number)),
    last_trade_at: swaps.at(-1)?.timestamp ?? null,
    first_seen_block: Math.min(...pools.map(({ ord }) => blockOfOrd(ord))),
    price_usd: isAnchor ? '1.0025' : null,
    price_confidence: isAnchor ? 'high' : 'none',
    price_native: token.address === CHAIN.wrappedNative ? '1' : null,
    liquidity_usd: null,
    fdv_usd: null,
    market_cap_usd: null,
    holders: null,
    total_supply: null,
    links: { explorer: null },
  });
  expect(detail.warnings.map(({ code }) => code)).toEqual(isAnchor ? [] : ['no_route']);
  for (const window of ['m5', 'h1', 'h6', 'h24'] as const) {
    const inside = swaps.filter(({ timestamp }) => timestamp > head.timestamp - WINDOW_SECONDS[window]);
    expect(detail.transactions[window]).toEqual(expectCounts(token.address, inside));
    expectNear(detail.volume[window], volumeOf(inside));
  }
  const { buys, sells } = detail.transactions.h24;
  expect([detail.buys_24h, detail.sells_24h, detail.tx_24h]).toEqual([buys, sells, day.length]);
  expect(detail.volume_24h_usd).toBe(detail.volume.h24);
  const busiest = Math.max(...pools.map(({ address }) => day.filter(({ pair }) => pair === address).length));
  const top = pools.find(({ address }) => address === detail.top_pool_address)!;
  expect(day.filter(({ pair }) => pair === top.address)).toHaveLength(busiest);
}

test('tokens are those of pools of the canonical chain with the figures of a plain recomputation, in every state of the store', async () => {
  for (const head of heads) {
    const table = await readTable(head);
    const pools = upTo(head, (block) => block.pools);
    const addresses = new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]));
    expect(table.entries.map(({ item }) => item.address)).toEqual([...addresses].sort());
    for (const { item } of table.entries) {
      const token = world.tokens.find(({ address }) => address === item.address)!;
      const own = pools.filter((pool) => holds(pool, token.address));
      checkDetail(toTokenDetail(table.byAddress.get(item.address)!, null), token, own, head);
    }
  }
});

test('a token is new for a day after its first pool, and one that tells nothing about itself has no metadata', async () => {
  const { byAddress, entries } = await readTable(heads[0]!);
  expect(byAddress.get(hexOf('aa', 3, 40))!.item.flags).toEqual([]);
  const late = await readTable(heads[4]!);
  for (const { item } of [...entries, ...late.entries])
    expect(item.flags.includes('new')).toBe(
      item.created_at !== null && item.created_at > 0 && late.entries.some((entry) => entry.item === item),
    );
});

test('tokens are read once per head version however many ask at the same time', async () => {
  let runs = 0;
  const counting: QueryRunner = {
    run: (name, params, shape) => {
      if (name === 'tokens/count_trades') runs += 1;
      return runner.run(name, params, shape);
    },
  };
  const tables = createTokenTables(counting, CHAIN_ID, CHAIN, createPairTables(counting, CHAIN_ID));
  const [a, b] = await Promise.all([tables.at(heads[0]!), tables.at(heads[0]!)]);
  expect(a).toBe(b);
  await tables.at(heads[1]!);
  await tables.at(heads[0]!);
  expect(runs).toBe(2);
});
