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
const GROWTH = 8;
const WINDOWS_MAX = 24;
/**
 * Largest number of blocks per call for a filter without address and topic0, because every log of these blocks must
 * be read.
 */
const UNKEYED_BLOCKS = 10_000;
const UNKEYED_STEP = 1_000;
/** Contracts with at most this many logs are read in one span. */
const FEW_LOGS = 50_000;

export interface SpanSearch {
  readonly newestFirst: boolean;
  readonly wanted: number;
  /** Time in ms after which no new span starts; default `TIME_BUDGETS.logSearchMs`. */
  readonly patienceMs?: number;
}

export async function searchSpans(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange,
  { newestFirst, wanted, patienceMs = TIME_BUDGETS.logSearchMs }: SpanSearch,
  list: (span: OrdRange, limit: number) => Promise<number[]>,
): Promise<{ ords: number[]; cutAt: number | null }> {
  const keyed = filter.addresses.length > 0 || filter.topics[0].length > 0;
  const started = steadyNow();
  const ords: number[] = [];
  let rest = range;
  let width = keyed ? await firstSpan(source, head, filter, wanted) : UNKEYED_STEP * ORD_SPAN;
  let searched = 0;
  for (let turn = 0; rest.from <= rest.to; turn += 1) {
    const late = turn >= WINDOWS_MAX || steadyNow() - started > patienceMs;
    if (late || (!keyed && searched >= UNKEYED_BLOCKS * ORD_SPAN)) {
      return { ords, cutAt: newestFirst ? rest.to + 1 : rest.from - 1 };
    }
    const span = newestFirst
      ? { from: Math.max(rest.from, rest.to - width + 1), to: rest.to }
      : { from: rest.from, to: Math.min(rest.to, rest.from + width - 1) };
    ords.push(...(await list(span, wanted - ords.length)));
    if (ords.length >= wanted) break;
    rest = newestFirst ? { from: rest.from, to: span.from - 1 } : { from: span.to + 1, to: rest.to };
    searched += width;
    if (keyed) width *= GROWTH;
  }
  return { ords, cutAt: null };
}

/** The number of positions (`ord`) that should contain enough logs of the contracts, by their average frequency. */
async function firstSpan(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  wanted: number,
): Promise<number> {
  if (filter.addresses.length === 0) return FIRST_BLOCKS * ORD_SPAN;
  const emitted = await sumEmitted(source, head, filter.addresses);
  if (emitted === null || emitted.logs <= FEW_LOGS) return Number.MAX_SAFE_INTEGER;
  const { logs, firstOrd, lastOrd } = emitted;
  return Math.max(FIRST_BLOCKS * ORD_SPAN, Math.ceil(((lastOrd - firstOrd) * wanted * 2) / logs));
}
