/**
 * Fencing: a new session makes late writes of earlier sessions ineffective. After a timeout, or when its process has
 * died, a statement of an earlier session may still run and finish at any time.
 */
import type { StoredState, Store } from './store';

/**
 * Versions and range numbers start from the clock. So they exceed all numbers of earlier sessions, even those that
 * are not stored yet. The unit is 1/1,024 of a millisecond, which a float holds exactly until the year 2248.
 */
const COUNTS_PER_MS = 1_024;
/**
 * A late change of the head reaches at most this many blocks above the newest block. It is one step of 64 blocks, or
 * a branch about as long as the old branch.
 */
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
