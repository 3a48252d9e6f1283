/** The error for a chain that would remove a final block: a reorg beyond finality, or another chain. */
import { AppError } from '../../errors';

/**
 * A broken invariant if it persists. A lagging node, or several nodes behind one address, may still show an
 * abandoned branch. So the writer retries for a while before it stops.
 */
export class BeyondFinality extends AppError {
  constructor(message: string) {
    super('broken_invariant', message);
    this.name = 'BeyondFinality';
  }
}
