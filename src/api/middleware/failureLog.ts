/**
 * Logs requests that failed. A fault of the service gets its stack. While the database or the node starts or is away,
 * all requests fail for a known reason, so they get at most one line per second, without a stack.
 */
import { steadyNow } from '../../domain/time/steadyTime';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';

/** Shortest time in ms between two lines about expected failures. */
const EXPECTED_LINE_MS = 1_000;

export interface FailureLog {
  /** `facts` identify the request. */
  tell(facts: Readonly<Record<string, unknown>>, error: unknown): void;
}

/** `now` is a monotonic clock in ms. */
export function createFailureLog(log: Logger, now: () => number = steadyNow): FailureLog {
  let loggedAt = -Infinity;
  let failedRequests = 0;
  return {
    tell(facts, error) {
      if (!isExpected(error)) {
        log.error({ ...facts, err: error }, 'a request failed');
        return;
      }
      failedRequests += 1;
      if (now() - loggedAt < EXPECTED_LINE_MS) return;
      const line = { ...facts, error: errorText(error), requests: failedRequests };
      log.warn(line, 'a request failed: the database or the node is unavailable');
      [loggedAt, failedRequests] = [now(), 0];
    },
  };
}

/** Whether the error says that the database or a node is away. */
export function isExpected(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'unavailable' || error.code === 'node_failed');
}
