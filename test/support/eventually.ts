/** Waits in tests for what another process or a timer brings about. The time limits are for hangs. */
import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 20;

/** Reads again until what was read holds. A read that fails is repeated. Rejects with the last value or failure. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  for (const end = Date.now() + timeoutMs; ; await delay(PAUSE_MS)) {
    let last: unknown;
    try {
      const value = await read();
      if (holds(value)) return value;
      last = JSON.stringify(value)?.slice(0, 2_000);
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms; the last: ${String(last)}`);
  }
}

/** Waits until `condition` holds. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs?: number): Promise<void> {
  await eventually(condition, (held) => held, timeoutMs).catch((cause: unknown) => {
    throw new Error(`this did not come about: ${condition.toString()}`, { cause });
  });
}
