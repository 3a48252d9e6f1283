/**
 * Calls to this service's own API. An error answer becomes an ApiFailure with the API's message. Listeners
 * receive the block of each answer. The browser revalidates answers by their ETag.
 */

import type { ReadyAnswer } from '../../wire/ready';
import { inChain, chainPrefix } from './pageChain.ts';

/** The first part of the paths of the API for the chain of the page. */
export const apiBase = (): string => `/api/v1${chainPrefix()}`;

/** A path of the API, such as `/api/v1/pairs` or `/udf/config`, for the chain of the page. */
export const pathInChain = (path: string): string =>
  path.startsWith('/api/v1/') ? apiBase() + path.slice('/api/v1'.length) : inChain(path);

export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;

  /** HTTP status of the answer; 0 if no answer arrived. */
  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
    this.code = code;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | null>>;

const blockListeners: ((block: number) => void)[] = [];

/** Registers a listener for the block of each answer. */
export function onBlock(listener: (block: number) => void): void {
  blockListeners.push(listener);
}

/** Path and query of a call. Leaves out parameters that are null or empty. */
export function urlOf(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== '') params.set(name, String(value));
  const queryText = params.toString();
  return queryText === '' ? path : `${path}?${queryText}`;
}

/** Longest Retry-After for which a call waits on its own, and the number of attempts. */
const RETRY_AFTER_MAX_S = 5;
const TRIES_MAX = 3;

/** Sends one request. Rejects with ApiFailure, or with the signal's AbortError. */
async function call(url: string, signal: AbortSignal, formFields: URLSearchParams | null): Promise<Response> {
  let response: Response;
  const postOptions = formFields === null ? {} : { method: 'POST', body: formFields };
  try {
    response = await fetch(url, { signal, headers: { Accept: 'application/json' }, ...postOptions });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiFailure(0, 'unreachable', 'The server does not answer');
  }
  reportIndexedBlock(response);
  return response;
}

/** Tells the listeners the block of an answer. */
function reportIndexedBlock(response: Response): void {
  const block = Number(response.headers.get('X-Indexed-Block'));
  if (block > 0) for (const listener of blockListeners) listener(block);
}

function failureOf(status: number, body: unknown): ApiFailure {
  const isObject = typeof body === 'object' && body !== null;
  const message =
    isObject && 'error' in body && typeof body.error === 'string' ? body.error : `HTTP ${status}`;
  const code = isObject && 'code' in body && typeof body.code === 'string' ? body.code : 'unknown';
  return new ApiFailure(status, code, message);
}

export async function getBody(url: string, signal: AbortSignal): Promise<unknown> {
  return readBody(url, signal, null);
}

/** Sends the parameters as a form, for a question that is longer than a URL may be. */
export async function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  return readBody(url, signal, new URLSearchParams(fields));
}

async function readBody(
  url: string,
  signal: AbortSignal,
  formFields: URLSearchParams | null,
): Promise<unknown> {
  let response = await call(url, signal, formFields);
  for (let tryCount = 1; tryCount < TRIES_MAX && !response.ok; tryCount += 1) {
    // An error answer with Retry-After is temporary: too many requests, or a database that does not answer for a
    // moment. The call is repeated after that time.
    const retryAfter = response.headers.get('Retry-After');
    if (retryAfter === null || Number(retryAfter) > RETRY_AFTER_MAX_S) break;
    await pause(Number(retryAfter) * 1000, signal);
    response = await call(url, signal, formFields);
  }
  let body: unknown = null;
  try {
    body = await response.json();
  } catch (error) {
    if (signal.aborted) throw error;
    if (response.ok) throw new ApiFailure(response.status, 'unreadable', 'The answer is not JSON');
  }
  if (!response.ok) throw failureOf(response.status, body);
  return body;
}

/** An answer of the market or the explorer: `{ data }`, for lists with `meta`. */
export async function getAnswer<T extends { readonly data: unknown }>(
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<T> {
  const body = await getBody(urlOf(apiBase() + path, query), signal);
  if (typeof body !== 'object' || body === null || !('data' in body))
    throw new ApiFailure(200, 'unreadable', 'The answer has no data');
  // Page and server are of the same release, and the server's tests check every answer against the shape of T.
  return body as T;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('left', 'AbortError'));
    });
  });
}

/** The answer of /readyz. Its status says only whether answers are current. */
export async function getReadiness(signal: AbortSignal): Promise<ReadyAnswer> {
  const response = await fetch(inChain('/readyz'), { signal });
  reportIndexedBlock(response);
  const body: unknown = await response.json();
  if (typeof body !== 'object' || body === null || !('checks' in body))
    throw new ApiFailure(response.status, 'unreadable', 'The answer has no checks');
  return body as ReadyAnswer;
}

/** A message for people, from any thrown value. */
export function failureText(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong';
}

/** A chain of this service. */
interface Chain {
  readonly chainid: string;
  readonly chainname: string;
}

/** The chains of this service; the first one is the chain of the page. */
export async function getChains(signal: AbortSignal): Promise<readonly Chain[]> {
  const { result } = (await getBody(inChain('/v2/chainlist'), signal)) as {
    readonly result: readonly Chain[];
  };
  return result;
}
