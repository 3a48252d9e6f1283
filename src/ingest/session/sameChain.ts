/** What it means when the node's blocks do not go on from the stored ones: a passing muddle, or another chain. */
import { BeyondFinality } from '../../chain/head/beyondFinality';
import type { BlockSource } from '../../chain/blocks/blockSource';
import type { BlockRef } from '../../domain/block';
import { AppError } from '../../errors';
import type { Cursor } from '../store/store';

type Position = Pick<BlockRef, 'number' | 'hash'>;

/** A branch that was given up is not longer than this: blocks so far below the head need no proof of their own. */
const PROOF_BLOCKS_MAX = 1_000;

/** Chunks that do not link: two nodes disagree, or the chain moved. The next session finds out which. */
export function unlinked(parent: Position, block: BlockRef): AppError {
  return new AppError(
    'node_failed',
    `block ${block.number} ${block.hash} names ${block.parentHash} as its parent, not ${parent.hash} at ${parent.number}`,
  );
}

/** The stored final block is not in the node's chain: nothing that the writer could do is right. */
export function beyondFinality(stored: Position, node: Position): AppError {
  return new BeyondFinality(
    `the node's chain does not contain block ${stored.number} ${stored.hash}, which is stored as final ` +
      `(the node has ${node.hash} at ${node.number}): a reorg beyond finality, or another chain; the writer stops`,
  );
}

/** Throws broken_invariant when no node has the stored final block any more. */
export async function checkSameChain(
  source: BlockSource,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<void> {
  const header = await source.fetchHeader(cursor.number, { signal });
  if (header.hash === cursor.hash) return;
  // One node of several may be wrong; only when none has the stored block is it gone.
  const { number, hash, timestamp } = cursor;
  const held = await source.confirmCanonical({ number, hash, parentHash: hash, timestamp }, signal);
  if (!held) throw beyondFinality(cursor, header);
}

/**
 * Proves that the last block of a range on its way into the final tables lies under the block by which it is final. A node
 * that lags, alone or behind an address that it shares, may have given the range from a branch that was given up since.
 * Throws, retryably, where it does not.
 */
export async function proveFinal(
  source: BlockSource,
  last: Position,
  proof: Position,
  signal: AbortSignal,
): Promise<void> {
  if (proof.number - last.number >= PROOF_BLOCKS_MAX) return;
  const headers = await source.fetchHeaders(last.number, proof.number, { signal });
  const [first] = headers;
  if (first?.hash === last.hash && headers.at(-1)?.hash === proof.hash) return;
  throw new AppError(
    'node_failed',
    `block ${last.number} ${last.hash} was to be final and does not lie under block ${proof.number} ${proof.hash}`,
  );
}
