/** Requests for files to a bucket or another server. A request that fails for a passing reason is repeated. */
import { setTimeout as delay } from 'node:timers/promises';

import { AppError, errorText } from '../../errors';

interface FileRequest<T> {
  /** Name of the file, for errors. */
  readonly path: string;
  /** Who answers, for errors: `the bucket` or `the server`. */
  readonly server: string;
  readonly make: (options: RequestInit) => Request | Promise<Request>;
  readonly read: (response: Response) => Promise<T>;
  /** Why the server refuses the request, by the status of the answer. */
  readonly reasonOf: (status: number) => string;
  readonly signal: AbortSignal;
}

/** Number of times that a request is sent before its failure is an error. The pauses between them grow. */
const ATTEMPTS = 6;
const PAUSE_MS = 250;
/** Time in ms within which a server must begin an answer. */
const ANSWER_MS = 60_000;

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

async function ask<T>({ path, server, make, read, reasonOf, signal }: FileRequest<T>): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), ANSWER_MS);
  try {
    const response = await fetch(await make({ signal: AbortSignal.any([signal, timeout.signal]) }));
    if (response.ok) return await read(response);
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

/** The chunks of an answer. @throws AppError `unavailable` if the answer breaks off */
export async function* chunksOf(
  path: string,
  server: string,
  body: AsyncIterable<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (error) {
    signal?.throwIfAborted();
    throw new AppError('unavailable', `${path}: the answer of ${server} broke off (${causeOf(error)})`);
  }
}

/** The reason why `fetch` failed. Its errors have the reason in `cause`. */
function causeOf(error: unknown): string {
  return errorText(typeof error === 'object' && error !== null && 'cause' in error ? error.cause : error);
}
