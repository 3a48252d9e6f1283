/** Verifies blocks: order and completeness of logs, the bloom, and parent links. */
import type { BlockRef, ChainLog } from '../../domain/block';
import { BLOOM_BYTES, bloomToHex, isEmptyBloom, type BloomBuilder } from './bloom';
import { BlockMismatch } from './blockMismatch';
import type { BlockHeader } from './parseBlock';

/**
 * Checks that log indexes are 0…n−1 and follow the transaction order. Detects every missing log except at the
 * end of the block.
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
 * Rebuilds the bloom. `unfilled`: the header's bloom is empty although there are logs, as on chains that
 * leave blooms empty, so the check proves nothing.
 * @throws BlockMismatch `bloom` if a log is missing, added or changed.
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

/** @throws BlockMismatch `parent_link` unless `child` directly follows `parent`. */
export function checkParentLink(parent: BlockRef, child: BlockRef): void {
  if (child.number !== parent.number + 1) {
    throw new BlockMismatch('parent_link', child.number, `it follows block ${parent.number}`);
  }
  if (child.parentHash !== parent.hash) {
    const what = `parent hash ${child.parentHash} is not ${parent.hash} of block ${parent.number}`;
    throw new BlockMismatch('parent_link', child.number, what);
  }
}

/** Checks that each block follows the previous one. @throws BlockMismatch `parent_link` */
export function checkLinks(blocks: readonly BlockRef[]): void {
  for (const [position, block] of blocks.entries()) {
    const parent = blocks[position - 1];
    if (parent !== undefined) checkParentLink(parent, block);
  }
}

/** Checks that the answer is for the requested block. @throws BlockMismatch `block_identity` */
export function checkNumber(header: BlockHeader, asked: number): void {
  if (header.number === asked) return;
  throw new BlockMismatch('block_identity', header.number, `block ${asked} was asked for`);
}
