/**
 * Reads the stored bars of one timeframe as of one snapshot, and adds the swaps of head blocks. The rows come from
 * legBars.ts and tokenBars.ts. Chart series: chartSeries.ts.
 */
import { addHeadParts, foldParts, type BarPart } from './barParts';
import { readPages, type BarPage, type BarsRead } from './barPages';
import type { HeadSnapshot } from '../head/headSnapshot';
import { slotOf } from './chartSeries';

/**
 * Number of rows that the first query asks for, beyond 1.5 rows per bar. A short series with many parts then needs
 * one query.
 */
const SPARE_ROWS = 16;
/** 40 queries of 200,000 rows read every minute of fifteen years. */
const PAGE_BOUNDS = { growth: 8, pageRowsMax: 200_000, pagesMax: 44, rowsMax: Infinity };
const DAY_SECONDS = 86_400;

/** Source of the bars of one pool's leg or one token, in one currency. */
export interface BarRows {
  /**
   * Stored parts of bars that open in [fromTime, beforeTime), newest first, at most `rowsMax`. At the limit, parts of
   * the last bar may be missing.
   */
  list(
    barSeconds: number,
    fromTime: number,
    beforeTime: number,
    rowsMax: number,
  ): Promise<readonly BarPart[]>;
  /**
   * Swaps of the snapshot's head blocks as parts of bars, ascending; no part spans two blocks. Throws unavailable for
   * too many.
   */
  listHead(barSeconds: number): Promise<readonly BarPart[]>;
  /** The day of the first stored bar with a price, or null without such a bar. Older days need not be
   * read. */
  findFirstDay(): Promise<number | null>;
}

/** The newest bars with a price that open before `beforeTime`: `barsWanted` bars, or all. */
export async function readBars(
  barRows: BarRows,
  head: HeadSnapshot,
  barSeconds: number,
  beforeTime: number,
  barsWanted: number,
): Promise<BarsRead> {
  const endTime = Math.min(beforeTime, slotOf(head.timestamp, barSeconds) + barSeconds);
  const headPartsRead = barRows.listHead(barSeconds);
  let firstDay: Promise<number | null> | undefined;
  const findFirstDayOnce = (): Promise<number | null> => (firstDay ??= findFirstDay(barRows, headPartsRead));
  const pages = await readPages(
    async (before, limit) => {
      // The first page is often the only one, and does not wait for the first day.
      const fromTime = before === endTime ? 0 : ((await findFirstDayOnce()) ?? before);
      const [headParts, parts] = await Promise.all([
        headPartsRead,
        barRows.list(barSeconds, fromTime, before, limit),
      ]);
      return pageOf(parts, headParts, before, limit);
    },
    {
      firstPosition: 0,
      endPosition: endTime,
      barsWanted,
      firstPageRows: Math.ceil(barsWanted * 1.5) + SPARE_ROWS,
      ...PAGE_BOUNDS,
    },
  );
  return { ...pages, neverPriced: pages.priced.length === 0 && (await findFirstDayOnce()) === null };
}

/** Has all parts of its bars. A read at its limit may lack parts of its last bar, so the next page reads it again. */
function pageOf(
  parts: readonly BarPart[],
  headParts: readonly BarPart[],
  before: number,
  limit: number,
): BarPage {
  const fromBucket = parts.length < limit ? 0 : (parts.at(-1)?.bucket ?? -1) + 1;
  const bars = foldParts(parts.filter(({ bucket }) => bucket >= fromBucket));
  addHeadParts(bars, headParts, { from: fromBucket, to: before });
  return { parts: [...bars.values()], rows: parts.length, firstPosition: fromBucket };
}

/** The day of the first bar with a price, final or not; null without such a bar. */
async function findFirstDay(
  barRows: BarRows,
  headParts: Promise<readonly BarPart[]>,
): Promise<number | null> {
  const firstHeadBucket = (await headParts).find(({ high }) => high > 0)?.bucket;
  const storedDay = await barRows.findFirstDay();
  if (firstHeadBucket === undefined) return storedDay;
  return Math.min(slotOf(firstHeadBucket, DAY_SECONDS), storedDay ?? firstHeadBucket);
}
