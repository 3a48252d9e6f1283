/**
 * Searches logs span by span, from one end of the range, with growing spans. For frequent logs the first
 * spans are enough. For rare logs the search needs a few queries. The work is limited: an unfinished search
 * returns the last searched position.
 */
import { ORD_SPAN } from '../../domain/ord';
import { steadyNow } from '../../domain/time/steadyTime';
import { sumEmitted } from './emitters';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { LogFilter, LogSource, OrdRange } from './logFilter';
import { TIME_BUDGETS } from '../head/timeBudgets';

/** Blocks in the first span for logs of unknown frequency. */
const FIRST_BLOCKS = 256;
const SPAN_GROWTH = 8;
const SPANS_MAX = 24;
/**
 * Largest number of blocks per call for a filter without address and topic0, because every log of these blocks must
 * be read.
 */
const UNKEYED_BLOCKS_MAX = 10_000;
const UNKEYED_SPAN_BLOCKS = 1_000;
/** Contracts with at most this many logs are read in one span. */
const FEW_LOGS = 50_000;

export interface SpanSearch {
  readonly newestFirst: boolean;
  readonly ordsWanted: number;
  /** Time in ms after which no new span starts; default `TIME_BUDGETS.logSearchMs`. */
  readonly patienceMs?: number;
}

export async function searchSpans(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange,
  { newestFirst, ordsWanted, patienceMs = TIME_BUDGETS.logSearchMs }: SpanSearch,
  listOrds: (span: OrdRange, limit: number) => Promise<number[]>,
): Promise<{ ords: number[]; stoppedAtOrd: number | null }> {
  const hasKey = filter.addresses.length > 0 || filter.topics[0].length > 0;
  const startedAt = steadyNow();
  const ords: number[] = [];
  let restRange = range;
  let spanWidth = hasKey
    ? await firstSpanWidth(source, head, filter, ordsWanted)
    : UNKEYED_SPAN_BLOCKS * ORD_SPAN;
  let searchedWidth = 0;
  for (let spanCount = 0; restRange.from <= restRange.to; spanCount += 1) {
    const isLimitReached = spanCount >= SPANS_MAX || steadyNow() - startedAt > patienceMs;
    if (isLimitReached || (!hasKey && searchedWidth >= UNKEYED_BLOCKS_MAX * ORD_SPAN)) {
      return { ords, stoppedAtOrd: newestFirst ? restRange.to + 1 : restRange.from - 1 };
    }
    const span = newestFirst
      ? { from: Math.max(restRange.from, restRange.to - spanWidth + 1), to: restRange.to }
      : { from: restRange.from, to: Math.min(restRange.to, restRange.from + spanWidth - 1) };
    ords.push(...(await listOrds(span, ordsWanted - ords.length)));
    if (ords.length >= ordsWanted) break;
    restRange = newestFirst
      ? { from: restRange.from, to: span.from - 1 }
      : { from: span.to + 1, to: restRange.to };
    searchedWidth += spanWidth;
    if (hasKey) spanWidth *= SPAN_GROWTH;
  }
  return { ords, stoppedAtOrd: null };
}

/** The number of positions (`ord`) that should contain enough logs of the contracts, by their average frequency. */
async function firstSpanWidth(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  logsWanted: number,
): Promise<number> {
  if (filter.addresses.length === 0) return FIRST_BLOCKS * ORD_SPAN;
  const emitted = await sumEmitted(source, head, filter.addresses);
  if (emitted === null || emitted.logs <= FEW_LOGS) return Number.MAX_SAFE_INTEGER;
  const { logs, firstOrd, lastOrd } = emitted;
  return Math.max(FIRST_BLOCKS * ORD_SPAN, Math.ceil(((lastOrd - firstOrd) * logsWanted * 2) / logs));
}
