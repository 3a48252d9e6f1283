/**
 * The error for a node whose chain does not contain the last final block that we stored. Either a reorg
 * replaced final blocks, or the node serves another chain.
 */
import type { BlockRef } from '../../domain/block';
import { AppError } from '../../errors';

type Position = Pick<BlockRef, 'number' | 'hash'>;

/**
 * The error may pass: a node that is behind may still show an abandoned branch, and one of several nodes at the
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
