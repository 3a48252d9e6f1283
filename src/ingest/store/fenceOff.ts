/**
 * Fencing: a new session makes late statements of earlier sessions ineffective. A statement of a session that
 * timed out or died may still be running and may finish at any time. `writerClaim.ts` stops an older writer
 * that is still alive.
 */
import type { StoredState, Store } from './store';

/**
 * A late change of the head reaches at most this many blocks above the newest block. One change adds 64 blocks,
 * or a branch about as long as the branch that it replaces.
 */
const REACH_BLOCKS = 256;

/** The values with which a session starts after fencing off earlier sessions. */
export interface Fenced {
  readonly stored: StoredState;
  /** The range numbers of this session are larger than this number. */
  readonly seqFloor: number;
}

/**
 * Publishes the head again under a version newer than any statement that may still be running, and marks the
 * heights above the head as empty. `usedMax` comes from `Store.claim`: earlier sessions used no larger number.
 */
export async function fenceOff(store: Store, stored: StoredState, usedMax: number): Promise<Fenced> {
  const seqFloor = Math.max(stored.cursor.seq, usedMax);
  const version = Math.max(stored.version, usedMax) + 1;
  // The head was never written, so there is no head to publish again.
  if (stored.version === 0) return { stored: { ...stored, version }, seqFloor };
  const tip = (stored.head.at(-1) ?? stored.cursor).number;
  const top = Math.max(stored.headMax, tip + REACH_BLOCKS);
  const voided = Array.from({ length: top - tip }, (_, index) => tip + 1 + index);
  const { head: canonical, finalNumber } = stored;
  await store.writeHead({ fresh: [], canonical, voided, version, finalNumber });
  return { stored: { ...stored, version, headMax: tip }, seqFloor };
}
