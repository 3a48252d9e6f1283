/** Compares bars of pairs with a plain recomputation from the swaps, in every state of the store. */
import type { SwapRow } from '../../../../src/clickhouse/schema/tables';
import { TIMEFRAME_SECONDS, TIMEFRAMES, type Timeframe } from '../../../../src/domain/timeframes';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createHeadSwaps } from '../../../../src/query/bars/headSwaps';
import { Directory } from '../../../../src/query/tokens/directory';
import {
  getPairSeries,
  type PairSeriesRequest,
  type PairSeriesSource,
} from '../../../../src/query/bars/pairSeries';
import { ticksAnswerShape, type Bar } from '../../../../src/wire/ticks';
import { askRows } from '../../../support/engine/askRows';
import { CHAIN } from '../../../support/server/apiServer';
import { snapshotOf } from '../../../support/worlds/world';
import { makeMarketWorld, MARKET_PLAN, shareMarket } from '../../../support/server/marketServer';
import type { TestStore } from '../../../support/engine/testStore';
import { fillPlainly } from './tokenTicksWorld';

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, storedTo: STORED, tip: TIP } = marketWorld;
const snapshots: Record<string, HeadSnapshot> = {
  'a head half promoted': snapshotOf(world, FINAL, TIP),
  'a cursor behind what is stored, as in a backfill': snapshotOf(world, FINAL, FINAL),
  'a cursor in the middle of what is stored': snapshotOf(world, FINAL - 90, FINAL - 90),
  'a head without promotions': snapshotOf(world, STORED, TIP),
  'everything final': snapshotOf(world, STORED, STORED),
};
/** The views build the bars of all timeframes alike, so the shortest and a long one prove the others. */
const COMPARED: readonly Timeframe[] = ['1m', '4h'];

let store: TestStore;
let shared: PairSeriesSource;
beforeAll(async () => {
  store = await shareMarket(marketWorld);
  shared = source();
});

afterAll(() => store?.close());

/** All canonical swaps of the pair, by the bar that they fall into. The newest bar may contain stored swaps
 * beyond the snapshot. */
function expectBars(head: HeadSnapshot, request: PairSeriesRequest): { bars: Bar[]; nextTo: number | null } {
  const seconds = TIMEFRAME_SECONDS[request.timeframe];
  const pool = world.blocks.flatMap((block) => block.pools).find(({ address }) => address === request.pair)!;
  const decimalsOf = (token: string): number | null =>
    world.tokens.find(({ address }) => address === token)!.decimals;
  const d0 = decimalsOf(pool.token0);
  const d1 = decimalsOf(pool.token1);
  if (d0 === null || d1 === null) return { bars: [], nextTo: null };
  const baseIs0 = request.invert ? !pool.base_is_token0 : pool.base_is_token0;
  const priceOf = (swap: SwapRow): number | null => {
    if (request.currency === 'usd') return swap.price_usd > 0 ? swap.price_usd : null;
    if (swap.price === 0) return null;
    const scaled = swap.price * 10 ** (d0 - d1);
    return baseIs0 ? scaled : 1 / scaled;
  };
  const buckets = new Map<number, SwapRow[]>();
  for (const block of world.blocks) {
    if (block.number > Math.max(head.number, STORED)) continue;
    for (const swap of block.swaps) {
      const time = Math.floor(swap.timestamp / seconds) * seconds;
      if (swap.pair !== request.pair || time > head.timestamp) continue;
      buckets.set(time, [...(buckets.get(time) ?? []), swap]);
    }
  }
  const all: Bar[] = [];
  for (const [time, swaps] of [...buckets].sort(([a], [b]) => a - b)) {
    if (request.to !== null && time >= request.to) continue;
    const prices = swaps.map(priceOf).filter((price) => price !== null);
    if (prices.length === 0) continue;
    const net = (swap: SwapRow): bigint => (baseIs0 ? swap.amount0 : swap.amount1);
    const volume = swaps.reduce((sum, swap) => sum + (net(swap) < 0n ? -net(swap) : net(swap)), 0n);
    const poolBase = (swap: SwapRow): bigint => (pool.base_is_token0 ? swap.amount0 : swap.amount1);
    const buys = swaps.filter((swap) => poolBase(swap) < 0n).length;
    const tracked = swaps.filter((swap) => swap.tracked);
    all.push({
      time,
      open: prices[0]!,
      high: Math.max(...prices),
      low: Math.min(...prices),
      close: prices.at(-1)!,
      volume: Number(volume) / 10 ** (baseIs0 ? d0 : d1),
      volume_usd:
        tracked.length === 0 ? null : Number(tracked.reduce((sum, swap) => sum + swap.amount_usd, 0n)) / 1e12,
      trades: swaps.length,
      buys: request.invert ? swaps.length - buys : buys,
      sells: request.invert ? buys : swaps.length - buys,
      closed: time + seconds <= head.timestamp,
    });
  }
  const series = request.fill ? fillPlainly(all, seconds, head, request.to) : all;
  const bars = series.slice(-request.limit);
  return { bars, nextTo: series.length > bars.length ? bars[0]!.time : null };
}

