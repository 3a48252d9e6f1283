/** Waits in tests for the effect of another process or a timer. The time limits only detect hangs. */
import { setTimeout as delay } from 'node:timers/promises';

/** First and longest pause between two reads, in ms. Frequent reads would take the processor from the program under test. */
const PAUSE_MS = 20;
const PAUSE_MS_MAX = 100;

/**
 * Reads again until the value satisfies the condition. Rejects when a read fails, or with the last value after the time
 * limit.
 */
export async function eventually<T>(
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
  timeoutMs = 240_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (let pause = PAUSE_MS; ; pause = Math.min(1.2 * pause, PAUSE_MS_MAX)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > end)
      throw new Error(
        `the condition was not met within ${timeoutMs} ms; last value: ${JSON.stringify(value)?.slice(0, 2_000)}`,
      );
    await delay(pause);
  }
}

/** Waits until `condition` is true. A condition that throws is treated as false. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs?: number): Promise<void> {
  let failure: unknown;
  const read = async (): Promise<boolean> => {
    try {
      return await condition();
    } catch (error) {
      failure = error;
      return false;
    }
  };
  await eventually(read, (held) => held, timeoutMs).catch(() => {
    throw new Error(`the condition was not met in time: ${condition.toString()}`, { cause: failure });
  });
}
