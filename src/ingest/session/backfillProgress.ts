/** How far a backfill is, for /readyz. Pure. */
import type { IngestStatus } from './status';

interface BackfillProgress {
  /** First and last block of the range that is being stored. */
  readonly from_block: number;
  readonly to_block: number;
  /** Stored part of the range, 0 to 100. */
  readonly done_pct: number;
  /** Time until the end at the pace so far; null before the first stored block. */
  readonly seconds_left: number | null;
}

/** A shorter range is no backfill: an ingester that follows the head stores it within moments. */
const BLOCKS_MIN = 100;

/** The backfill that is running; null if there is none. `now` is the time in ms of the ingester's clock. */
export function backfillProgress({ work, indexed }: IngestStatus, now: number): BackfillProgress | null {
  const range = work.get('catch_up');
  if (range === undefined) return null;
  const { from, to, since } = range;
  const blocks = to - from + 1;
  if (blocks < BLOCKS_MIN) return null;
  const doneBlocks = Math.min(blocks, Math.max(0, (indexed ?? 0) - from + 1));
  const secondsLeft =
    doneBlocks === 0 ? null : Math.ceil(((now - since) / 1000) * ((blocks - doneBlocks) / doneBlocks));
  return {
    from_block: from,
    to_block: to,
    done_pct: Math.floor((doneBlocks / blocks) * 1000) / 10,
    seconds_left: secondsLeft,
  };
}
