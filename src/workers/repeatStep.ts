/** The loop of every background task of the ingester: a pause, a step, and after a failure a longer pause. */
import type { Clock } from '../node/rpc/clock';
import { errorText } from '../errors';

interface Worker {
  /** Pause in ms before the first step. */
  readonly firstMs: number;
  /** Pause in ms after a step that failed. */
  readonly failedMs: number;
  /** Does a limited part of the work. Resolves to the pause in ms before the next step, or to null if no work is left. */
  step(): Promise<number | null>;
  /** Logs that a step failed. */
  onFailure(error: string): void;
}

/** Runs until no work is left or the signal aborts. Never rejects. */
export async function repeatStep(clock: Clock, worker: Worker, signal: AbortSignal): Promise<void> {
  let waitMs: number | null = worker.firstMs;
  while (waitMs !== null) {
    await clock.sleep(waitMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      waitMs = await worker.step();
    } catch (error) {
      if (signal.aborted) return;
      worker.onFailure(errorText(error));
      waitMs = worker.failedMs;
    }
  }
}
