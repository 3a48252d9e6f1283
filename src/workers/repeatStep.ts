/**
 * The loop of the background tasks of the ingester: a pause, a step, and after a failure a longer pause. A task
 * without work waits until the stored blocks change, so that an idle chain costs no statements.
 */
import type { Clock } from '../node/rpc/clock';
import { errorText } from '../errors';

/**
 * A task without work takes a step at least this often, in ms, because its data can become visible after the number
 * that the task compares.
 */
const RECHECK_MS = 300_000;

interface StepLoop {
  /** Pause in ms before the first step. */
  readonly firstMs: number;
  /** Pause in ms after a step that failed. */
  readonly failedMs: number;
  /** For a task that resolves to `idle`. */
  readonly idle?: {
    /** Interval in ms at which `input` is compared. */
    readonly ms: number;
    /** What the work follows from, such as the number of stored blocks. Asks no one. */
    input(): unknown;
  };
  /**
   * Does a limited part of the work. Resolves to the pause in ms before the next step, to `idle` if there is no work
   * until `input` changes, or to null if there will be no more work.
   */
  step(): Promise<number | 'idle' | null>;
  /** Logs that a step failed. */
  onFailure(error: string): void;
}

/** Runs until no work is left or the signal aborts. Never rejects. */
export async function repeatStep(clock: Clock, worker: StepLoop, signal: AbortSignal): Promise<void> {
  let nextPause: number | 'idle' | null = worker.firstMs;
  let seenInput: unknown;
  let steppedAt = clock.now();
  while (nextPause !== null) {
    await clock
      .sleep(nextPause === 'idle' ? (worker.idle?.ms ?? worker.failedMs) : nextPause, signal)
      .catch(() => undefined);
    if (signal.aborted) return;
    const input = worker.idle?.input();
    if (nextPause === 'idle' && input === seenInput && clock.now() - steppedAt < RECHECK_MS) continue;
    // Noted before the step, so that a block that is stored during the step starts another one.
    seenInput = input;
    steppedAt = clock.now();
    try {
      nextPause = await worker.step();
    } catch (error) {
      if (signal.aborted) return;
      worker.onFailure(errorText(error));
      nextPause = worker.failedMs;
    }
  }
}
