/** Compares figures, order and search results of pairs with a plain recomputation, in every state of the
 * store. */
import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { PoolRow, PoolStateRow, SwapRow } from '../../../../src/clickhouse/schema/tables';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { toPairDetail } from '../../../../src/query/pairs/pairDetail';
import { listPairs, PAIR_SORTS } from '../../../../src/query/pairs/pairList';
import { ORDERS } from '../../../../src/query/pairs/rankings';
import { toOrd } from '../../../../src/domain/ord';
import { createPairTables, type PairTable } from '../../../../src/query/pairs/pairTable';
import { readPairWindows } from '../../../../src/query/pairs/pairWindows';
import { createTokenPrices } from '../../../../src/query/prices/tokenPrices';
import {
  pairDetailShape,
  WINDOW_SECONDS,
  type PairDetail,
  type TradeCounts,
} from '../../../../src/wire/pairs';
import { CHAIN } from '../../../support/server/apiServer';
import {
  decimalsOf,
  expectChange,
  expectClose,
  likeWithLike,
  plainApr,
  priceNow,
  statesOf,
  sumUsd,
  swapsIn,
  trusted,
  tvlNow,
  upTo,
} from './plainMarket';
import { CHAIN_ID, FIRST_BLOCK, snapshotOf } from '../../../support/worlds/world';
import { plainPrice } from '../../../support/worlds/worldPrices';
import {
  listSnapshots,
  makeMarketWorld,
  MARKET_PLAN,
  storeMarket,
} from '../../../support/server/marketServer';
import type { TestStore } from '../../../support/engine/testStore';

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL } = marketWorld;
const heads = [
  ...listSnapshots(marketWorld),
  ...[60, 140].map((back) => snapshotOf(world, FINAL - back, FINAL - back)),
];
let store: TestStore;
beforeAll(async () => {
  store = await storeMarket(marketWorld);
});

afterAll(() => store?.close());

function readTable(head: HeadSnapshot): Promise<PairTable> {
  const prices = createTokenPrices(store.runner, CHAIN_ID, CHAIN);
  return createPairTables(store.runner, CHAIN_ID, prices, CHAIN.dexes).at(head);
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

/** The price in a state, quote tokens per base token, as a float; null without a price. */
function priceOf(pool: PoolRow, state: PoolStateRow | undefined, baseIsToken0: boolean): number | null {
  if (state === undefined || state.price === 0) return null;
  // A price needs the decimals of both tokens.
  const found = world.tokens.filter(({ address }) => address === pool.token0 || address === pool.token1);
  if (found.some(({ decimals }) => decimals === null)) return null;
  const scaled = state.price * 10 ** (decimalsOf(world, pool.token0) - decimalsOf(world, pool.token1));
  return baseIsToken0 ? scaled : 1 / scaled;
}

const times = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a * b;

const CHANGES = {
  m5: 'price_change_5m',
  h1: 'price_change_1h',
  h6: 'price_change_6h',
  h24: 'price_change_24h',
} as const;

function checkDetail(detail: PairDetail, pool: PoolRow, head: HeadSnapshot): void {
  pairDetailShape.parse(detail);
  const own = (rows: readonly SwapRow[]): SwapRow[] => rows.filter(({ pair }) => pair === pool.address);
  const states = statesOf(world, head, pool);
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
    last_trade_at: own(swapsIn(world, head, 0)).at(-1)?.timestamp ?? null,
    reserve0_raw: heldOf(pool, now?.reserve0)?.toString() ?? null,
    reserve1_raw: heldOf(pool, now?.reserve1)?.toString() ?? null,
  });
  expect('tick_spacing' in detail).toBe(pool.pool_type === 3);
  for (const window of ['m5', 'h1', 'h6', 'h24'] as const) {
    const inside = own(swapsIn(world, head, head.timestamp - WINDOW_SECONDS[window]));
    expect(detail.transactions[window]).toEqual(expectCounts(inside));
    expectClose(detail.volume[window], sumUsd(inside, 'amount_usd'), 1e-12);
  }
  const day = detail.transactions.h24;
  expect([detail.buys_24h, detail.sells_24h, detail.buyers_24h, detail.sellers_24h, detail.tx_24h]).toEqual([
    day.buys,
    day.sells,
    day.buyers,
    day.sellers,
    day.buys + day.sells,
  ]);
  checkPrices(detail, pool, head);
  checkSums(detail, pool, head);
  checkValues(detail, pool, head);
}

/** The cases that occurred in the random data. Every case must occur, otherwise the test proves little. */
const met = new Set<string>();

