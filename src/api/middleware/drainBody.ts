/** Reads and discards the rest of a request body that no route reads. */
import type { IncomingMessage } from 'node:http';

/** A body longer than this is not read to its end; the connection closes after the answer. */
const DRAIN_BYTES_MAX = 33_554_432;
/** Slowest accepted pace for the remaining bytes of a body. If a client is slower, the connection is closed. */
const PACE_BYTES = 65_536;
const PACE_MS = 100;

/**
 * Reads and discards the remaining bytes of a request, within limits. If the connection closed while the client still
 * sends, the client would see an error instead of the answer.
 */
export function drainBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let takenBytes = 0;
    let takenBefore = 0;
    const end = (): void => {
      clearInterval(pace);
      request.off('data', take);
      resolve();
    };
    const take = (chunk: Buffer): void => {
      takenBytes += chunk.length;
      if (takenBytes > DRAIN_BYTES_MAX) end();
    };
    const pace = setInterval(() => {
      if (takenBytes - takenBefore < PACE_BYTES) end();
      takenBefore = takenBytes;
    }, PACE_MS);
    request.on('data', take);
    for (const event of ['end', 'close', 'error']) request.once(event, end);
    request.resume();
  });
}
