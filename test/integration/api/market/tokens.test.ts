/** Compares figures of tokens with a plain recomputation, in every state of the store. */
import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { PoolRow, SwapRow, TokenRow } from '../../../../src/clickhouse/schema/tables';
import { blockOfOrd } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createHolderTables } from '../../../../src/query/holders/holders';
import { createPairTables } from '../../../../src/query/pairs/pairTable';
import { toTokenDetail, type TokenEntry } from '../../../../src/query/tokens/tokenItem';
import { createTokenPrices } from '../../../../src/query/prices/tokenPrices';
import { createTokenTables, readTokenTable, type TokenTable } from '../../../../src/query/tokens/tokenTable';
import { readTokenWindows, type TokenWindows } from '../../../../src/query/tokens/tokenWindows';
import { WINDOW_SECONDS, type TradeCounts } from '../../../../src/wire/pairs';
import { tokenDetailShape, type TokenDetail } from '../../../../src/wire/tokens';
import { CHAIN } from '../../../support/server/apiServer';
import {
  decimalsOf,
  expectChange,
  expectClose,
  likeWithLike,
  priceNow,
  statesOf,
  sumUsd,
  swapsIn,
  trusted,
  tvlNow,
  upTo,
  usdBySwap,
} from './plainMarket';
import { CHAIN_ID, hexOf, snapshotOf } from '../../../support/worlds/world';
import { plainPrice } from '../../../support/worlds/worldPrices';
import {
  listSnapshots,
  makeMarketWorld,
  MARKET_PLAN,
  shareMarket,
} from '../../../support/server/marketServer';
import type { TestStore } from '../../../support/engine/testStore';

const WPLS = hexOf('aa', 0, 40);
const ANCHOR = hexOf('aa', 1, 40);

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL } = marketWorld;
// The additional snapshots follow a price change, so that even the shortest window contains one.
const heads = [...listSnapshots(marketWorld), ...justChanged()];
let store: TestStore;
beforeAll(async () => {
  store = await shareMarket(marketWorld);
});

afterAll(() => store?.close());

/** Snapshots of final blocks that follow another block within five minutes and change prices. */
function justChanged(): HeadSnapshot[] {
  return world.blocks
    .filter(({ number, timestamp, prices }, index) => {
      const before = world.blocks[index - 1];
      return (
        number < FINAL && prices.length > 1 && before !== undefined && timestamp - before.timestamp < 300
      );
    })
    .slice(-4)
    .map(({ number }) => snapshotOf(world, number, number));
}