function checkPrices(detail: PairDetail, pool: PoolRow, head: HeadSnapshot): void {
  const states = statesOf(world, head, pool);
  const quote = pool.base_is_token0 ? pool.token1 : pool.token0;
  const price = priceOf(pool, states.at(-1), pool.base_is_token0);
  expectClose(detail.price, price, 1e-12);
  expect(pool.base_is_token0 ? detail.token0_price : detail.token1_price).toBe(detail.price);
  const worth = priceNow(world, head, quote);
  const { usd } = worth;
  const nativeUsd = priceNow(world, head, CHAIN.wrappedNative!).usd;
  const native = quote === CHAIN.wrappedNative ? 1 : nativeUsd === null ? null : times(usd, 1 / nativeUsd);
  met.add(`price ${usd === null ? 'unknown' : 'known'} in usd`);
  expectClose(detail.price_usd, times(price, usd));
  expectClose(detail.price_native, times(price, native));
  for (const window of ['m5', 'h1', 'h6', 'h24'] as const) {
    const since = head.timestamp - WINDOW_SECONDS[window];
    const before = states.filter(({ timestamp }) => timestamp <= since).at(-1);
    const then = priceOf(pool, before, pool.base_is_token0);
    const worthThen = plainPrice(world.blocks, head.number, quote, since);
    const usdThen = worthThen.usd;
    const sure = likeWithLike(worth, worthThen) === usdThen;
    if (usd !== null && usdThen !== null) met.add(sure ? 'as sure' : 'less sure');
    met.add(`change by ${usd === null || usdThen === null ? 'quote' : 'usd'} ${window}`);
    if (usd === null || usdThen === null) expectChange(detail[CHANGES[window]], price, then);
    else expectChange(detail[CHANGES[window]], times(price, usd), sure ? times(then, usdThen) : null);
  }
}

function checkSums(detail: PairDetail, pool: PoolRow, head: HeadSnapshot): void {
  const swapsOf = (seconds: number): SwapRow[] =>
    swapsIn(world, head, head.timestamp - seconds).filter(({ pair }) => pair === pool.address);
  const [day, week, month] = [swapsOf(86_400), swapsOf(604_800), swapsOf(2_592_000)];
  const fees = sumUsd(day, 'fee_usd');
  const share = CHAIN.dexes.find(({ name }) => name === pool.dex)?.protocolFeeShare ?? 0;
  expectClose(detail.volume_24h_usd, sumUsd(day, 'amount_usd'));
  expectClose(detail.volume.d7, sumUsd(week, 'amount_usd'));
  expectClose(detail.volume.d30, sumUsd(month, 'amount_usd'));
  expectClose(detail.untracked_volume_24h_usd, sumUsd(day, 'untracked_usd'));
  expectClose(detail.fees_24h_usd, fees);
  expectClose(detail.fees.h24, fees);
  expectClose(detail.fees.d7, sumUsd(week, 'fee_usd'));
  expectClose(detail.protocol_fees_24h_usd, fees * share);
  expectClose(detail.lp_fees_24h_usd, fees - fees * share);
  met.add(`apr ${detail.apr_24h === null ? 'unknown' : detail.apr_24h > 0 ? 'some' : 'zero'}`);
  expectClose(detail.apr_24h, plainApr(world, head, pool, 86_400, fees - fees * share));
  const weekFees = sumUsd(week, 'fee_usd') * (1 - share);
  expectClose(detail.apr_7d, plainApr(world, head, pool, 604_800, weekFees));
}

/** A pool without a state is empty if its creation is known. The reserves of an older pool are unknown. */
function heldOf({ created_block: created }: PoolRow, reserve: bigint | undefined): bigint | undefined {
  return reserve ?? (created === null ? undefined : 0n);
}

function checkValues(detail: PairDetail, pool: PoolRow, head: HeadSnapshot): void {
  const now = statesOf(world, head, pool).at(-1);
  const value = (raw: bigint | undefined, token: string): number | null =>
    raw === undefined
      ? null
      : times(Number(raw) / 10 ** decimalsOf(world, token), priceNow(world, head, token).usd);
  expectClose(detail.reserve0_usd, value(heldOf(pool, now?.reserve0), pool.token0));
  expectClose(detail.reserve1_usd, value(heldOf(pool, now?.reserve1), pool.token1));
  if (now === undefined) met.add(`${pool.created_block === null ? 'unknown' : 'empty'} pool`);
  const sides = [pool.token0, pool.token1].filter((token) => trusted(priceNow(world, head, token)));
  met.add(`${sides.length} trusted sides of type ${pool.pool_type}`);
  expectClose(detail.liquidity_usd, tvlNow(world, head, pool));
  const [base, quote] = pool.base_is_token0 ? [pool.token0, pool.token1] : [pool.token1, pool.token0];
  const usd = priceNow(world, head, quote).usd;
  const price = priceOf(pool, now, pool.base_is_token0);
  const { up, down } = detail.depth_2pct_usd;
  if (now === undefined || usd === null || price === null) {
    expect([up, down]).toEqual([null, null]);
    return;
  }
  // Amounts are in whole tokens. The product computes depth from the liquidity L. This test moves the reserves along
  // x·y = k, which must give the same depth; in a V3 pool, k is L².
  const [d0, d1] = [decimalsOf(world, pool.token0), decimalsOf(world, pool.token1)];
  const x = Number(pool.base_is_token0 ? now.reserve0 : now.reserve1) / 10 ** decimalsOf(world, base);
  const y = Number(pool.base_is_token0 ? now.reserve1 : now.reserve0) / 10 ** decimalsOf(world, quote);
  const k =
    pool.pool_type === 3 ? (Number(now.liquidity) / 10 ** d0) * (Number(now.liquidity) / 10 ** d1) : x * y;
  const quoteAt = (at: number): number => Math.sqrt(k * at);
  const baseAt = (at: number): number => Math.sqrt(k / at);
  expectClose(up, Math.min(quoteAt(price * 1.02) - quoteAt(price), x * price) * usd, 1e-6);
  expectClose(down, Math.min((baseAt(price * 0.98) - baseAt(price)) * price, y) * usd, 1e-6);
}

