/** Listening to AbortSignals without leaving listeners behind, and without Node's warning where many calls share one. */
import { setMaxListeners } from 'node:events';

/**
 * Calls back once when the signal aborts, at once if it already has. Returns the way out; the listeners on a signal
 * are as many as the calls under way, so Node's limit of ten is no sign of a leak here.
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

/** A signal that aborts with either of two; `release` takes the listeners away again. */
export function linkSignals(
  first: AbortSignal,
  second: AbortSignal | undefined,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const both = new AbortController();
  const abort = (reason: unknown): void => both.abort(reason);
  const releaseFirst = onAbort(first, abort);
  const releaseSecond = onAbort(second, abort);
  const release = (): void => {
    releaseFirst();
    releaseSecond();
  };
  return { signal: both.signal, release };
}
