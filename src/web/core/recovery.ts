/**
 * Parts of the page that failed because the service did not answer. They load again when the service answers, without a
 * click.
 */
import { ApiFailure } from './api.ts';

/** Error status from which on a failure is the service's, not the request's. */
const SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;

const waitingRetries = new Set<() => void>();

/** Calls `retry` once when the service answers again, unless the request itself was wrong. */
export function retryWhenBack(error: unknown, retry: () => void, signal: AbortSignal): void {
  const status = error instanceof ApiFailure ? error.status : 0;
  if (status > 0 && status < SERVER_ERROR && status !== TOO_MANY_REQUESTS) return;
  const retryOnce = (): void => {
    if (!signal.aborted) retry();
  };
  waitingRetries.add(retryOnce);
  signal.addEventListener('abort', () => waitingRetries.delete(retryOnce), { once: true });
}

/** Whether a part of the page waits for the service. */
export function hasWaitingRetries(): boolean {
  return waitingRetries.size > 0;
}

/** Loads all waiting parts again. A part that fails again waits for the next call. */
export function retryWaiting(): void {
  const retries = [...waitingRetries];
  waitingRetries.clear();
  for (const retry of retries) retry();
}
