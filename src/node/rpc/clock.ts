/** Time and randomness as a dependency, so that a simulation can control both. */
import { setImmediate } from 'node:timers/promises';

import { steadyNow } from '../../domain/time/steadyTime';
import { onAbort } from './abortSignals';

export interface Clock {
  /** Monotonic clock in ms, close to unix time. Only differences are meaningful. */
  now(): number;
  /** Resolves after `ms`. Rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Lets other work run for one turn of the event loop. Resolves immediately in a simulation. */
  turn(): Promise<void>;
  /** A float in [0, 1). */
  random(): number;
}

export function systemClock(): Clock {
  return { now: steadyNow, sleep: sleepFor, turn: () => setImmediate(), random: Math.random };
}

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const timer = setTimeout(() => {
      release();
      resolve();
    }, ms);
    const release = onAbort(signal, (reason) => {
      clearTimeout(timer);
      reject(reason);
    });
  });
}

/** Exponential back-off with jitter: between half and all of `baseMs · 2^attempt`, capped at `maxMs`. */
export function backoffMs(clock: Clock, attempt: number, baseMs: number, maxMs: number): number {
  const longestMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return longestMs / 2 + (clock.random() * longestMs) / 2;
}

/**
 * Runs `work` with a signal. The signal aborts with the caller's signal, or after `timeoutMs` with the error
 * of `onTimeout`. All timers and listeners are removed. The work must end when its signal aborts.
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  outer: AbortSignal | undefined,
  onTimeout: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const inner = new AbortController();
  const timer = new AbortController();
  const release = onAbort(outer, (reason) => inner.abort(reason));
  clock.sleep(timeoutMs, timer.signal).then(
    () => inner.abort(onTimeout()),
    () => undefined,
  );
  try {
    return await work(inner.signal);
  } finally {
    timer.abort();
    release();
  }
}
