/** The checks that make a block believable: order and completeness of its logs, its bloom, its link to its parent. */
import type { BlockRef, ChainLog } from '../../domain/block';
import { BLOOM_BYTES, bloomToHex, isEmptyBloom, type BloomBuilder } from './bloom';
import { BlockMismatch } from './blockMismatch';
import type { BlockHeader } from './parseBlock';

/**
 * Log indexes are 0…n−1 and do not go back in transactions. A log left out shows, for free, unless it is among the last.
 * @throws BlockMismatch `log_index`
 */
export function checkLogOrder(header: BlockHeader, logs: readonly ChainLog[]): void {
  let transactionIndex = 0;
  for (const [position, log] of logs.entries()) {
    if (log.logIndex !== position) {
      throw new BlockMismatch('log_index', header.number, `log ${position} has index ${log.logIndex}`);
    }
    if (log.transactionIndex < transactionIndex || log.transactionIndex >= header.transactionCount) {
      const what = `log ${position} is of transaction ${log.transactionIndex} after ${transactionIndex}`;
      throw new BlockMismatch('log_index', header.number, what);
    }
    transactionIndex = log.transactionIndex;
  }
}

/**
 * Rebuilds the bloom. `unfilled`: the header has none although there are logs, as on chains that do not fill it;
 * nothing can be said then.
 * @throws BlockMismatch `bloom` when a log was left out, added or altered.
 */
export function checkBloom(
  builder: BloomBuilder,
  header: BlockHeader,
  logs: readonly ChainLog[],
): 'equal' | 'unfilled' {
  if (header.logsBloom === null || isEmptyBloom(header.logsBloom)) {
    return logs.length === 0 ? 'equal' : 'unfilled';
  }
  if (bloomToHex(builder.build(logs)) === header.logsBloom) return 'equal';
  throw new BlockMismatch(
    'bloom',
    header.number,
    `${logs.length} logs do not make the ${8 * BLOOM_BYTES}-bit bloom`,
  );
}

/** @throws BlockMismatch `parent_link` unless `child` is the block right after `parent`. */
export function checkParentLink(parent: BlockRef, child: BlockRef): void {
  if (child.number !== parent.number + 1) {
    throw new BlockMismatch('parent_link', child.number, `it follows block ${parent.number}`);
  }
  if (child.parentHash !== parent.hash) {
    const what = `parent hash ${child.parentHash} is not ${parent.hash} of block ${parent.number}`;
    throw new BlockMismatch('parent_link', child.number, what);
  }
}

/** Every block of the list follows the one before it. @throws BlockMismatch `parent_link` */
export function checkLinks(blocks: readonly BlockRef[]): void {
  for (const [position, block] of blocks.entries()) {
    const parent = blocks[position - 1];
    if (parent !== undefined) checkParentLink(parent, block);
  }
}

/** The answer is for the block that was asked for. @throws BlockMismatch `block_identity` */
export function checkNumber(header: BlockHeader, asked: number): void {
  if (header.number === asked) return;
  throw new BlockMismatch('block_identity', header.number, `block ${asked} was asked for`);
}
