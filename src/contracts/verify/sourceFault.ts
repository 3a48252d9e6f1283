/** The reason why sources cannot be verified, for clients that compare codes. */
import type { VerificationFault } from '../../domain/verification';
import { AppError } from '../../errors';

export class SourceFault extends AppError {
  constructor(
    readonly fault: VerificationFault,
    message: string,
  ) {
    super('bad_request', message);
  }
}
