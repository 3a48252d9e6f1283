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
const ROWS_SPARE = 16;
/** 40 queries of 200,000 rows read every minute of fifteen years. */
const PAGES = { growth: 8, limitMax: 200_000, pagesMax: 44, rowsMax: Infinity };
const DAY_SECONDS = 86_400;

/** Source of the bars of one pool's leg or one token, in one currency. */
export interface BarRows {
  /**
   * Stored parts of bars that open in [from, to), newest first, at most `limit`. At the limit, parts of the last bar
   * may be missing.
   */
  list(seconds: number, from: number, to: number, limit: number): Promise<readonly BarPart[]>;
  /**
   * Swaps of the snapshot's head blocks as parts of bars, ascending; no part spans two blocks. Throws unavailable for
   * too many.
   */
  listHead(seconds: number): Promise<readonly BarPart[]>;
  /** The day of the first stored bar with a price, or null without such a bar. Older days need not be
   * read. */
  findFirstDay(): Promise<number | null>;
}

/** The newest bars with a price that open before `to`: `wanted` bars, or all. */
export async function readBars(
  rows: BarRows,
  head: HeadSnapshot,
  seconds: number,
  to: number,
  barsWanted: number,
): Promise<BarsRead> {
  const end = Math.min(to, slotOf(head.timestamp, seconds) + seconds);
  const inHead = rows.listHead(seconds);
  let first: Promise<number | null> | undefined;
  const findDay = (): Promise<number | null> => (first ??= findFirst(rows, inHead));
  const pages = await readPages(
    async (before, limit) => {
      // The first page is often the only one, and does not wait for the first day.
      const from = before === end ? 0 : ((await findDay()) ?? before);
      const [headParts, parts] = await Promise.all([inHead, rows.list(seconds, from, before, limit)]);
      return pageOf(parts, headParts, before, limit);
    },
    { first: 0, before: end, wanted: barsWanted, limit: Math.ceil(barsWanted * 1.5) + ROWS_SPARE, ...PAGES },
  );
  return { ...pages, neverPriced: pages.priced.length === 0 && (await findDay()) === null };
}

/** Has all parts of its bars. A read at its limit may lack parts of its last bar, so the next page reads it again. */
function pageOf(
  parts: readonly BarPart[],
  headParts: readonly BarPart[],
  before: number,
  limit: number,
): BarPage {
  const from = parts.length < limit ? 0 : (parts.at(-1)?.bucket ?? -1) + 1;
  const bars = foldParts(parts.filter(({ bucket }) => bucket >= from));
  addHeadParts(bars, headParts, { from, to: before });
  return { parts: [...bars.values()], rows: parts.length, from };
}

/** The day of the first bar with a price, final or not; null without such a bar. */
async function findFirst(rows: BarRows, headParts: Promise<readonly BarPart[]>): Promise<number | null> {
  const inHead = (await headParts).find(({ high }) => high > 0)?.bucket;
  const storedDay = await rows.findFirstDay();
  if (inHead === undefined) return storedDay;
  return Math.min(slotOf(inHead, DAY_SECONDS), storedDay ?? inHead);
}
