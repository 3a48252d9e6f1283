/**
 * The canonical chain above the last final block, as a pure state machine without I/O and clock. syncToHead.ts finds
 * reorgs by comparing the node's headers with this chain.
 */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';

type Position = Pick<BlockRef, 'number' | 'hash'>;

/**
 * The node's chain does not contain the last final block that we stored. Either a reorg replaced final blocks, or the
 * node serves another chain. The error may pass: a node that is behind may still show an abandoned branch, and one of several nodes at the
 * same URL may be wrong. So the writer retries for some time before it stops. If the error persists, the stored
 * chain is broken.
 */
export class BeyondFinality extends AppError {
  constructor(final: Position, node: Position) {
    super(
      'broken_invariant',
      `the node's chain does not contain block ${final.number} ${final.hash}, which is final ` +
        `(the node has block ${node.number} ${node.hash}). The cause is a reorg beyond finality or a node of another chain`,
    );
    this.name = 'BeyondFinality';
  }
}

export class HeadFollower {
  private lastFinal: BlockRef;
  /** The canonical blocks above the base, ascending, each the parent of the next. */
  private chain: BlockRef[] = [];

  /**
   * @param base the last final block
   * @param unfinalised the stored blocks above it, ascending
   * @param unfinalisedMax largest number of blocks above the last final block; the oldest become final beyond it
   * @throws AppError `broken_invariant` if the blocks do not link
   */
  constructor(
    base: BlockRef,
    unfinalised: readonly BlockRef[] = [],
    private readonly unfinalisedMax = Infinity,
  ) {
    this.lastFinal = toRef(base);
    for (const block of unfinalised) {
      const expectedNumber = this.tip.number + 1;
      this.advance(block);
      if (this.tip.number === expectedNumber && this.tip.hash === block.hash) continue;
      throw new AppError(
        'broken_invariant',
        `stored block ${block.number} ${block.hash} is not a child of the stored block before it`,
      );
    }
  }

  /** The last final block. */
  get base(): BlockRef {
    return this.lastFinal;
  }

  /** The newest canonical block; the base if no block is above it. */
  get tip(): BlockRef {
    return this.chain.at(-1) ?? this.lastFinal;
  }

  /** The canonical blocks above the base, ascending. */
  get unfinalised(): readonly BlockRef[] {
    return this.chain;
  }

  /**
   * The canonical block with this number, if the number is between the last final and the newest block;
   * otherwise null.
   */
  blockAt(number: number): BlockRef | null {
    if (number === this.lastFinal.number) return this.lastFinal;
    return this.chain[number - this.lastFinal.number - 1] ?? null;
  }

  /**
   * Makes a block the newest one and removes the blocks above its parent. Ignores a block that is canonical already, is
   * below the last final block, or has a parent that is not canonical here.
   * @throws AppError `broken_invariant` naming both hashes if the block contradicts the last final block.
   */
  advance(candidate: BlockRef): void {
    if (candidate.number < this.lastFinal.number) return;
    if (this.blockAt(candidate.number)?.hash === candidate.hash) return;
    if (candidate.number === this.lastFinal.number) throw new BeyondFinality(this.lastFinal, candidate);
    const parent = this.blockAt(candidate.number - 1);
    if (parent === null) return;
    if (parent.hash !== candidate.parentHash) {
      if (parent.number === this.lastFinal.number) throw new BeyondFinality(this.lastFinal, candidate);
      return;
    }
    this.chain.splice(parent.number - this.lastFinal.number);
    this.chain.push(toRef(candidate));
    if (this.chain.length > this.unfinalisedMax) this.finalise(candidate.number - this.unfinalisedMax);
  }

  /**
   * Makes the blocks up to `number` final, but none above the newest block. If our block `number` has another
   * hash than `hash`, a different branch is final, and this call does nothing.
   */
  finalise(number: number, hash: Hex | null = null): void {
    if (hash !== null && this.blockAt(number)?.hash !== hash) return;
    const newFinal = this.blockAt(Math.min(number, this.tip.number));
    if (newFinal === null || newFinal.number <= this.lastFinal.number) return;
    this.chain.splice(0, newFinal.number - this.lastFinal.number);
    this.lastFinal = newFinal;
  }
}

/** Copies only the number and hashes, so that whole blocks are not kept in memory. */
function toRef({ number, hash, parentHash, timestamp }: BlockRef): BlockRef {
  return { number, hash, parentHash, timestamp };
}
