/**
 * The head of the chain: the canonical blocks above the last final block, as the changes of the head (flips) leave them.
 * Pure. The ingester, the readers and the streams use the same rules.
 */
import type { BlockRef, ProofLevel } from '../block';
import { ZERO_HASH } from '../hex';

/** One canonical block above the final tables. */
export interface HeadBlock extends BlockRef {
  /** The commit of the block's rows in the *_head tables. */
  readonly commit: number;
  /** How far these rows are proven. Absent means `bloom`. */
  readonly proof?: ProofLevel;
}

/** One change of the head: blocks that become canonical, and heights that become empty. */
export interface HeadFlip<Fresh> {
  /** Number of the flip: one above the previous flip of the session. A new session takes its first number from
   * the clock, so it is above all earlier numbers. */
  readonly version: number;
  /** Last final block of the chain. */
  readonly finalNumber: number;
  /** Blocks whose rows are stored together with this flip, ascending. */
  readonly fresh: readonly Fresh[];
  /** All blocks that become canonical, ascending, including the blocks in `fresh`. */
  readonly canonical: readonly HeadBlock[];
  /** Heights above the new head that had a block before, including heights above a missing block. */
  readonly voided: readonly number[];
}

/** What a flip does to the canonical blocks. */
export type HeadMove = Pick<HeadFlip<unknown>, 'canonical' | 'voided'>;

interface Head {
  /** Canonical blocks, ascending, each the parent of the next, up to the first missing block. */
  readonly blocks: readonly HeadBlock[];
  /** Number of the highest canonical block, also above a missing block. Without blocks, the last final block. */
  readonly topNumber: number;
}

/** Applies a flip to the canonical blocks by number. */
export function applyMove(blockByHeight: Map<number, HeadBlock>, { canonical, voided }: HeadMove): void {
  for (const block of canonical) blockByHeight.set(block.number, block);
  for (const number of voided) blockByHeight.delete(number);
}

/** The head after these flips, oldest first. `cursor` is the last final block; a zero hash fits any block above it. */
export function foldHead(cursor: Pick<BlockRef, 'number' | 'hash'>, moves: Iterable<HeadMove>): Head {
  const blockByHeight = new Map<number, HeadBlock>();
  for (const move of moves) applyMove(blockByHeight, move);
  let topNumber = cursor.number;
  for (const number of blockByHeight.keys()) if (number > topNumber) topNumber = number;
  const blocks: HeadBlock[] = [];
  for (let number = cursor.number + 1, parentHash = cursor.hash; ; number += 1) {
    const block = blockByHeight.get(number);
    if (block === undefined || (block.parentHash !== parentHash && parentHash !== ZERO_HASH))
      return { blocks, topNumber };
    blocks.push(block);
    parentHash = block.hash;
  }
}
