/** Remembers what went wrong last at one endpoint, in texts that stay the same while the fault lasts. */
import { keepText } from '../../errors';

export interface FaultFacts {
  /** Text of the last failure. Stays the same while calls fail in the same way. */
  readonly lastError: string | null;
  /** Why the endpoint was benched last: block, field and both values. Null if it never was. */
  readonly lastWrongAnswer: string | null;
  /** The same, but stays the same while answers are wrong in the same way. */
  readonly wrongAnswerText: string | null;
  /** Time of the last wrong answer, in ms of the clock. Null if there was none. */
  readonly lastWrongAt: number | null;
}

export class EndpointFaults {
  private known: FaultFacts = {
    lastError: null,
    lastWrongAnswer: null,
    wrongAnswerText: null,
    lastWrongAt: null,
  };

  get facts(): FaultFacts {
    return this.known;
  }

  noteFailure(text: string): void {
    this.known = { ...this.known, lastError: keepText(this.known.lastError, text) };
  }

  /** Records an answer that failed verification. `now` is the time in ms of the clock. */
  noteWrongAnswer(reason: string, now: number): void {
    this.known = {
      lastError: reason,
      lastWrongAnswer: reason,
      wrongAnswerText: keepText(this.known.wrongAnswerText, reason),
      lastWrongAt: now,
    };
  }
}
