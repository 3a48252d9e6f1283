/**
 * The error for a node whose chain does not contain our last final block. The cause is a reorg beyond finality, or
 * another chain.
 */
import type { BlockRef } from '../../domain/block';
import { AppError } from '../../errors';

type Position = Pick<BlockRef, 'number' | 'hash'>;

/**
 * If the error persists, an invariant is broken. A node that is behind may still show an abandoned branch, as may one
 * of several nodes at the same URL. So the writer retries for some time before it stops.
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