function expectClose(got: Bar[], wanted: Bar[]): void {
  const plain = (bars: Bar[]): unknown[] =>
    bars.map(({ time, trades, buys, sells, closed }) => ({ time, trades, buys, sells, closed }));
  expect(plain(got)).toEqual(plain(wanted));
  got.forEach((bar, index) => {
    for (const field of ['open', 'high', 'low', 'close', 'volume', 'volume_usd'] as const) {
      const want = wanted[index]![field];
      const have = bar[field];
      if (want === null || have === null) expect([field, have]).toEqual([field, want]);
      else expect(Math.abs(have - want)).toBeLessThanOrEqual(1e-12 * Math.abs(want));
    }
  });
}

const PAIRS = Array.from(
  { length: 9 },
  (_, index): `0x${string}` => `0xbb${index.toString(16).padStart(38, '0')}`,
);

const REQUEST: Omit<PairSeriesRequest, 'pair' | 'timeframe'> = {
  limit: 1_000,
  to: null,
  currency: 'quote',
  fill: false,
  invert: false,
  base: null,
  quote: null,
};

function source(keptMax?: number): PairSeriesSource {
  const headSwaps = createHeadSwaps(store.runner, keptMax);
  return { runner: store.runner, directory: new Directory(store.runner), chain: CHAIN, headSwaps };
}

async function check(head: HeadSnapshot, request: PairSeriesRequest): Promise<number> {
  const answer = await getPairSeries(shared, head, request);
  ticksAnswerShape.parse(JSON.parse(JSON.stringify(answer)));
  const wanted = expectBars(head, request);
  expectClose(answer.data, wanted.bars);
  expect(answer.meta.next_to).toBe(wanted.nextTo);
  expect(answer.meta.no_data).toBe(wanted.bars.length === 0);
  return answer.data.length;
}

/** The pairs to compare: all pairs at the first head, and two pairs at each other head, different ones for each timeframe. */
function pairsFor(timeframe: Timeframe, index: number, head: HeadSnapshot): `0x${string}`[] {
  const known = pairsKnownTo(head);
  if (index === 0) return known;
  const turn = 2 * (index + TIMEFRAMES.indexOf(timeframe));
  return [0, 1].map((next) => known[(turn + next) % known.length]!);
}

function pairsKnownTo(head: HeadSnapshot): `0x${string}`[] {
  const known = world.blocks.filter(({ number }) => number <= head.number).flatMap((block) => block.pools);
  return PAIRS.filter((pair) => known.some(({ address }) => address === pair));
}

