/** The error of a chain that would take back a final block: no data of it can be right. */
import { AppError } from '../../errors';

/**
 * A broken invariant, if it lasts. Nodes behind one address answer from different moments, and one that lags may still
 * show a branch that was given up: so the writer asks for a while before it believes this.
 */
export class BeyondFinality extends AppError {
  constructor(message: string) {
    super('broken_invariant', message);
    this.name = 'BeyondFinality';
  }
}
