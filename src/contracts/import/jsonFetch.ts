/** Fetches JSON from external servers, with limits on time and size and with retries. */
import { setTimeout as delay } from 'node:timers/promises';

import { systemClock, withDeadline } from '../../node/rpc/clock';
import { AppError, errorText } from '../../errors';
import { guardedGet } from '../guardedGet';

const TIMEOUT_MS = 60_000;
const BODY_BYTES_MAX = 64 * 2 ** 20;
const ATTEMPTS_MAX = 6;
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
   * fail, and bad_config for a refused address or redirect.
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
  /** Whether a host name may resolve to a private address. Default false. */
  readonly allowPrivate?: boolean;
}

export function createJsonFetch(
  base: string,
  { pauseMs = PAUSE_BASE_MS, timeoutMs = TIMEOUT_MS, allowPrivate = false }: JsonFetchOptions = {},
): JsonFetch {
  const url = new URL(base);
  const root = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return {
    shown: root,
    async get(path, signal, attempts = ATTEMPTS_MAX) {
      let problem = '';
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        if (attempt > 0)
          await delay(Math.min(PAUSE_MAX_MS, pauseMs * 2 ** (attempt - 1)), undefined, { signal });
        try {
          const answer = await ask(root + path, timeoutMs, allowPrivate, signal);
          if (answer.status < 500 && answer.status !== 429) return answer;
          problem = `status ${answer.status}`;
          if (answer.retryAfterMs !== null && attempt + 1 < attempts)
            await delay(Math.min(PAUSE_MAX_MS, answer.retryAfterMs), undefined, { signal });
        } catch (error) {
          signal.throwIfAborted();
          // A refused address or redirect would be refused again, so there is no further attempt.
          if (error instanceof AppError && error.code === 'bad_config') throw error;
          problem = errorText(error);
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
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<JsonAnswer & { readonly retryAfterMs: number | null }> {
  const timeoutError = (): Error => new Error(`no answer within ${timeoutMs / 1_000} s`);
  return withDeadline(systemClock(), timeoutMs, signal, timeoutError, async (deadlineSignal) => {
    const options = { bytesMax: BODY_BYTES_MAX, allowPrivate, signal: deadlineSignal };
    const { status, headers, body } = await guardedGet(new URL(url), options);
    const retryAfterSeconds = Number(headers['retry-after'] ?? NaN);
    const retryAfterMs = Number.isFinite(retryAfterSeconds) ? Math.max(0, retryAfterSeconds * 1_000) : null;
    return { status, body: parseBody(body), retryAfterMs };
  });
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
