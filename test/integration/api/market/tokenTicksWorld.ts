/**
 * Data for the tests of token bars. The swaps have every relevant kind of price: no price on one side, no
 * native price for some time, untrusted values. Recomputes the bars with plain code.
 */
import { TIMEFRAME_SECONDS } from '../../../../src/domain/timeframes';
import type { SwapRow } from '../../../../src/clickhouse/schema/tables';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import type { TokenSeriesRequest } from '../../../../src/query/bars/tokenSeries';
import type { Bar } from '../../../../src/wire/ticks';
import { usdBySwap } from './plainMarket';
import { createRandom } from '../../../support/createRandom';
import { hexOf, type World } from '../../../support/worlds/world';

/** A token without tracked swaps (swaps with a trusted price). */
export const untrackedToken = (seed: number): `0x${string}` => hexOf('aa', seed % 6, 40);
/** A token with USD prices but without native prices. */
export const nativelessToken = (seed: number): `0x${string}` => hexOf('aa', (seed + 2) % 6, 40);

const holds = (swap: SwapRow, token: string): boolean => swap.token0 === token || swap.token1 === token;

/**
 * Replaces the prices of the swaps, from the world's seed. The first sixth and the middle third have no native price.
 */
export function priceSwaps(world: World): World {
  const random = createRandom(world.seed + 3);
  world.blocks.forEach((block, index) => {
    const age = index / world.blocks.length;
    const native = age < 1 / 6 || (age > 1 / 3 && age < 2 / 3) ? 0 : 10 ** (random() * 6 - 5);
    const priced = block.swaps.map((swap): SwapRow => {
      const tracked = !holds(swap, untrackedToken(world.seed)) && random() < 0.85;
      const price = (): number => (random() < 0.12 ? 0 : 10 ** (random() * 24 - 14));
      return {
        ...swap,
        tracked,
        price_usd: price(),
        quote_price_usd: price(),
        native_usd: holds(swap, nativelessToken(world.seed)) || random() < 0.1 ? 0 : native,
        amount_usd: tracked ? BigInt(random.int(1_000_000_000)) * 1_000_003n : 0n,
      };
    });
    block.swaps.splice(0, block.swaps.length, ...priced);
  });
  return world;
}

interface Side {
  readonly amount: bigint;
  readonly price: number;
  readonly swap: SwapRow;
}

/** The token's tracked swaps up to a block, in canonical order. */
function sidesOf(world: World, lastBlock: number, { token, currency }: TokenSeriesRequest): Side[] {
  const swaps = world.blocks.filter(({ number }) => number <= lastBlock).flatMap((block) => block.swaps);
  return swaps
    .filter((swap) => swap.tracked && holds(swap, token))
    .sort((a, b) => a.ord - b.ord)
    .map((swap) => {
      const usd = usdBySwap(swap, token, 'bars');
      const native = swap.native_usd === 0 ? 0 : usd / swap.native_usd;
      const amount = token === swap.token0 ? swap.amount0 : swap.amount1;
      return { swap, amount, price: currency === 'usd' ? usd : native };
    });
}

interface PlainSeries {
  readonly bars: Bar[];
  readonly nextTo: number | null;
  /** True if no swap of the token ever has a price. */
  readonly neverPriced: boolean;
}

/** `storedTo` is the last stored block. The newest bar may already contain its swaps. */
export function expectTokenBars(
  world: World,
  storedTo: number,
  head: HeadSnapshot,
  request: TokenSeriesRequest,
): PlainSeries {
  const seconds = TIMEFRAME_SECONDS[request.timeframe];
  const allSides = sidesOf(world, Math.max(storedTo, head.number), request);
  const { decimals } = world.tokens.find(({ address }) => address === request.token)!;
  const buckets = new Map<number, Side[]>();
  for (const side of allSides) {
    const time = side.swap.timestamp - (side.swap.timestamp % seconds);
    if (time > head.timestamp) continue;
    buckets.set(time, [...(buckets.get(time) ?? []), side]);
  }
  const all: Bar[] = [];
  for (const [time, sides] of [...buckets].sort(([a], [b]) => a - b)) {
    const prices = sides.map(({ price }) => price).filter((price) => price > 0);
    if (prices.length === 0) continue;
    const volume = sides.reduce((sum, { amount }) => sum + (amount < 0n ? -amount : amount), 0n);
    const buys = sides.filter(({ amount }) => amount < 0n).length;
    all.push({
      time,
      open: prices[0]!,
      high: Math.max(...prices),
      low: Math.min(...prices),
      close: prices.at(-1)!,
      volume: Number(volume) / 10 ** (decimals ?? 0),
      volume_usd: Number(sides.reduce((sum, { swap }) => sum + swap.amount_usd, 0n)) / 1e12,
      trades: sides.length,
      buys,
      sells: sides.length - buys,
      closed: time + seconds <= head.timestamp,
    });
  }
  const below = all.filter(({ time }) => request.to === null || time < request.to);
  const series = request.fill ? fillPlainly(below, seconds, head, request.to) : below;
  const bars = series.slice(-request.limit);
  const nextTo = series.length > bars.length ? bars[0]!.time : null;
  const isPriced = sidesOf(world, head.number, request).some(({ price }) => price > 0);
  return { bars, nextTo, neverPriced: below.length === 0 && !isPriced };
}

/** Adds a flat bar for each time without a trade, up to the head or before `to`. */
export function fillPlainly(bars: Bar[], seconds: number, head: HeadSnapshot, to: number | null): Bar[] {
  const byTime = new Map(bars.map((bar) => [bar.time, bar]));
  const filled: Bar[] = [];
  let time = bars[0]?.time ?? Infinity;
  for (; time <= head.timestamp && (to === null || time < to); time += seconds) {
    const close = filled.at(-1)?.close ?? 0;
    const none = { volume: 0, volume_usd: 0, trades: 0, buys: 0, sells: 0 };
    const flat = { time, open: close, high: close, low: close, close, ...none };
    filled.push(byTime.get(time) ?? { ...flat, closed: time + seconds <= head.timestamp });
  }
  return filled;
}
