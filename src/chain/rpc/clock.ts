/** Time and chance as a dependency, so that a simulation can put its own clock and dice under the chain code. */
import { setImmediate } from 'node:timers/promises';

import { steadyNow } from '../../domain/steadyTime';
import { onAbort } from './abortSignals';

export interface Clock {
  /** Milliseconds, for differences; about unix time. Never goes back, whatever is done to the machine's clock. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves after a turn of the event loop, in which others have the thread. A simulation has no others. */
  turn(): Promise<void>;
  /** A float in [0, 1). */
  random(): number;
}

/** The machine's own time. */
export function systemClock(): Clock {
  return { now: steadyNow, sleep: sleepFor, turn: () => setImmediate(), random: Math.random };
}

/** How long one piece of work may keep the thread: answers of the engine and requests to the API wait meanwhile. */
const SLICE_MS = 5;

/** Long work gives the thread away between two of its steps, every 5 ms. */
export class TimeSlices {
  private since: number;

  constructor(private readonly clock: Clock) {
    this.since = clock.now();
  }

  /** Between two steps. */
  async step(): Promise<void> {
    if (this.clock.now() - this.since < SLICE_MS) return;
    await this.clock.turn();
    this.since = this.clock.now();
  }
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

/** Exponential back-off with jitter: between half and the whole of `baseMs · 2^attempt`, at most `maxMs`. */
export function backoffMs(clock: Clock, attempt: number, baseMs: number, maxMs: number): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return whole / 2 + (clock.random() * whole) / 2;
}

/**
 * Runs `work` with a signal that aborts when the caller's does, or after `timeoutMs` with the error of `onTimeout`.
 * Leaves neither a timer nor a listener behind. The work must end when its signal aborts.
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
