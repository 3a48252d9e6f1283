/**
 * Converts raw bars to a chart series: the last `limit` bars in whole tokens, optionally filled, inverted or continuous.
 * Pure.
 */
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { scalePrice } from '../../domain/prices';
import type { Bar, Currency } from '../../wire/ticks';
import type { BarPart } from './barParts';

interface SeriesOptions {
  /** Length of a bar in seconds. */
  readonly barSeconds: number;
  readonly limit: number;
  /** Exclusive bound on the open time of a bar, unix seconds. */
  readonly to: number;
  readonly fill: boolean;
  readonly invert: boolean;
  /** Whether each bar opens at the close of the bar before it; default: false. */
  readonly continuous?: boolean;
  /** The oldest of the given bars is not complete. Only its close is right, so it is not shown. */
  readonly partial?: boolean;
  readonly currency: Currency;
  /** Time of the newest indexed block. */
  readonly headTimestamp: number;
  readonly baseIsToken0: boolean;
  readonly decimals0: number;
  readonly decimals1: number;
}

interface Series {
  readonly data: Bar[];
  /** The `to` of a request for the bars before these, unix seconds; null without older bars. */
  readonly nextTo: number | null;
}

/**
 * `bars`: priced bars in ascending order, without gaps in the data below `to`. If the series is long enough, there are
 * at least `limit` + 1 bars. The extra bar shows that older bars exist, and gives the close before the first bar.
 */
export function toSeries(bars: readonly BarPart[], options: SeriesOptions): Series {
  const { data, barBefore } = options.fill ? fillBars(bars, options) : lastBars(bars, options);
  const nextTo = barBefore === undefined ? null : (data[0]?.time ?? null);
  if (options.continuous !== true) return { data, nextTo };
  return {
    data: connectBars(data, barBefore === undefined ? null : toBar(barBefore, options).close),
    nextTo,
  };
}

interface ShownBars {
  readonly data: Bar[];
  /** The newest bar that is older than `data`; undefined if `data` begins with the first bar of the series. */
  readonly barBefore: BarPart | undefined;
}

function lastBars(bars: readonly BarPart[], options: SeriesOptions): ShownBars {
  const startIndex = Math.max(firstShownIndex(options), bars.length - options.limit);
  return { data: bars.slice(startIndex).map((bar) => toBar(bar, options)), barBefore: bars[startIndex - 1] };
}

function fillBars(bars: readonly BarPart[], options: SeriesOptions): ShownBars {
  const oldestBar = bars[firstShownIndex(options)];
  if (oldestBar === undefined) return { data: [], barBefore: undefined };
  const lastSlot = Math.min(
    slotOf(options.headTimestamp, options.barSeconds),
    slotOf(options.to - 1, options.barSeconds),
  );
  const startTime = Math.max(lastSlot - (options.limit - 1) * options.barSeconds, oldestBar.bucket);
  const byTime = new Map(bars.map((bar) => [bar.bucket, bar]));
  const barBefore = bars.filter((bar) => bar.bucket < startTime).at(-1);
  let close = barBefore === undefined ? 0 : toBar(barBefore, options).close;
  const data: Bar[] = [];
  for (let time = startTime; time <= lastSlot; time += options.barSeconds) {
    const bar = byTime.get(time);
    const shownBar = bar === undefined ? emptyBar(time, close, options) : toBar(bar, options);
    close = shownBar.close;
    data.push(shownBar);
  }
  return { data, barBefore };
}

/** Index of the oldest bar that may be shown. */
function firstShownIndex({ partial }: SeriesOptions): number {
  return partial === true ? 1 : 0;
}

/** Opens each bar at the close before it. High and low include that price. `closeBefore` is null at the first bar. */
function connectBars(bars: readonly Bar[], closeBefore: number | null): Bar[] {
  let close = closeBefore;
  return bars.map((bar) => {
    const open = close ?? bar.open;
    close = bar.close;
    return { ...bar, open, high: Math.max(bar.high, open), low: Math.min(bar.low, open) };
  });
}

export function slotOf(timestamp: number, slotSeconds: number): number {
  return Math.floor(timestamp / slotSeconds) * slotSeconds;
}

function isClosed(time: number, options: SeriesOptions): boolean {
  return time + options.barSeconds <= options.headTimestamp;
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
  const toShownPrice = (price: number): number =>
    currency === 'usd' ? price : scalePrice(price, decimals0, decimals1, baseIsToken0);
  // Raw prices are token1 per token0. With token1 as the base, prices invert, and high and low are exchanged.
  const isInverted = currency === 'quote' && !baseIsToken0;
  const sells = part.trades - part.buys;
  const baseVolume = baseIsToken0
    ? unitsToNumber(part.volume0, decimals0)
    : unitsToNumber(part.volume1, decimals1);
  return {
    time: part.bucket,
    open: toShownPrice(part.open),
    high: toShownPrice(isInverted ? part.low : part.high),
    low: toShownPrice(isInverted ? part.high : part.low),
    close: toShownPrice(part.close),
    volume: baseVolume,
    volume_usd:
      part.trades > 0 && part.untracked === part.trades ? null : unitsToNumber(part.volumeUsd, USD_DECIMALS),
    trades: part.trades,
    buys: invert ? sells : part.buys,
    sells: invert ? part.buys : sells,
    closed: isClosed(part.bucket, options),
  };
}
