/**
 * Adds and removes listeners of AbortSignals without leaks, and without Node's warning about many listeners.
 */
import { setMaxListeners } from 'node:events';

/**
 * Calls the listener once when the signal aborts, or immediately if it has aborted already. Returns a
 * function that removes the listener. Each running call adds one listener to a shared signal, so more than
 * ten listeners (Node's warning limit) are no leak.
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => undefined;
  const run = (): void => listener(signal.reason);
  if (signal.aborted) {
    run();
    return () => undefined;
  }
  setMaxListeners(0, signal);
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** A signal that aborts when either input aborts. `release` removes the listeners. */
export function linkSignals(
  first: AbortSignal,
  second: AbortSignal | undefined,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const either = new AbortController();
  const abort = (reason: unknown): void => either.abort(reason);
  const releaseFirst = onAbort(first, abort);
  const releaseSecond = onAbort(second, abort);
  const release = (): void => {
    releaseFirst();
    releaseSecond();
  };
  return { signal: either.signal, release };
}