describe('bars of a pair equal a plain recomputation', () => {
  test.each(
    COMPARED.flatMap((timeframe) =>
      (['quote', 'usd'] as const).map((currency) => [timeframe, currency] as const),
    ),
  )(
    '%s bars of a pair in the currency %s equal a plain recomputation in every state of the store',
    async (timeframe, currency) => {
      let bars = 0;
      for (const [index, head] of Object.values(snapshots).entries()) {
        for (const pair of pairsFor(timeframe, index, head))
          bars += await check(head, { ...REQUEST, pair, timeframe, currency });
      }
      expect(bars).toBeGreaterThan(10);
    },
  );

  test('bars of a pair are the same whether head blocks are cached, partly cached or too many to cache', async () => {
    const kept = source();
    const crowded = source(5);
    const heads = [FINAL, FINAL + 20, FINAL + 40].map((tip) => snapshotOf(world, FINAL - 3, tip));
    for (const head of [...heads, ...heads.reverse()]) {
      for (const currency of ['quote', 'usd'] as const) {
        const requests = pairsKnownTo(head)
          .slice(0, 2)
          .map((pair) => ({
            ...REQUEST,
            pair,
            currency,
            timeframe: '5m' as const,
          }));
        for (const from of [kept, crowded]) {
          const answers = await Promise.all(requests.map((request) => getPairSeries(from, head, request)));
          for (const [index, answer] of answers.entries())
            expectClose(answer.data, expectBars(head, requests[index]!).bars);
        }
      }
    }
  });

  test('bars of a pair with the parameters invert, fill, limit and to equal a plain recomputation', async () => {
    const heads = Object.values(snapshots);
    const pair = PAIRS[0]!;
    let turn = 0;
    for (const invert of [false, true]) {
      for (const fill of [false, true]) {
        for (const limit of [1, 7, 300]) {
          // Every combination of these parameters has another timeframe, head and value of `to` than the one before.
          const timeframe = TIMEFRAMES[turn % TIMEFRAMES.length]!;
          const head = heads[turn % heads.length]!;
          turn += 1;
          for (const to of [null, head.timestamp, head.timestamp - 86_400, head.timestamp + 1e6, 5].slice(
            turn % 4,
          ))
            await check(head, { ...REQUEST, pair, timeframe, invert, fill, limit, to });
        }
      }
    }
  });

  test("paging back through a pair's bars with next_to gives every bar once", async () => {
    const head = snapshots['a head half promoted']!;
    for (const fill of [false, true]) {
      const request = { ...REQUEST, pair: PAIRS[0]!, timeframe: '15m' as const, fill, limit: fill ? 90 : 17 };
      const times: number[] = [];
      for (let to: number | null = null, pages = 0; pages < 3_000; pages += 1) {
        const { data, meta } = await getPairSeries(shared, head, { ...request, to });
        times.unshift(...data.map(({ time }) => time));
        to = meta.next_to;
        if (to === null) break;
      }
      const whole = expectBars(head, { ...request, limit: 1_000_000 }).bars.map(({ time }) => time);
      expect(times).toEqual(whole);
    }
  });

  test("filling a pair's bars after years without trades stops at the limit", async () => {
    const head = snapshots['a head half promoted']!;
    const late = { ...head, timestamp: head.timestamp + 400_000_000, version: 'late' };
    const request = { ...REQUEST, pair: PAIRS[0]!, timeframe: '1m' as const, fill: true, limit: 5 };
    const { data, meta } = await getPairSeries(shared, late, request);
    expect(data).toHaveLength(5);
    expect(data.every((bar) => bar.trades === 0 && bar.close === data[0]!.close)).toBe(true);
    expect(meta.next_to).toBe(data[0]!.time);
  });

  test('an answer without USD bars gives the reason no_usd_price', async () => {
    const head = snapshots['a head half promoted']!;
    const unpriced = PAIRS.find((pair) =>
      world.blocks.every((block) => block.swaps.every((swap) => swap.pair !== pair || swap.price_usd === 0)),
    )!;
    const request = { ...REQUEST, pair: unpriced, timeframe: '1h' as const, currency: 'usd' as const };
    const { data, meta } = await getPairSeries(shared, head, request);
    expect(data).toEqual([]);
    expect(meta).toMatchObject({ no_data: true, reason: 'no_usd_price', quote_token: null, next_to: null });
  });

  test('bars of an unknown address and of a pair in an orphaned block are not found', async () => {
    const head = snapshots['a head half promoted']!;
    const orphans = await askRows<{ address: string }>(
      store.db,
      "SELECT concat('0x', lower(hex(address))) AS address FROM pools_head WHERE commit > 90000 LIMIT 1",
    );
    for (const pair of [orphans[0]!.address, `0x${'9'.repeat(40)}`] as `0x${string}`[]) {
      await expect(getPairSeries(shared, head, { ...REQUEST, pair, timeframe: '1h' })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
  });
});
