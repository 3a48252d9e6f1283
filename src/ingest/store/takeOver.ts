/**
 * How a session takes the store over from those before it. A statement that an earlier session gave up (its request timed
 * out, its process died) may be under way in the database yet and land at any time: it must then count for nothing.
 */
import type { StoredState, Store } from './store';

/**
 * A session counts its flips and ranges from the time it begins at: so whatever an earlier one left under way has a smaller
 * number, also where that was never seen stored. In 1024ths of a millisecond, which fit a float until the year 2248.
 */
const COUNTS_PER_MS = 1_024;
/** A flip reaches no further above the tip: 64 blocks of one step, or a whole branch that is about as long as the old one. */
const REACH_BLOCKS = 256;

export interface TakenOver {
  readonly stored: StoredState;
  /** Ranges of this session have larger numbers. */
  readonly seqFloor: number;
}

/**
 * Says anew, under a version beyond all that may come, what the head is and that nothing stands above it. `now`: unix ms, or
 * about so.
 */
export async function takeOver(store: Store, stored: StoredState, now: number): Promise<TakenOver> {
  const begun = Math.floor(now * COUNTS_PER_MS);
  const seqFloor = Math.max(stored.cursor.seq, begun);
  const version = Math.max(stored.version, begun) + 1;
  // Nothing was ever in the head: there is nothing to say anew.
  if (stored.version === 0) return { stored: { ...stored, version }, seqFloor };
  const tip = (stored.head.at(-1) ?? stored.cursor).number;
  const top = Math.max(stored.headMax, tip + REACH_BLOCKS);
  const voided = Array.from({ length: top - tip }, (_, index) => tip + 1 + index);
  const { head: canonical, finalNumber } = stored;
  await store.writeHead({ fresh: [], canonical, voided, version, finalNumber });
  return { stored: { ...stored, version, headMax: tip }, seqFloor };
}
