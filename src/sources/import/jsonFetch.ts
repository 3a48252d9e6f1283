/** JSON of a stranger's server: bounded in time and size, tried again where that may help. */
import { setTimeout as delay } from 'node:timers/promises';

import { systemClock, withDeadline } from '../../chain/rpc/clock';
import { AppError, errorText } from '../../errors';

const TIMEOUT_MS = 60_000;
const BODY_BYTES_MAX = 64 * 2 ** 20;
const ATTEMPTS = 6;
const PAUSE_BASE_MS = 500;
const PAUSE_MAX_MS = 30_000;

export interface JsonAnswer {
  readonly status: number;
  /** undefined where the body is no JSON. */
  readonly body: unknown;
}

export interface JsonFetch {
  /**
   * GET below the server's address. Statuses below 500 but 429 are answers. Throws unavailable when the server does not
   * answer, again and again.
   */
  get(path: string, signal: AbortSignal, attempts?: number): Promise<JsonAnswer>;
  /** The server's address without what may be secret. */
  readonly shown: string;
}

export interface JsonFetchOptions {
  /** Before the second attempt, doubled with each. */
  readonly pauseMs?: number;
  /** For one attempt, its body too. */
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
      throw new AppError('unavailable', `${root} does not answer ${path}: ${problem}`);
    },
  };
}

/** With a timer of its own: where a garbage collection comes between, AbortSignal.timeout in AbortSignal.any never fires. */
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

/** fetch hides the system's word in a cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${errorText(error.cause)}` : '';
  return errorText(error) + cause;
}
