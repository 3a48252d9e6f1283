/**
 * Searches logs window by window, from one end of the range, with growing windows. For frequent logs the first
 * windows are enough. For rare logs the search needs a few queries. The work is limited: an unfinished search
 * returns the last searched position.
 */
import { ORD_SPAN } from '../../domain/ord';
import { steadyNow } from '../../domain/steadyTime';
import { sumEmitted } from './emitters';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { LogFilter, LogSource, OrdRange } from './logFilter';
import { TIME_BUDGETS } from '../head/timeBudgets';

/** Blocks in the first window for logs of unknown frequency. */
const FIRST_BLOCKS = 256;
const WINDOW_GROWTH = 8;
const WINDOWS_MAX = 24;
/**
 * Largest number of blocks per call for a filter without address and topic0, because every log of these blocks must
 * be read.
 */
const UNKEYED_BLOCKS = 10_000;
const UNKEYED_STEP_BLOCKS = 1_000;
/** Contracts with at most this many logs are read in one window. */
const FEW_LOGS = 50_000;

export interface WindowSearch {
  readonly newestFirst: boolean;
  readonly wanted: number;
  /** Time in ms after which no new window starts; default `TIME_BUDGETS.logSearchMs`. */
  readonly patienceMs?: number;
}

export async function searchWindows(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange,
  { newestFirst, wanted, patienceMs = TIME_BUDGETS.logSearchMs }: WindowSearch,
  list: (window: OrdRange, limit: number) => Promise<number[]>,
): Promise<{ ords: number[]; cutAt: number | null }> {
  const keyed = filter.addresses.length > 0 || filter.topics[0].length > 0;
  const startedAt = steadyNow();
  const ords: number[] = [];
  let unsearched = range;
  let span = keyed ? await firstSpan(source, head, filter, wanted) : UNKEYED_STEP_BLOCKS * ORD_SPAN;
  let searched = 0;
  for (let turn = 0; unsearched.from <= unsearched.to; turn += 1) {
    const isOutOfTime = turn >= WINDOWS_MAX || steadyNow() - startedAt > patienceMs;
    if (isOutOfTime || (!keyed && searched >= UNKEYED_BLOCKS * ORD_SPAN)) {
      return { ords, cutAt: newestFirst ? unsearched.to + 1 : unsearched.from - 1 };
    }
    const window = newestFirst
      ? { from: Math.max(unsearched.from, unsearched.to - span + 1), to: unsearched.to }
      : { from: unsearched.from, to: Math.min(unsearched.to, unsearched.from + span - 1) };
    ords.push(...(await list(window, wanted - ords.length)));
    if (ords.length >= wanted) break;
    unsearched = newestFirst
      ? { from: unsearched.from, to: window.from - 1 }
      : { from: window.to + 1, to: unsearched.to };
    searched += span;
    if (keyed) span *= WINDOW_GROWTH;
  }
  return { ords, cutAt: null };
}

/** The number of positions (`ord`) that should contain enough logs of the contracts, by their average frequency. */
async function firstSpan(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  ordsWanted: number,
): Promise<number> {
  if (filter.addresses.length === 0) return FIRST_BLOCKS * ORD_SPAN;
  const emitted = await sumEmitted(source, head, filter.addresses);
  if (emitted === null || emitted.logs <= FEW_LOGS) return Number.MAX_SAFE_INTEGER;
  const { logs, firstOrd, lastOrd } = emitted;
  return Math.max(FIRST_BLOCKS * ORD_SPAN, Math.ceil(((lastOrd - firstOrd) * ordsWanted * 2) / logs));
}
