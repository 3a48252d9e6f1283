/** Waits in tests for what another process or a timer brings about. The time limits are for hangs. */
import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 20;

/** Reads again until what was read holds. Rejects when a read fails, or with the last value. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  for (const end = Date.now() + timeoutMs; ; await delay(PAUSE_MS)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > end)
      throw new Error(`not within ${timeoutMs} ms; the last: ${JSON.stringify(value)?.slice(0, 2_000)}`);
  }
}

/** Waits until `condition` holds. A condition that throws does not hold yet. */
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
    throw new Error(`this did not come about: ${condition.toString()}`, { cause: failure });
  });
}
