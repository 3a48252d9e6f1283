/**
 * The bars that a chart shows: the newest page, older pages before it, and what changed since. Bars only ever come from
 * the API and replace what they overlap, so a bar is either what the API last said or not there. Pure.
 */
import type { Bar } from '../wire/ticks';

export interface BarPage {
  readonly data: readonly Bar[];
  readonly meta: { readonly next_to: number | null };
}

export interface BarSeries {
  readonly bars: readonly Bar[];
  /** Ask for older bars with this `to`; null: there are none. */
  readonly nextTo: number | null;
}

export const NO_BARS: BarSeries = { bars: [], nextTo: null };

/**
 * Lays a page of newest bars over the series: everything from the page's first bar on is the page's. Null when bars
 * between the series and the page may be missing; then a longer page is needed.
 */
export function withNewest(series: BarSeries, page: BarPage): BarSeries | null {
  const [first] = page.data;
  if (first === undefined || page.meta.next_to === null) return fromPage(page);
  const kept = series.bars.filter((bar) => bar.time < first.time);
  const touches = kept.length < series.bars.length;
  if (!touches) return null;
  // Nothing of the series is older than the page: the page alone says what stands before it.
  if (kept.length === 0) return fromPage(page);
  return { bars: [...kept, ...page.data], nextTo: series.nextTo };
}

/** Puts a page that was asked for with `to = nextTo` before the series. */
export function withOlder(series: BarSeries, page: BarPage): BarSeries {
  const [first] = series.bars;
  const older = first === undefined ? page.data : page.data.filter((bar) => bar.time < first.time);
  return { bars: [...older, ...series.bars], nextTo: page.meta.next_to };
}

export function fromPage(page: BarPage): BarSeries {
  return { bars: page.data, nextTo: page.meta.next_to };
}

const COLUMNS = [
  'time',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'volume_usd',
  'trades',
  'buys',
  'sells',
] as const;

/** The bars as CSV, as the API gave them. */
export function toCsv(bars: readonly Bar[]): string {
  const lines = bars.map((bar) => COLUMNS.map((column) => bar[column] ?? '').join(','));
  return [COLUMNS.join(','), ...lines, ''].join('\n');
}

/**
 * A power of ten that brings prices near 1 for the chart, which draws with absolute tolerances: 1e-17 would be a flat
 * line. 1 where the prices are ordinary.
 */
export function scaleOf(bars: readonly Bar[]): number {
  const highest = bars.reduce((most, bar) => Math.max(most, bar.high), 0);
  if (highest === 0 || (highest > 1e-3 && highest < 1e7)) return 1;
  return 10 ** -Math.floor(Math.log10(highest));
}
