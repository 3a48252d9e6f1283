import { openDatabase, type Database } from '../../../src/clickhouse/database';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/namedQueries';
import type { PoolRow, PoolStateRow, SwapRow } from '../../../src/clickhouse/tables';
import { createLog } from '../../../src/log';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { toPairDetail } from '../../../src/query/pairItem';
import { listPairs, ORDERS, PAIR_SORTS } from '../../../src/query/pairList';
import { createPairTables, readPairTable } from '../../../src/query/pairTable';
import { pairDetailShape, WINDOW_SECONDS, type PairDetail, type TradeCounts } from '../../../src/wire/pairs';
import { createTestDatabase, type TestDatabase } from '../../support/engine';
import { CHAIN_ID, FIRST_BLOCK, makeWorld, snapshotOf, storeWorld, type World } from './world';

const SEED = 4_242;
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

function upTo<Row>(head: HeadSnapshot, pick: (block: World['blocks'][number]) => readonly Row[]): Row[] {
  return world.blocks.filter(({ number }) => number <= head.number).flatMap(pick);
}

function expectCounts(swaps: readonly SwapRow[]): TradeCounts {
  const isBuy = (swap: SwapRow): boolean => (swap.base_is_token0 ? swap.amount0 : swap.amount1) < 0n;
  const distinct = (side: readonly SwapRow[]): number | null => {
    const makers = new Set(side.map(({ maker }) => maker).filter((maker) => maker !== null));
    return makers.size === 0 && side.length > 0 ? null : makers.size;
  };
  const buys = swaps.filter(isBuy);
  const sells = swaps.filter((swap) => !isBuy(swap));
  return { buys: buys.length, sells: sells.length, buyers: distinct(buys), sellers: distinct(sells) };
}

/** Quote per base of a state as a plain float, or null. */
function priceOf(pool: PoolRow, state: PoolStateRow | undefined, baseIsToken0: boolean): number | null {
  if (state === undefined || state.price === 0) return null;
  const decimalsOf = (token: string): number =>
    world.tokens.find(({ address }) => address === token)!.decimals ?? 0;
  const scaled = state.price * 10 ** (decimalsOf(pool.token0) - decimalsOf(pool.token1));
  return baseIsToken0 ? scaled : 1 / scaled;
}

function expectNear(got: string | number | null, wanted: number | null, tolerance: number): void {
  if (wanted === null || got === null) expect(got).toBe(wanted);
  else
    expect(Math.abs(Number(got) - wanted)).toBeLessThanOrEqual(
      tolerance * Math.max(1e-300, Math.abs(wanted)) + 1e-9,
    );
}

function checkDetail(detail: PairDetail, pool: PoolRow, head: HeadSnapshot): void {
  pairDetailShape.parse(detail);
  const swaps = upTo(head, (block) => block.swaps).filter(({ pair }) => pair === pool.address);
  const states = upTo(head, (block) => block.states).filter(({ pair }) => pair === pool.address);
  const now = states.at(-1);
  const base = pool.base_is_token0 ? pool.token0 : pool.token1;
  expect(detail).toMatchObject({
    address: pool.address,
    dex_name: pool.dex,
    pool_type: pool.pool_type,
    fee_bps: pool.fee_pips / 100,
    base_token: { address: base },
    tokens: [{ address: pool.token0 }, { address: pool.token1 }],
    created_block: pool.created_block,
    created_at: pool.created_at,
    created_tx: pool.created_tx,
    factory: pool.factory,
    last_trade_at: swaps.at(-1)?.timestamp ?? null,
    reserve0_raw: now === undefined ? null : now.reserve0.toString(),
    reserve1_raw: now === undefined ? null : now.reserve1.toString(),
    price_usd: null,
    liquidity_usd: null,
  });
  expect('tick_spacing' in detail).toBe(pool.pool_type === 3);
  const price = priceOf(pool, now, pool.base_is_token0);
  if (price === null) expect(detail.price).toBeNull();
  else expect(Math.abs(Number(detail.price) / price - 1)).toBeLessThan(1e-12);
  expect(pool.base_is_token0 ? detail.token0_price : detail.token1_price).toBe(detail.price);
  const changes = {
    m5: 'price_change_5m',
    h1: 'price_change_1h',
    h6: 'price_change_6h',
    h24: 'price_change_24h',
  } as const;
  for (const window of ['m5', 'h1', 'h6', 'h24'] as const) {
    const since = head.timestamp - WINDOW_SECONDS[window];
    expect(detail.transactions[window]).toEqual(
      expectCounts(swaps.filter(({ timestamp }) => timestamp > since)),
    );
    const then = priceOf(
      pool,
      states.filter(({ timestamp }) => timestamp <= since).at(-1),
      pool.base_is_token0,
    );
    const change = price === null || then === null ? null : (price / then - 1) * 100;
    expectNear(detail[changes[window]], change, 1e-9);
    const tracked = swaps.filter((swap) => swap.tracked && swap.timestamp > since);
    const volume =
      tracked.length === 0
        ? null
        : Number(tracked.reduce((sum, { amount_usd }) => sum + amount_usd, 0n)) / 1e12;
    expectNear(detail.volume[window], volume, 1e-12);
  }
  const day = detail.transactions.h24;
  expect([detail.buys_24h, detail.sells_24h, detail.buyers_24h, detail.sellers_24h, detail.tx_24h]).toEqual([
    day.buys,
    day.sells,
    day.buyers,
    day.sellers,
    day.buys + day.sells,
  ]);
}

