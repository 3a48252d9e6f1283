/** Requests for files to a bucket or another server. A request that fails for a passing reason is repeated. */
import { setTimeout as delay } from 'node:timers/promises';

import { AppError, errorText } from '../../errors';

interface FileRequest<T> {
  /** Name of the file, for errors. */
  readonly path: string;
  /** Who answers, for errors: `the bucket` or `the server`. */
  readonly server: string;
  readonly make: (options: RequestInit) => Request | Promise<Request>;
  /** `chunks` are the bytes of the answer. Reading them fails with an AppError if the answer stalls or breaks off. */
  readonly read: (response: Response, chunks: AsyncGenerator<Uint8Array>) => Promise<T>;
  /** Why the server refuses the request, by the status of the answer. */
  readonly reasonOf: (status: number) => string;
  readonly signal: AbortSignal;
}

/** Number of times that a request is sent before its failure is an error. The pauses between them grow. */
const ATTEMPTS = 6;
const PAUSE_MS = 250;
/** Time in ms within which a server must begin an answer, and then send this many further bytes or the end. */
const ANSWER_MS = 60_000;
const ANSWER_BYTES = 64 * 1_024;

/** Repeats a request until `read` has its answer. @throws AppError `bad_config` if it is refused, else `unavailable` */
export async function repeatRequest<T>(request: FileRequest<T>): Promise<T> {
  const { signal } = request;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(request);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError && error.retryable) || attempt === ATTEMPTS) throw error;
    }
    await delay(PAUSE_MS * 2 ** (attempt - 1), undefined, { signal });
  }
}

async function ask<T>(request: FileRequest<T>): Promise<T> {
  const { path, server, make, read, reasonOf, signal } = request;
  const timeLimit = new AbortController();
  const timer = setTimeout(() => timeLimit.abort(), ANSWER_MS);
  try {
    const response = await fetch(await make({ signal: AbortSignal.any([signal, timeLimit.signal]) }));
    clearTimeout(timer);
    if (response.ok) return await read(response, chunksOf(request, response, timeLimit));
    await response.body?.cancel();
    const { status } = response;
    if (status === 429 || status >= 500)
      throw new AppError('unavailable', `${path}: ${server} answers HTTP ${status}`);
    throw new AppError('bad_config', `${path}: ${reasonOf(status)} (HTTP ${status})`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('unavailable', `${path}: ${server} does not answer (${causeOf(error)})`);
  } finally {
    clearTimeout(timer);
  }
}

/** The chunks of an answer. @throws AppError `unavailable` if the answer stalls or breaks off */
async function* chunksOf(
  { path, server, signal }: Pick<FileRequest<unknown>, 'path' | 'server' | 'signal'>,
  { body }: Response,
  timeLimit: AbortController,
): AsyncGenerator<Uint8Array> {
  let [bytes, remainingMs] = [0, ANSWER_MS];
  const startTimer = (): { timer: NodeJS.Timeout; sinceMs: number } => ({
    timer: setTimeout(() => timeLimit.abort(), remainingMs),
    sinceMs: performance.now(),
  });
  let running = startTimer();
  try {
    for await (const chunk of body ?? []) {
      clearTimeout(running.timer);
      remainingMs = Math.max(0, remainingMs - (performance.now() - running.sinceMs));
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES) [bytes, remainingMs] = [0, ANSWER_MS];
      yield chunk;
      // While the reader is busy, the server is not late.
      running = startTimer();
    }
  } catch (error) {
    signal.throwIfAborted();
    const reason = timeLimit.signal.aborted
      ? `${server} sent ${bytes} bytes in ${ANSWER_MS / 1_000} s; allowed: at least ${ANSWER_BYTES}, or the end`
      : `the answer of ${server} broke off (${causeOf(error)})`;
    throw new AppError('unavailable', `${path}: ${reason}`);
  } finally {
    clearTimeout(running.timer);
  }
}

/** The reason why `fetch` failed. Its errors have the reason in `cause`. */
function causeOf(error: unknown): string {
  return errorText(typeof error === 'object' && error !== null && 'cause' in error ? error.cause : error);
}
