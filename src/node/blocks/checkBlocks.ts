/** Verifies blocks: order and completeness of logs, parent links, and timestamps. */
import type { BlockRef, ChainLog } from '../../domain/block';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { BlockMismatch } from './blockMismatch';
import type { BlockHeader } from './parseBlock';

/**
 * Checks that log indexes are 0…n−1 and follow the transaction order. Logs of the block itself may be anywhere. The check detects every missing log,
 * except logs missing at the end of the block. @throws BlockMismatch `log_index`
 */
export function checkLogOrder(header: BlockHeader, logs: readonly ChainLog[]): void {
  let transactionIndex = 0;
  let position = -1;
  for (const log of logs) {
    position += 1;
    if (log.logIndex !== position) {
      throw new BlockMismatch(
        'log_index',
        header.number,
        `the log at position ${position} has the logIndex ${log.logIndex}`,
      );
    }
    if (log.transactionHash === ZERO_HASH) continue;
    if (log.transactionIndex < transactionIndex || log.transactionIndex >= header.transactionCount) {
      const allowed = `${transactionIndex} to ${header.transactionCount - 1}`;
      const what = `log ${position} has the transactionIndex ${log.transactionIndex}; allowed: ${allowed}`;
      throw new BlockMismatch('log_index', header.number, what);
    }
    transactionIndex = log.transactionIndex;
  }
}

/**
 * @throws BlockMismatch `parent_link` if `child` does not directly follow `parent`; `timestamp` if `child` is
 * older.
 */
function checkParentLink(parent: BlockRef, child: BlockRef): void {
  if (child.number !== parent.number + 1) {
    throw new BlockMismatch(
      'parent_link',
      child.number,
      `the block before it is ${parent.number}, expected ${child.number - 1}`,
    );
  }
  if (child.parentHash !== parent.hash) {
    const what = `the parentHash is ${child.parentHash}, but block ${parent.number} has the hash ${parent.hash}`;
    throw new BlockMismatch('parent_link', child.number, what);
  }
  checkOrder(child, parent.timestamp);
}

/** @throws BlockMismatch `timestamp` if the block is older than `notBefore`, the time of its parent in unix seconds. */
function checkOrder({ number, timestamp }: BlockRef, notBefore: number): void {
  if (timestamp >= notBefore) return;
  const what = `the timestamp is ${timestamp}, before its parent's ${notBefore}`;
  throw new BlockMismatch('timestamp', number, what);
}

/** Largest time by which a block may be in the future, in seconds. */
const FUTURE_SECONDS_MAX = 900;

/**
 * @throws BlockMismatch `timestamp` if the block is more than 15 minutes later than `now`, in unix seconds.
 */
export function checkFuture(
  { number, timestamp }: Pick<BlockRef, 'number' | 'timestamp'>,
  now: number,
): void {
  if (timestamp <= now + FUTURE_SECONDS_MAX) return;
  const what = `the timestamp is ${timestamp}, ${Math.round(timestamp - now)} s in the future; allowed: ${FUTURE_SECONDS_MAX} s`;
  throw new BlockMismatch('timestamp', number, what);
}

/**
 * Checks that each block is the child of the previous one. @throws BlockMismatch `parent_link`, `timestamp`
 */
export function checkLinks(blocks: readonly BlockRef[]): void {
  for (const [position, block] of blocks.entries()) {
    const parent = blocks[position - 1];
    if (parent !== undefined) checkParentLink(parent, block);
  }
}

/** What is known about the block before a requested range. The blocks of the range must follow it. */
export interface PieceBounds {
  readonly from: number;
  readonly to: number;
  /** Time of the block before `from`, unix seconds. */
  readonly notBefore: number;
  /** Hash of the block before `from`, if it is known. */
  readonly parent: Hex | undefined;
}

/**
 * Checks that each block is the child of the previous one, and the first block the child of the block before the
 * range. @throws BlockMismatch `parent_link`, `timestamp`
 */
export function checkPiece(
  blocks: readonly BlockRef[],
  { notBefore, parent }: Pick<PieceBounds, 'notBefore' | 'parent'>,
): void {
  checkLinks(blocks);
  const [first] = blocks;
  if (first === undefined) return;
  checkOrder(first, notBefore);
  if (parent === undefined || first.parentHash === parent) return;
  const what = `the parentHash is ${first.parentHash}, but block ${first.number - 1} has the hash ${parent}`;
  throw new BlockMismatch('parent_link', first.number, what);
}

/** Checks that the answer is for the requested block. @throws BlockMismatch `block_identity` */
export function checkNumber(header: BlockHeader, requested: number): void {
  if (header.number === requested) return;
  throw new BlockMismatch('block_identity', header.number, `the request was for block ${requested}`);
}
