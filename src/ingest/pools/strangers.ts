/**
 * Remembers contracts that are no usable pools, so that their logs cause no more calls. A contract about which every
 * endpoint gave a malformed answer may still be a pool. It is asked again after a pause that doubles each time.
 */
import type { Hex } from '../../domain/hex';

/** Largest number of remembered contracts. Above this number, the memory is cleared. */
const STRANGERS_MAX = 200_000;
/** First and longest pause, in blocks. */
const PAUSE_MIN_BLOCKS = 16;
const PAUSE_MAX_BLOCKS = 16_384;

interface Pause {
  readonly until: number;
  readonly blocks: number;
}

export class Strangers {
  /** Null for a contract that is no pool. */
  private readonly pauses = new Map<Hex, Pause | null>();

  /** Returns whether the contract must not be asked about at this block. */
  isQuiet(contract: Hex, block: number): boolean {
    const pause = this.pauses.get(contract);
    return pause !== undefined && (pause === null || block < pause.until);
  }

  /** The contract is no usable pool. */
  add(contract: Hex): void {
    this.makeRoom();
    this.pauses.set(contract, null);
  }

  /** The contract may have become a pool. */
  forget(contract: Hex): void {
    this.pauses.delete(contract);
  }

  /** The answers about the contract were malformed at this block. */
  postpone(contract: Hex, block: number): void {
    this.makeRoom();
    const blocks = Math.min(
      PAUSE_MAX_BLOCKS,
      2 * (this.pauses.get(contract)?.blocks ?? PAUSE_MIN_BLOCKS / 2),
    );
    this.pauses.set(contract, { until: block + blocks, blocks });
  }

  private makeRoom(): void {
    if (this.pauses.size >= STRANGERS_MAX) this.pauses.clear();
  }
}
