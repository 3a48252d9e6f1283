/** The rest of a body that nobody reads. */
import type { IncomingMessage } from 'node:http';

/** More than this of a refused body is not waited for: then the connection ends with the answer. */
const DRAIN_BYTES_MAX = 33_554_432;
const DRAIN_MS = 5_000;

/**
 * Takes in what is still to come of a request and throws it away, within bounds. A client that is still sending when the
 * connection closes meets an error instead of the answer.
 */
export function drainBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = DRAIN_BYTES_MAX;
    const end = (): void => {
      clearTimeout(timer);
      request.off('data', take);
      resolve();
    };
    const take = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left < 0) end();
    };
    const timer = setTimeout(end, DRAIN_MS);
    request.on('data', take);
    for (const event of ['end', 'close', 'error']) request.once(event, end);
    request.resume();
  });
}
