/** The rest of a body that nobody reads. */
import type { IncomingMessage } from 'node:http';

/** More than this of a refused body is not waited for: then the connection ends with the answer. */
const DRAIN_BYTES_MAX = 33_554_432;
/** Nor is a client that sends less than so much in that time. */
const PACE_BYTES = 65_536;
const PACE_MS = 100;

/**
 * Takes in what is still to come of a request and throws it away, within bounds. A client that is still sending when the
 * connection closes meets an error instead of the answer.
 */
export function drainBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let taken = 0;
    let before = 0;
    const end = (): void => {
      clearInterval(pace);
      request.off('data', take);
      resolve();
    };
    const take = (chunk: Buffer): void => {
      taken += chunk.length;
      if (taken > DRAIN_BYTES_MAX) end();
    };
    const pace = setInterval(() => {
      if (taken - before < PACE_BYTES) end();
      before = taken;
    }, PACE_MS);
    request.on('data', take);
    for (const event of ['end', 'close', 'error']) request.once(event, end);
    request.resume();
  });
}
