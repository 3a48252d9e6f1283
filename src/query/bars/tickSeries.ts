/** Converts raw bars to a chart series: the last `limit` bars in whole tokens, optionally filled or inverted. Pure. */
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { scalePrice } from '../../domain/prices';
import type { Bar, Currency } from '../../wire/ticks';
import type { BarPart } from './barParts';

interface SeriesOptions {
  /** Length of a bar. */
  readonly seconds: number;
  readonly limit: number;
  /** Exclusive bound on the open time. */
  readonly to: number;
  readonly fill: boolean;
  readonly invert: boolean;
  readonly currency: Currency;
  /** Time of the newest indexed block. */
  readonly headTimestamp: number;
  readonly baseIsToken0: boolean;
  readonly decimals0: number;
  readonly decimals1: number;
}

interface Series {
  readonly data: Bar[];
  readonly nextTo: number | null;
}

/**
 * `bars`: priced bars in ascending order, without gaps in the data below `to`. If the series is long enough, there are
 * at least `limit` + 1 bars. The extra bar shows that older bars exist, and gives the first close with `fill`.
 */
export function toSeries(bars: readonly BarPart[], options: SeriesOptions): Series {
  const oldest = bars[0];
  if (oldest === undefined) return { data: [], nextTo: null };
  if (!options.fill) {
    const shown = bars.slice(-options.limit);
    const data = shown.map((bar) => toBar(bar, options));
    return { data, nextTo: bars.length > shown.length ? (data[0]?.time ?? null) : null };
  }
  const lastSlot = Math.min(
    slotOf(options.headTimestamp, options.seconds),
    slotOf(options.to - 1, options.seconds),
  );
  const start = Math.max(lastSlot - (options.limit - 1) * options.seconds, oldest.bucket);
  const byTime = new Map(bars.map((bar) => [bar.bucket, bar]));
  const before = bars.filter((bar) => bar.bucket < start).at(-1);
  let close = before === undefined ? 0 : toBar(before, options).close;
  const data: Bar[] = [];
  for (let time = start; time <= lastSlot; time += options.seconds) {
    const bar = byTime.get(time);
    const shown = bar === undefined ? emptyBar(time, close, options) : toBar(bar, options);
    close = shown.close;
    data.push(shown);
  }
  return { data, nextTo: oldest.bucket < start ? start : null };
}

export function slotOf(timestamp: number, seconds: number): number {
  return Math.floor(timestamp / seconds) * seconds;
}

function isClosed(time: number, options: SeriesOptions): boolean {
  return time + options.seconds <= options.headTimestamp;
}

function emptyBar(time: number, close: number, options: SeriesOptions): Bar {
  return {
    time,
    open: close,
    high: close,
    low: close,
    close,
    volume: 0,
    volume_usd: 0,
    trades: 0,
    buys: 0,
    sells: 0,
    closed: isClosed(time, options),
  };
}

function toBar(part: BarPart, options: SeriesOptions): Bar {
  const { decimals0, decimals1, currency, invert } = options;
  const baseIsToken0 = options.baseIsToken0 !== invert;
  const scale = (price: number): number =>
    currency === 'usd' ? price : scalePrice(price, decimals0, decimals1, baseIsToken0);
  // Raw prices are token1 per token0. With token1 as the base, prices invert, and high and low swap.
  const turned = currency === 'quote' && !baseIsToken0;
  const sells = part.trades - part.buys;
  const base = baseIsToken0 ? unitsToNumber(part.volume0, decimals0) : unitsToNumber(part.volume1, decimals1);
  return {
    time: part.bucket,
    open: scale(part.open),
    high: scale(turned ? part.low : part.high),
    low: scale(turned ? part.high : part.low),
    close: scale(part.close),
    volume: base,
    volume_usd: part.untracked === part.trades ? null : unitsToNumber(part.volumeUsd, USD_DECIMALS),
    trades: part.trades,
    buys: invert ? sells : part.buys,
    sells: invert ? part.buys : sells,
    closed: isClosed(part.bucket, options),
  };
}
