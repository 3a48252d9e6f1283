/**
 * The canonical chain above the last final block, as a pure state machine: it is told of headers and answers what
 * they mean. No I/O, no clock; who fetches and who stores stand outside.
 */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { BeyondFinality } from './beyondFinality';

/**
 * - `append`: the candidate follows the tip; it is the tip now
 * - `reorg`: it follows an older block; those above `forkNumber` are no longer canonical, it is the tip now
 * - `known`: it is canonical already (a repeated head, or the head of a node that lags); nothing moved
 * - `unlinked`: its parent is not ours (a gap, or a fork that began earlier); nothing moved
 */
export type FollowerAnswer =
  | { readonly kind: 'append' }
  | { readonly kind: 'reorg'; readonly forkNumber: number; readonly removed: readonly BlockRef[] }
  | { readonly kind: 'known' }
  | { readonly kind: 'unlinked' };

export interface Finalisation {
  readonly kind: 'finalise';
  /** The new last final block. */
  readonly upTo: BlockRef;
  /** The blocks that became final, ascending. */
  readonly blocks: readonly BlockRef[];
}

/** More unfinalised blocks than this mean that finality does not advance; the caller hears of it by an error. */
const UNFINALISED_MAX = 100_000;

export class HeadFollower {
  #base: BlockRef;
  /** Linked, ascending, the first on the base. */
  #chain: BlockRef[] = [];

  /**
   * @param base the last final block
   * @param unfinalised what is stored above it, ascending
   * @throws AppError `broken_invariant` when these do not link
   */
  constructor(base: BlockRef, unfinalised: readonly BlockRef[] = []) {
    this.#base = toRef(base);
    for (const block of unfinalised) {
      if (this.advance(block).kind === 'append') continue;
      throw new AppError(
        'broken_invariant',
        `stored block ${block.number} ${block.hash} does not follow the one before`,
      );
    }
  }

  /** The last final block. */
  get base(): BlockRef {
    return this.#base;
  }

  /** The newest canonical block: the base when nothing is above it. */
  get tip(): BlockRef {
    return this.#chain.at(-1) ?? this.#base;
  }

  /** The canonical blocks above the base, ascending. */
  get unfinalised(): readonly BlockRef[] {
    return this.#chain;
  }

  /** The canonical block of that number, from the base to the tip; null elsewhere. */
  blockAt(number: number): BlockRef | null {
    if (number === this.#base.number) return this.#base;
    return this.#chain[number - this.#base.number - 1] ?? null;
  }

  /**
   * Takes one header in.
   * @throws AppError `broken_invariant` naming both hashes when it contradicts the last final block. A header below
   * the base says nothing and is `known`.
   */
  advance(candidate: BlockRef): FollowerAnswer {
    if (candidate.number < this.#base.number) return { kind: 'known' };
    const ours = this.blockAt(candidate.number);
    if (ours?.hash === candidate.hash) return { kind: 'known' };
    if (candidate.number === this.#base.number) throw beyondFinality(this.#base, candidate);
    const parent = this.blockAt(candidate.number - 1);
    if (parent === null) return { kind: 'unlinked' };
    if (parent.hash !== candidate.parentHash) {
      if (parent.number === this.#base.number) throw beyondFinality(this.#base, candidate);
      return { kind: 'unlinked' };
    }
    if (this.#chain.length >= UNFINALISED_MAX) {
      throw new AppError(
        'broken_invariant',
        `${UNFINALISED_MAX} blocks above final block ${this.#base.number}`,
      );
    }
    const removed = this.#chain.splice(parent.number - this.#base.number);
    this.#chain.push(toRef(candidate));
    return removed.length === 0 ? { kind: 'append' } : { kind: 'reorg', forkNumber: parent.number, removed };
  }

  /**
   * Makes the blocks up to `number` final (at most up to the tip). null when nothing becomes final, also when `hash`
   * is given and is not that of our block `number`: our branch may not be the one that is final, finality waits.
   */
  finalise(number: number, hash: Hex | null = null): Finalisation | null {
    if (hash !== null && this.blockAt(number)?.hash !== hash) return null;
    const upTo = this.blockAt(Math.min(number, this.tip.number));
    if (upTo === null || upTo.number <= this.#base.number) return null;
    const blocks = this.#chain.splice(0, upTo.number - this.#base.number);
    this.#base = upTo;
    return { kind: 'finalise', upTo, blocks };
  }
}

/** The error of a chain that would take back a final block. The writer stops on it, if it lasts. */
export function beyondFinality(base: BlockRef, other: BlockRef): AppError {
  const theirs = `the node's chain with block ${other.number} ${other.hash}`;
  return new BeyondFinality(`${theirs} contradicts final block ${base.number} ${base.hash}`);
}

/** The link alone, so that the chain does not hold whole blocks in memory. */
function toRef({ number, hash, parentHash, timestamp }: BlockRef): BlockRef {
  return { number, hash, parentHash, timestamp };
}