async function readTable(head: HeadSnapshot): Promise<TokenTable> {
  const prices = createTokenPrices(store.runner, CHAIN_ID, CHAIN);
  const pairs = await createPairTables(store.runner, CHAIN_ID, prices, CHAIN.dexes).at(head);
  return readTokenTable(store.runner, CHAIN_ID, head, pairs, { holdingOf: () => null });
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

function expectFlags(token: TokenRow, times: readonly (number | null)[], head: HeadSnapshot): string[] {
  const bare = token.symbol === null && token.name === null && token.decimals === null;
  const fresh = times.every((time) => time !== null && time > head.timestamp - 86_400);
  // The history starts after the chain's first block, and no node was asked for supplies.
  return [...(bare ? ['no_metadata'] : []), ...(fresh ? ['new'] : []), 'partial_history', 'supply_unknown'];
}

const CHANGES = {
  m5: 'price_change_5m',
  h1: 'price_change_1h',
  h6: 'price_change_6h',
  h24: 'price_change_24h',
} as const;

function checkDetail(
  detail: TokenDetail,
  token: TokenRow,
  pools: readonly PoolRow[],
  head: HeadSnapshot,
): void {
  tokenDetailShape.parse(detail);
  const own = (seconds: number): SwapRow[] =>
    swapsIn(world, head, head.timestamp - seconds).filter((swap) => holds(swap, token.address));
  const day = own(86_400);
  expect(detail).toMatchObject({
    address: token.address,
    symbol: token.symbol,
    name: token.name,
    decimals: token.decimals,
    pool_count: pools.length,
    traders_24h: makersOf(day),
    // The stored blocks begin after the chain's first block. A token may have had an earlier pool, so its creation time
    // is unknown.
    created_at: null,
    last_trade_at: own(Infinity).at(-1)?.timestamp ?? null,
    first_seen_block: Math.min(...pools.map(({ ord }) => blockOfOrd(ord))),
    fdv_usd: null,
    market_cap_usd: null,
    holders: null,
    total_supply: null,
    links: { explorer: null },
    flags: expectFlags(token, [null], head),
  });
  for (const window of ['m5', 'h1', 'h6', 'h24'] as const) {
    const inside = own(WINDOW_SECONDS[window]);
    expect(detail.transactions[window]).toEqual(expectCounts(token.address, inside));
    expectClose(detail.volume[window], sumUsd(inside, 'amount_usd'), 1e-12);
  }
  expectClose(detail.volume.d7, sumUsd(own(604_800), 'amount_usd'), 1e-12);
  const { buys, sells } = detail.transactions.h24;
  expect([detail.buys_24h, detail.sells_24h, detail.tx_24h]).toEqual([buys, sells, day.length]);
  expect(detail.volume_24h_usd).toBe(detail.volume.h24);
  checkPrices(detail, token.address, head);
  checkHighs(detail, token.address, head);
  checkLiquidity(detail, token.address, pools, head);
}

/** The cases that occurred in the random data. Every case must occur, otherwise the test proves little. */
const met = new Set<string>();

function checkPrices(detail: TokenDetail, token: string, head: HeadSnapshot): void {
  const price = priceNow(world, head, token);
  const nativeUsd = priceNow(world, head, WPLS).usd;
  expectClose(detail.price_usd, price.usd, 1e-15);
  if (token === WPLS) expect(detail.price_native).toBe('1');
  else
    expectClose(detail.price_native, price.usd === null || nativeUsd === null ? null : price.usd / nativeUsd);
  const { confidence } = price;
  const word = confidence >= 0.9 ? 'high' : confidence >= 0.5 ? 'medium' : confidence > 0 ? 'low' : 'none';
  met.add(word);
  expect(detail.price_confidence).toBe(word);
  const unscaled = price.usd === null && detail.decimals === null ? ['unknown_decimals'] : [];
  const warning = price.usd === null ? [...unscaled, 'no_route'] : confidence < 0.5 ? ['low_liquidity'] : [];
  expect(detail.warnings.map(({ code }) => code)).toEqual([...warning, 'partial_history', 'supply_unknown']);
  for (const window of ['m5', 'h1', 'h6', 'h24'] as const) {
    const then = plainPrice(world.blocks, head.number, token, head.timestamp - WINDOW_SECONDS[window]);
    const before = likeWithLike(price, then);
    if (before !== then.usd) met.add('less sure');
    met.add(
      `${window} ${price.usd === null ? 'unknown' : before === null ? 'new' : before === price.usd ? 'same' : 'changed'}`,
    );
    expectChange(detail[CHANGES[window]], price.usd, before);
  }
}

/**
 * USD prices of a token after its tracked swaps of a window, without prices that highs and lows do not use. Oldest
 * first.
 */
function highsOf(token: string, head: HeadSnapshot, seconds: number): { usd: number; timestamp: number }[] {
  return swapsIn(world, head, head.timestamp - seconds)
    .filter((swap) => swap.tracked && holds(swap, token))
    .map((swap) => ({ usd: usdBySwap(swap, token, 'highs'), timestamp: swap.timestamp }))
    .filter(({ usd }) => usd > 0);
}

function checkHighs(detail: TokenDetail, token: string, head: HeadSnapshot): void {
  const day = highsOf(token, head, 86_400).map(({ usd }) => usd);
  expectClose(detail.price_high_24h, day.length === 0 ? null : Math.max(...day), 1e-15);
  expectClose(detail.price_low_24h, day.length === 0 ? null : Math.min(...day), 1e-15);
  const ever = highsOf(token, head, Infinity);
  const best = ever.reduce<(typeof ever)[number] | null>(
    (top, high) => (top === null || high.usd > top.usd ? high : top),
    null,
  );
  expectClose(detail.price_ath, best?.usd ?? null, 1e-15);
  expect(detail.price_ath_at).toBe(best?.timestamp ?? null);
}

/** The sum over the pools, and the pair of an LP token: any pool but a V3 pool. */
function checkPools(entry: TokenEntry, windows: TokenWindows): void {
  const sum = entry.pairs.reduce((usd, { item }) => usd + item.liquidity_usd, 0);
  expect(toTokenDetail(entry, windows, null)).toMatchObject({ pools_liquidity_usd: sum, lp_pair: null });
  for (const own of entry.pairs) {
    const { address, name, pool_type } = own.item;
    const wanted = pool_type === 3 ? null : { address, name };
    expect(toTokenDetail(entry, windows, null, own).lp_pair).toEqual(wanted);
  }
}

function checkLiquidity(
  detail: TokenDetail,
  token: string,
  pools: readonly PoolRow[],
  head: HeadSnapshot,
): void {
  let sum = 0;
  for (const pool of pools) {
    const now = statesOf(world, head, pool).at(-1);
    if (now === undefined) continue;
    for (const [side, raw] of [
      [pool.token0, now.reserve0],
      [pool.token1, now.reserve1],
    ] as const) {
      const price = priceNow(world, head, side);
      const counts = side === token || side === ANCHOR;
      if (counts && trusted(price)) sum += (Number(raw) / 10 ** decimalsOf(world, side)) * price.usd!;
    }
  }
  expectClose(detail.liquidity_usd, sum);
  const deepest = Math.max(...pools.map((pool) => tvlNow(world, head, pool)));
  const top = pools.find(({ address }) => address === detail.top_pool_address)!;
  expectClose(tvlNow(world, head, top), deepest);
}

test('the table of tokens has the tokens of canonical pools with recomputed figures, in every state of the store', async () => {
  for (const head of heads) {
    const table = await readTable(head);
    const pools = upTo(world, head, (block) => block.pools);
    const addresses = new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]));
    expect(table.entries.map(({ item }) => item.address)).toEqual([...addresses].sort());
    for (const { item } of table.entries) {
      const token = world.tokens.find(({ address }) => address === item.address)!;
      const own = pools.filter((pool) => holds(pool, token.address));
      const windows = await readTokenWindows(store.runner, CHAIN_ID, head, item.address);
      const entry = table.byAddress.get(item.address)!;
      checkDetail(toTokenDetail(entry, windows, null), token, own, head);
      checkPools(entry, windows);
    }
  }
  const wanted = [
    ...['high', 'medium', 'low', 'none', 'less sure'],
    ...['m5', 'h1', 'h6', 'h24'].flatMap((window) =>
      ['unknown', 'same', 'changed'].map((word) => `${window} ${word}`),
    ),
  ];
  expect(wanted.filter((word) => !met.has(word))).toEqual([]);
});

test('simultaneous requests at the same head read the table of tokens once', async () => {
  let runs = 0;
  const counting: QueryRunner = {
    ...store.runner,
    run: (name, params, shape) => {
      if (name === 'tokens/count_trades') runs += 1;
      return store.runner.run(name, params, shape);
    },
  };
  const prices = createTokenPrices(counting, CHAIN_ID, CHAIN);
  const pairs = createPairTables(counting, CHAIN_ID, prices, CHAIN.dexes);
  const tables = createTokenTables(counting, CHAIN_ID, pairs, createHolderTables(counting, pairs));
  const [a, b] = await Promise.all([tables.at(heads[0]!), tables.at(heads[0]!)]);
  expect(a).toBe(b);
  await tables.at(heads[1]!);
  await tables.at(heads[0]!);
  expect(runs).toBe(2);
});
