/**
 * The bars of a chart: the newest page, older pages before it, and later changes. Bars come only from the API and
 * replace the bars they overlap, so a shown bar is always the API's latest version. Pure.
 */
import type { Bar } from '../../wire/ticks';

export interface BarPage {
  readonly data: readonly Bar[];
  readonly meta: { readonly next_to: number | null };
}

export interface BarSeries {
  readonly bars: readonly Bar[];
  /** The value of `to` for the next older page; null if there are no older bars. */
  readonly nextTo: number | null;
}

export const NO_BARS: BarSeries = { bars: [], nextTo: null };

/**
 * Replaces everything from the first bar of the newest page on. Returns null if bars between the series and
 * the page may be missing. Then a longer page is needed.
 */
export function withNewest(series: BarSeries, page: BarPage): BarSeries | null {
  const [firstBar] = page.data;
  if (firstBar === undefined || page.meta.next_to === null) return fromPage(page);
  const olderBars = series.bars.filter((bar) => bar.time < firstBar.time);
  const overlaps = olderBars.length < series.bars.length;
  if (!overlaps) return null;
  // The page covers the whole series, so the page alone determines whether older bars exist.
  if (olderBars.length === 0) return fromPage(page);
  return { bars: [...olderBars, ...page.data], nextTo: series.nextTo };
}

/** Puts a page that was requested with `to = nextTo` before the first bar. */
export function withOlder(series: BarSeries, page: BarPage): BarSeries {
  const [firstBar] = series.bars;
  const olderBars = firstBar === undefined ? page.data : page.data.filter((bar) => bar.time < firstBar.time);
  return { bars: [...olderBars, ...series.bars], nextTo: page.meta.next_to };
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

/** The index of the first bar that must be drawn: the last drawn bar, the bar after it, or 0 if an earlier bar changed. */
export function changedFrom(drawnBars: readonly Bar[], bars: readonly Bar[]): number {
  const isUnchanged = (bar: Bar, index: number): boolean => {
    const barAtIndex = bars[index];
    return (
      barAtIndex === bar ||
      (barAtIndex !== undefined && COLUMNS.every((column) => barAtIndex[column] === bar[column]))
    );
  };
  const lastDrawn = drawnBars.at(-1);
  if (
    lastDrawn === undefined ||
    !drawnBars.slice(0, -1).every(isUnchanged) ||
    bars[drawnBars.length - 1]?.time !== lastDrawn.time
  )
    return 0;
  return isUnchanged(lastDrawn, drawnBars.length - 1) ? drawnBars.length : drawnBars.length - 1;
}

/** A column of the CSV with one value per bar, such as an indicator. */
export interface BarColumn {
  readonly column: string;
  readonly values: readonly (number | null)[];
}

/** The bars as CSV, with the values of the API, and further columns. */
export function toCsv(bars: readonly Bar[], moreColumns: readonly BarColumn[] = []): string {
  const lines = bars.map((bar, index) =>
    [...COLUMNS.map((column) => bar[column]), ...moreColumns.map(({ values }) => values[index])]
      .map((value) => value ?? '')
      .join(','),
  );
  return [[...COLUMNS, ...moreColumns.map(({ column }) => column)].join(','), ...lines, ''].join('\n');
}

/**
 * A power of ten that scales prices near 1. The chart draws with absolute tolerances, so prices near 1e-17
 * would be a flat line. The factor is 1 for ordinary prices.
 */
export function scaleOf(bars: readonly Bar[]): number {
  const highestPrice = bars.reduce((highestSoFar, bar) => Math.max(highestSoFar, bar.high), 0);
  if (highestPrice === 0 || (highestPrice > 1e-3 && highestPrice < 1e7)) return 1;
  return 10 ** -Math.floor(Math.log10(highestPrice));
}
