/**
 * Reads the bars of one timeframe as of one snapshot: reads stored parts from the newest backwards, merges the parts,
 * and adds the swaps of head blocks. The parts come from legBars.ts and tokenBars.ts. Chart series: tickSeries.ts.
 */
import { addHeadParts, foldParts, type BarPart } from './barParts';
import type { HeadSnapshot } from '../head/headSnapshot';
import { slotOf } from './tickSeries';

/**
 * Number of rows that the first query asks for, beyond 1.5 rows per bar. A short series with many parts then needs
 * one query.
 */
const ROWS_SPARE = 16;
/** Each further query asks for this many times as many rows as the query before, up to ROWS_MAX. */
const ROWS_GROWTH = 8;
const ROWS_MAX = 200_000;
/** Largest number of queries. 40 queries of ROWS_MAX rows read every minute of fifteen years. */
const ROUNDS_MAX = 44;
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

export interface BarsRead {
  /** The bars that have a price, ascending. */
  readonly priced: BarPart[];
  /** True if the series has no bar with a price at any time. */
  readonly neverPriced: boolean;
  /** True if only the close of the first bar is right, because older prices were not read; default: false. */
  readonly partial?: boolean;
}

interface BarPage {
  /** The page has every stored part of the bars that open in [completeFrom, before). */
  readonly parts: readonly BarPart[];
  readonly before: number;
  readonly completeFrom: number;
  readonly exhausted: boolean;
}

/** The newest bars with a price that open before `to`: at least `wanted` bars, or all. */
export async function readBars(
  rows: BarRows,
  head: HeadSnapshot,
  seconds: number,
  to: number,
  wanted: number,
): Promise<BarsRead> {
  const end = Math.min(to, slotOf(head.timestamp, seconds) + seconds);
  const bars = new Map<number, BarPart>();
  let limit = Math.min(Math.ceil(wanted * 1.5) + ROWS_SPARE, ROWS_MAX);
  const [headParts, first] = await Promise.all([
    rows.listHead(seconds),
    listPage(rows, seconds, 0, end, limit),
  ]);
  addPage(bars, first, headParts);
  let page = first;
  if (bars.size === 0 || (!page.exhausted && bars.size < wanted)) {
    const from = await findFirst(rows, headParts);
    if (from === null && bars.size === 0) return { priced: [], neverPriced: true };
    for (let round = 2; round <= ROUNDS_MAX && !page.exhausted && bars.size < wanted; round += 1) {
      limit = Math.min(limit * ROWS_GROWTH, ROWS_MAX);
      page = await listPage(rows, seconds, from ?? 0, page.completeFrom, limit);
      addPage(bars, page, headParts);
    }
  }
  return { priced: [...bars.values()].sort((a, b) => a.bucket - b.bucket), neverPriced: false };
}

/** A page at its limit may lack parts of its last bar, so the next page reads that bar again. */
async function listPage(
  rows: BarRows,
  seconds: number,
  from: number,
  before: number,
  limit: number,
): Promise<BarPage> {
  const parts = await rows.list(seconds, from, before, limit);
  const exhausted = parts.length < limit;
  const cut = exhausted ? undefined : parts.at(-1)?.bucket;
  if (cut === undefined) return { parts, before, completeFrom: 0, exhausted };
  const whole = parts.filter(({ bucket }) => bucket > cut);
  return { parts: whole, before, completeFrom: cut + 1, exhausted };
}

/** Merges a page with the parts of the head, and keeps the bars with a price. */
function addPage(bars: Map<number, BarPart>, page: BarPage, headParts: readonly BarPart[]): void {
  const fresh = foldParts(page.parts);
  addHeadParts(fresh, headParts, { from: page.completeFrom, to: page.before });
  for (const [bucket, bar] of fresh) if (bar.high > 0) bars.set(bucket, bar);
}

/** The day of the first bar with a price, final or not; null without such a bar. */
async function findFirst(rows: BarRows, headParts: readonly BarPart[]): Promise<number | null> {
  const inHead = headParts.find(({ high }) => high > 0)?.bucket;
  const stored = await rows.findFirstDay();
  if (inHead === undefined) return stored;
  return Math.min(slotOf(inHead, DAY_SECONDS), stored ?? inHead);
}