describe('pairs', () => {
  test('are those of the canonical chain with the figures of a plain recomputation, in every state of the store', async () => {
    for (const head of heads) {
      const table = await readPairTable(runner, CHAIN_ID, head);
      const pools = upTo(head, (block) => block.pools);
      expect(table.entries.map(({ item }) => item.address)).toEqual(
        pools.map(({ address }) => address).sort(),
      );
      for (const pool of pools) checkDetail(toPairDetail(table.byAddress.get(pool.address)!), pool, head);
    }
  });

  test('are read once per head version however many ask at the same time', async () => {
    let runs = 0;
    const counting: QueryRunner = {
      run: (name, params, shape) => {
        if (name === 'pairs/list_pools') runs += 1;
        return runner.run(name, params, shape);
      },
    };
    const tables = createPairTables(counting, CHAIN_ID);
    const [a, b] = await Promise.all([tables.at(heads[0]!), tables.at(heads[0]!)]);
    expect(a).toBe(b);
    await tables.at(heads[1]!);
    await tables.at(heads[0]!);
    expect(runs).toBe(2);
  });

  test('sort with nulls last and ties by address in both orders', async () => {
    const { entries } = await readPairTable(runner, CHAIN_ID, heads[0]!);
    for (const sort of PAIR_SORTS) {
      for (const order of ORDERS) {
        const items = listPairs(entries, { q: null, dex: null, token: null }, sort, order);
        expect(items).toHaveLength(entries.length);
        for (let i = 1; i < items.length; i += 1) {
          const [a, b] = [items[i - 1]![sort], items[i]![sort]];
          if (a === null) expect(b).toBeNull();
          if (a === b) expect(items[i - 1]!.address < items[i]!.address).toBe(true);
          else if (a !== null && b !== null) expect(order === 'asc' ? a < b : a > b).toBe(true);
        }
      }
    }
  });

  test('are found by address, token, symbol and name, with wild cards as ordinary characters', async () => {
    const { entries } = await readPairTable(runner, CHAIN_ID, heads[0]!);
    const found = (q: string): number =>
      listPairs(entries, { q, dex: null, token: null }, 'volume_24h_usd', 'desc').length;
    const holding = (token: number): number =>
      entries.filter(({ pool }) =>
        [pool.token0, pool.token1].includes(`0xaa${token.toString(16).padStart(38, '0')}`),
      ).length;
    expect(found(entries[0]!.item.address.toUpperCase().replace('0X', '0x'))).toBe(1);
    expect(found(`0xaa${'0'.padStart(38, '0')}`)).toBe(holding(0));
    expect(found('wpls')).toBe(holding(0));
    expect(found('0%_')).toBe(holding(2));
    expect(found('"\\')).toBe(holding(4));
    expect(found('TOKEN NUMBER 5')).toBe(holding(5));
    expect(found('%')).toBe(holding(2));
    expect(found('nothing like this')).toBe(0);
  });
});
