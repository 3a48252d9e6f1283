/** Fetches JSON from external servers, with limits on time and size and with retries. */
import { setTimeout as delay } from 'node:timers/promises';

import { systemClock, withDeadline } from '../../chain/rpc/clock';
import { AppError, errorText } from '../../errors';

const TIMEOUT_MS = 60_000;
const BODY_BYTES_MAX = 64 * 2 ** 20;
const ATTEMPTS = 6;
const PAUSE_BASE_MS = 500;
const PAUSE_MAX_MS = 30_000;

interface JsonAnswer {
  readonly status: number;
  /** The parsed body; undefined if the body is not JSON. */
  readonly body: unknown;
}

export interface JsonFetch {
  /**
   * GET a path of the server. Statuses below 500, except 429, count as answers. Throws unavailable if all attempts
   * fail.
   */
  get(path: string, signal: AbortSignal, attempts?: number): Promise<JsonAnswer>;
  /** The server's address without secrets. */
  readonly shown: string;
}

interface JsonFetchOptions {
  /** Pause in ms before the second attempt. It doubles with each attempt. */
  readonly pauseMs?: number;
  /** Time limit in ms of one attempt, including the body. */
  readonly timeoutMs?: number;
}

export function createJsonFetch(
  base: string,
  { pauseMs = PAUSE_BASE_MS, timeoutMs = TIMEOUT_MS }: JsonFetchOptions = {},
): JsonFetch {
  const url = new URL(base);
  const root = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return {
    shown: root,
    async get(path, signal, attempts = ATTEMPTS) {
      let problem = '';
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        if (attempt > 0)
          await delay(Math.min(PAUSE_MAX_MS, pauseMs * 2 ** (attempt - 1)), undefined, { signal });
        try {
          const answer = await ask(root + path, timeoutMs, signal);
          if (answer.status < 500 && answer.status !== 429) return answer;
          problem = `status ${answer.status}`;
          if (answer.retryAfterMs !== null && attempt + 1 < attempts)
            await delay(Math.min(PAUSE_MAX_MS, answer.retryAfterMs), undefined, { signal });
        } catch (error) {
          signal.throwIfAborted();
          problem = reasonOf(error);
        }
      }
      throw new AppError('unavailable', `${root} did not answer the request for ${path}: ${problem}`);
    },
  };
}

/** Uses a timer of its own: inside AbortSignal.any, AbortSignal.timeout may never fire after a garbage collection. */
async function ask(
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<JsonAnswer & { readonly retryAfterMs: number | null }> {
  const late = (): Error => new Error(`no answer within ${timeoutMs / 1_000} s`);
  return withDeadline(systemClock(), timeoutMs, signal, late, async (inner) => {
    const response = await fetch(url, {
      headers: { accept: 'application/json', 'user-agent': 'candlehouse/0.1' },
      signal: inner,
    });
    const seconds = Number(response.headers.get('retry-after') ?? NaN);
    const retryAfterMs = Number.isFinite(seconds) ? Math.max(0, seconds * 1_000) : null;
    return { status: response.status, body: await readBody(response), retryAfterMs };
  });
}

async function readBody(response: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    if (!(piece instanceof Uint8Array)) continue;
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`the answer is larger than ${BODY_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The function fetch puts the system error into `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${errorText(error.cause)}` : '';
  return errorText(error) + cause;
}
