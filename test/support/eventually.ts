/**
 * Waits in tests for the effect of another process or a timer. There is no deadline: Jest's time limit per test finds what
 * hangs, and the last value is in the log.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** First and longest pause between two reads, in ms. Frequent reads would take the processor from the program under test. */
const PAUSE_MS = 20;
const PAUSE_MS_MAX = 100;
/** A longer wait reports the last value after each such time, in ms. */
const REPORT_MS = 60_000;
const REPORTED_CHARACTERS_MAX = 2_000;

/** Reads again until the value satisfies the condition. Rejects when a read fails. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
  show: (value: T) => string | undefined = (value) => JSON.stringify(value),
): Promise<T> {
  const startedAt = performance.now();
  for (let pause = PAUSE_MS, reports = 1; ; pause = Math.min(1.2 * pause, PAUSE_MS_MAX)) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() - startedAt > reports * REPORT_MS) {
      const seenText = show(value)?.slice(0, REPORTED_CHARACTERS_MAX);
      process.stderr.write(
        `still waiting after ${reports} min for ${holds.toString()}; last value: ${seenText}\n`,
      );
      reports += 1;
    }
    await delay(pause);
  }
}

/** Waits until `condition` is true. A condition that throws is treated as false. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  let failure: unknown;
  const read = async (): Promise<boolean> => {
    try {
      return await condition();
    } catch (error) {
      failure = error;
      return false;
    }
  };
  await eventually(
    read,
    (isTrue) => isTrue,
    () => `${condition.toString()} is false; last error: ${String(failure)}`,
  );
}