describe('the table of pairs equals a plain recomputation', () => {
  test('the table of pairs has the pairs of the canonical chain with recomputed figures, in every state of the store', async () => {
    for (const head of heads) {
      const table = await readTable(head);
      const pools = upTo(world, head, (block) => block.pools);
      expect(table.entries.map(({ item }) => item.address)).toEqual(
        pools.map(({ address }) => address).sort(),
      );
      for (const [index, pool] of pools.entries()) {
        // Every other pool is read as one of many daily swaps, whose figures ClickHouse computes.
        const read = { address: pool.address, all_tokens: [] };
        const windows = await readPairWindows(store.runner, CHAIN_ID, head, read, (index % 2) * 1_000_000);
        checkDetail(
          toPairDetail(table.byAddress.get(pool.address)!, windows, { holding: null, partial: true }),
          pool,
          head,
        );
      }
    }
    const windows = ['m5', 'h1', 'h6', 'h24'];
    const wanted = [
      ...['as sure', 'less sure'],
      ...['quote', 'usd'].flatMap((by) => windows.map((window) => `change by ${by} ${window}`)),
      ...['known', 'unknown'].map((word) => `price ${word} in usd`),
      ...[2, 3].flatMap((type) => [0, 1, 2].map((sides) => `${sides} trusted sides of type ${type}`)),
      ...['unknown', 'some', 'zero'].map((word) => `apr ${word}`),
    ];
    expect(wanted.filter((word) => !met.has(word))).toEqual([]);
  });

  test('simultaneous requests at the same head read the table of pairs once', async () => {
    let runs = 0;
    const counting: QueryRunner = {
      ...store.runner,
      run: (name, params, shape) => {
        if (name === 'pairs/count_trades') runs += 1;
        return store.runner.run(name, params, shape);
      },
    };
    const tables = createPairTables(
      counting,
      CHAIN_ID,
      createTokenPrices(counting, CHAIN_ID, CHAIN),
      CHAIN.dexes,
    );
    const [a, b] = await Promise.all([tables.at(heads[0]!), tables.at(heads[0]!)]);
    expect(a).toBe(b);
    await tables.at(heads[1]!);
    await tables.at(heads[0]!);
    expect(runs).toBe(2);
  });

  test('a sorted list of pairs has nulls last and ties by address, in both orders', async () => {
    const { entries } = await readTable(heads[0]!);
    for (const sort of PAIR_SORTS) {
      for (const order of ORDERS) {
        const items = listPairs(entries, { searchText: null, dex: null, token: null }, sort, order).map(
          ({ item }) => item,
        );
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

  test('a search finds pairs by address, token, symbol and name, and treats wildcards as plain characters', async () => {
    const { entries } = await readTable(heads[0]!);
    const found = (searchText: string): number =>
      listPairs(entries, { searchText, dex: null, token: null }, 'volume_24h_usd', 'desc').length;
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

  test('the table of pairs is the same when built from cached pools, which are read again only if their rows changed', async () => {
    let bases = 0;
    const counting: QueryRunner = {
      ...store.runner,
      run: (name, params, shape) => {
        if (name === 'pairs/list_pools' && params['since_ord'] === undefined) bases += 1;
        return store.runner.run(name, params, shape);
      },
    };
    const prices = createTokenPrices(store.runner, CHAIN_ID, CHAIN);
    const kept = createPairTables(counting, CHAIN_ID, prices, CHAIN.dexes);
    const check = async (head: HeadSnapshot): Promise<void> => {
      const [over, fresh] = [await kept.at(head), await readTable(head)];
      const shown = ({ entries }: PairTable) =>
        entries.map(({ item, pool, facts, sides, holdings }) => ({ item, pool, facts, sides, holdings }));
      expect(shown(over)).toEqual(shown(fresh));
      for (const entry of over.entries) expect(over.byAddress.get(entry.pool.address)).toBe(entry);
    };
    const ascending = heads.toSorted((a, b) => a.finalTo - b.finalTo || a.number - b.number);
    for (const head of ascending.slice(2)) await check(head);
    expect(bases).toBe(1);
    // The cached rows are newer than the first snapshot, so it reads all pools again. The newest snapshot then
    // continues from the cached rows.
    await check(ascending[0]!);
    await check(ascending.at(-1)!);
    expect(bases).toBe(2);
    const ord = toOrd(FIRST_BLOCK + 1, 900_000);
    await store.db.command(
      'refill',
      `INSERT INTO pool_states SELECT * REPLACE (${ord} AS ord) FROM pool_states LIMIT 1`,
    );
    for (const version of ['refilled', 'later']) await check({ ...ascending.at(-1)!, version });
    expect(bases).toBe(3);
  });
});
