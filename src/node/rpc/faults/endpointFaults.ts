/** Remembers what went wrong last at one endpoint, in texts that stay the same while the fault lasts. */
import { keepText } from '../../../errors';
import type { RpcError } from '../rpcError';

/**
 * - `silent`: The node gives no answer, or the connection fails.
 * - `wrong`: The answers are no valid JSON-RPC answers to the calls, or fail verification.
 * - `refused`: The node refuses access, for example with HTTP 401 or 403.
 * - `limited`: The node refuses calls because of a rate limit.
 * - `failing`: The node answers each call with an error.
 */
export type FaultKind = 'silent' | 'wrong' | 'refused' | 'limited' | 'failing';

export interface FaultFacts {
  /** Text of the last failure. Stays the same while calls fail in the same way. */
  readonly lastError: string | null;
  /** Kind of the last failure. Null before the first failure, and after each good answer. */
  readonly fault: FaultKind | null;
  /** Why the endpoint was benched last: block, field and both values. Null if it never was. */
  readonly lastWrongAnswer: string | null;
  /** The same, but stays the same while answers are wrong in the same way. */
  readonly wrongAnswerText: string | null;
  /** Time of the last wrong answer, in ms of the clock. Null if there was none. */
  readonly lastWrongAt: number | null;
}

export class EndpointFaults {
  private lastFacts: FaultFacts = {
    lastError: null,
    fault: null,
    lastWrongAnswer: null,
    wrongAnswerText: null,
    lastWrongAt: null,
  };

  get facts(): FaultFacts {
    return this.lastFacts;
  }

  noteGood(): void {
    if (this.lastFacts.fault !== null) this.lastFacts = { ...this.lastFacts, fault: null };
  }

  noteFailure(error: RpcError): void {
    const lastError = keepText(this.lastFacts.lastError, error.message);
    this.lastFacts = { ...this.lastFacts, lastError, fault: faultKindOf(error) };
  }

  /** Records an answer that failed verification. `now` is the time in ms of the clock. */
  noteWrongAnswer(reason: string, now: number): void {
    this.lastFacts = {
      lastError: keepText(this.lastFacts.lastError, reason),
      fault: 'wrong',
      lastWrongAnswer: reason,
      wrongAnswerText: keepText(this.lastFacts.wrongAnswerText, reason),
      lastWrongAt: now,
    };
  }
}

export function faultKindOf({ kind, httpStatus }: Pick<RpcError, 'kind' | 'httpStatus'>): FaultKind {
  if (kind === 'bad_answer') return 'wrong';
  if (kind === 'refused') return 'refused';
  if (kind === 'rate_limited') return 'limited';
  // A node or a proxy that answers HTTP 503 or 504 does answer.
  return (kind === 'network' || kind === 'timeout') && httpStatus === null ? 'silent' : 'failing';
}
