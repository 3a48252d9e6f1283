/** Computes which whole hours of a time window can come from rollups of final rows. Pure. */
import { slotOf } from './chartSeries';

export const HOUR_SECONDS = 3_600;

/** Whole hours from `from` (included) to `to` (excluded), unix seconds; empty if both are equal. */
export interface WholeHours {
  /** The first full hour after the start of the window. */
  readonly from: number;
  readonly to: number;
}

/**
 * The hours of (since, until] that end before the last final block, at `finalTime` (null: no final block). Later hours
 * may still grow, and rollups may hold more of their swaps than the snapshot.
 */
export function wholeHours(since: number, until: number, finalTime: number | null): WholeHours {
  const from = slotOf(since, HOUR_SECONDS) + HOUR_SECONDS;
  const to = slotOf(Math.min(until + 1, finalTime ?? 0), HOUR_SECONDS);
  return { from, to: Math.max(from, to) };
}
