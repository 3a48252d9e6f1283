/**
 * Fencing: a new writer makes the older writer ineffective. After a timeout, or when its process has died, a
 * statement of an earlier session may still run and finish at any time. A new session makes such a late
 * statement ineffective.
 */
import type { StoredState, Store } from './store';

/**
 * Versions and range numbers start from the clock, so they exceed all numbers of earlier sessions, even
 * numbers not stored yet. The unit is 1/1,024 of a millisecond, which fits a float until the year 2248.
 */
const COUNTS_PER_MS = 1_024;
/** How far above the newest block a late change of the head can reach: 64 blocks of one step, or a branch
 * about as long as the old branch. */
const REACH_BLOCKS = 256;

/** The numbers from which a session starts after it has fenced off earlier sessions. */
export interface Fenced {
  readonly stored: StoredState;
  /** Range numbers of this session are larger than this number. */
  readonly seqFloor: number;
}

/**
 * Publishes the head again under a version newer than any write still in flight, and marks the heights above
 * the head as empty. `now` is approximate unix time in ms.
 */
export async function fenceOff(store: Store, stored: StoredState, now: number): Promise<Fenced> {
  const begun = Math.floor(now * COUNTS_PER_MS);
  const seqFloor = Math.max(stored.cursor.seq, begun);
  const version = Math.max(stored.version, begun) + 1;
  // The head was never written, so there is no head to publish again.
  if (stored.version === 0) return { stored: { ...stored, version }, seqFloor };
  const tip = (stored.head.at(-1) ?? stored.cursor).number;
  const top = Math.max(stored.headMax, tip + REACH_BLOCKS);
  const voided = Array.from({ length: top - tip }, (_, index) => tip + 1 + index);
  const { head: canonical, finalNumber } = stored;
  await store.writeHead({ fresh: [], canonical, voided, version, finalNumber });
  return { stored: { ...stored, version, headMax: tip }, seqFloor };
}
