/**
 * Checks that the node's blocks continue the stored chain. If they do not, there are three possible reasons:
 * nodes disagree for a moment, a reorg replaced final blocks, or the node serves another chain.
 */
import { BeyondFinality } from '../../node/head/follower';
import type { BlockSource } from '../../node/blocks/blockSource';
import type { BlockRef, ChainBlock } from '../../domain/block';
import { AppError } from '../../errors';
import type { Cursor } from '../store/store';

type Position = Pick<BlockRef, 'number' | 'hash'>;

/**
 * Largest expected length of an abandoned branch, in blocks. A block that is farther below the node's final
 * block is not checked to be an ancestor.
 */
const BRANCH_BLOCKS_MAX = 1_000;

/**
 * The error for a block whose parent hash does not match the block before. Two nodes disagree, or the chain
 * changed. The error is retryable, because the next session checks again.
 */
export function unlinked(parent: Position, block: BlockRef): AppError {
  return new AppError(
    'node_failed',
    `block ${block.number} ${block.hash} has the parent ${block.parentHash}, but block ${parent.number} is ${parent.hash}`,
  );
}

/** Throws broken_invariant if no node has the last final block that is stored. */
export async function checkSameChain(
  source: BlockSource,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<void> {
  const header = await source.fetchHeader(cursor.number, { signal });
  if (header.hash === cursor.hash) return;
  // One node may be wrong, so all other nodes are asked too.
  const { number, hash, timestamp } = cursor;
  const isCanonical = await source.confirmCanonical({ number, hash, parentHash: hash, timestamp }, signal);
  if (!isCanonical) throw new BeyondFinality(cursor, header);
}

/**
 * Checks that the last block of a range is an ancestor of `final`, a final block. Otherwise the range could come
 * from an abandoned branch: a node may be behind, or several nodes may share a URL. Throws a retryable error if
 * the block is not an ancestor.
 */
export async function checkAncestor(
  source: BlockSource,
  last: Position,
  final: Position,
  signal: AbortSignal,
): Promise<void> {
  if (final.number - last.number >= BRANCH_BLOCKS_MAX) return;
  const headers = await source.fetchHeaders(last.number, final.number, { signal });
  const [firstHeader] = headers;
  if (firstHeader?.hash === last.hash && headers.at(-1)?.hash === final.hash) return;
  throw new AppError(
    'node_failed',
    `block ${last.number} ${last.hash} is not final: it is not an ancestor of block ${final.number} ${final.hash}`,
  );
}

/**
 * Compares all senders of head blocks with their signatures, because readers see these blocks before other endpoints have
 * confirmed them. In a backfill, this would take longer than everything else. Rejects if one differs.
 */
export async function checkHeadSenders(
  source: Pick<BlockSource, 'checkSenders'>,
  blocks: readonly ChainBlock[],
): Promise<void> {
  for (const block of blocks) await source.checkSenders(block, new Set(block.transactions.keys()));
}
