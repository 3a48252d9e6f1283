/**
 * Tells that the newest indexed block is old for its chain, in a process that does not see why the ingester stores no
 * newer one. Pure.
 */
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { ReadyProblem } from '../../wire/ready';

/** The head counts as late after this many mean block times, but within these limits in seconds. */
const SPACINGS_OF_LATE = 4;
const LATE_MIN_S = 30;
const LATE_MAX_S = 300;
/** Number of the newest blocks from which the mean block time is computed, at least and at most. */
const BLOCKS_MIN = 3;
const BLOCKS_MAX = 64;

/** The problem `head_late`, or nothing. `ageSeconds` is the age of the head. */
export function listLateHead(head: HeadSnapshot | null, ageSeconds: number | null): ReadyProblem[] {
  const spacing = head === null ? null : meanSpacing(head);
  if (spacing === null || ageSeconds === null) return [];
  if (ageSeconds <= Math.min(LATE_MAX_S, Math.max(LATE_MIN_S, SPACINGS_OF_LATE * spacing))) return [];
  const figures = { block_number: head?.number ?? 0, block_seconds: spacing };
  const message = 'The newest indexed block is older than usual for this chain';
  return [{ code: 'head_late', message, age_seconds: ageSeconds, figures }];
}

/** Mean time in seconds between the newest blocks, with one decimal place; null if too few blocks are known. */
export function meanSpacing({ blocks }: HeadSnapshot): number | null {
  const newest = blocks.slice(-BLOCKS_MAX);
  const [first] = newest;
  const last = newest.at(-1);
  if (first === undefined || last === undefined || newest.length < BLOCKS_MIN) return null;
  return Math.round(((last.timestamp - first.timestamp) / (newest.length - 1)) * 10) / 10;
}
