/**
 * The interface of a JSON-RPC transport. Also parses endpoint URLs and single JSON-RPC answers, and keeps the
 * secrets of URLs out of errors.
 */
import { AppError, errorText } from '../../errors';
import type { Hex } from '../../domain/hex';
import { readIpcPath } from '../../domain/networks';
import type { Clock } from './clock';
import { kindOfRpcError, RpcError, type RpcErrorFacts } from './rpcError';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /**
   * Size limit of this answer in bytes. A larger answer is an error of this call only. By default, a limit by
   * method applies.
   */
  readonly answerBytesMax?: number;
}

/** Value or error of one call. */
export type Outcome<T> = { readonly value: T } | { readonly error: RpcError };

export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

/**
 * The head in a newHeads notification. Null means that the head may have changed, for example during a
 * reconnect.
 */
export interface HeadHint {
  readonly number: number;
  readonly hash: Hex;
}

/**
 * The connection to one endpoint. Retries and the choice of another endpoint are in Endpoint and
 * EndpointPool.
 */
export interface RpcTransport {
  /** Name of the endpoint: `#index host`, never the URL, which may contain a key. */
  readonly name: string;
  /**
   * Sends all calls as one batch and returns the answers in the order of the calls. Rejects with RpcError if
   * the whole request fails, or with the reason of the signal. Does not retry. Time and size are limited.
   */
  send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]>;
  /**
   * Only for WebSocket and IPC: calls `onHead` at each new head and after each reconnect. Returns a function that
   * stops these calls.
   */
  watchHeads?(onHead: (hint: HeadHint | null) => void): () => void;
  /** Rejects every pending call, and closes all connections and timers. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** Timeout in ms of the whole answer, up to its last byte. */
  readonly timeoutMs: number;
  /** Size limit of an answer in bytes, for a whole batch too. */
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
}

export const USER_AGENT = 'candlehouse/0.1';

/** A parsed endpoint URL: the address, a name for logs, and a filter for its secrets. */
export interface EndpointUrl {
  readonly url: URL;
  readonly name: string;
  /** Value of the header Authorization; null for a URL without a user and a password. */
  readonly authorization: string | null;
  /** Path of the Unix socket of an `ipc` URL, otherwise null. */
  readonly socketPath: string | null;
  /**
   * Replaces each part of the URL that may be a key by a placeholder. `text` comes from the node or from a
   * library.
   */
  scrub(text: string): string;
}

/**
 * @throws AppError `bad_config` if the URL is not http(s), ws(s) or ipc. The error names only the endpoint's
 * index.
 */
export function parseEndpointUrl(text: string, index: number): EndpointUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  const socketPath = readIpcPath(text);
  if (url === null || (socketPath === null && !/^(?:https?|wss?):$/.test(url.protocol))) {
    const allowed = 'an http(s)://, ws(s):// or ipc:///path URL';
    throw new AppError('bad_config', `RPC endpoint #${index} is not ${allowed}`);
  }
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  const credentials = Buffer.from(`${user}:${password}`).toString('base64');
  const authorization = user === '' && password === '' ? null : `Basic ${credentials}`;
  // A node may repeat the URL or the Authorization header in its texts, so both count as secrets.
  const path = [url.pathname, ...url.pathname.split('/')];
  const secrets = [...path, ...url.searchParams.values(), user, password, credentials];
  const hidden = secrets.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  url.username = '';
  url.password = '';
  url.hash = '';
  const scrub = (raw: string): string => hidden.reduce((clean, secret) => clean.replaceAll(secret, '…'), raw);
  return {
    url,
    name: `#${index} ${socketPath === null ? url.host : 'ipc'}`,
    authorization,
    socketPath,
    scrub,
  };
}

/** Largest length in characters of a node's text in an error. A longer text is cut. */
const NODE_TEXT_MAX = 300;

/** Creates an error of one endpoint. Its text starts with the endpoint's name, has no secrets, and has a
 * limited length. */
export function endpointError(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  kind: RpcError['kind'],
  text: string,
  facts: RpcErrorFacts = {},
): RpcError {
  return new RpcError(kind, `${endpoint.name}: ${endpoint.scrub(text).slice(0, NODE_TEXT_MAX)}`, facts);
}

/** Creates the error for an answer that exceeded one of our size limits. `cut` names the limit. */
export function oversizedError(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  text: string,
  cut: NonNullable<RpcErrorFacts['cut']>,
): RpcError {
  return endpointError(endpoint, 'too_large', text, { cut });
}

/** Returns the text of a library's network error. Node's AggregateError has a code but no message. */
export function reasonOf(error: unknown): string {
  const code = isRecord(error) && typeof error['code'] === 'string' ? error['code'] : '';
  return errorText(error) || code || 'network failure';
}

/** True for a JSON object, false for arrays and null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The id of a response. Some nodes send the number as text. Null if the id is no number ≥ 0. */
export function readRpcId({ id }: Record<string, unknown>): number | null {
  if (typeof id === 'string') return /^\d{1,15}$/.test(id) ? Number(id) : null;
  return typeof id === 'number' && id >= 0 ? id : null;
}

export function readRpcAnswer(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  response: Record<string, unknown>,
): RpcAnswer {
  const error = response['error'];
  if (error === undefined || error === null) {
    if ('result' in response) return { result: response['result'] };
    return { error: endpointError(endpoint, 'bad_answer', 'a response has neither result nor error') };
  }
  const fields = isRecord(error) ? error : {};
  const code = typeof fields['code'] === 'number' ? fields['code'] : 0;
  const texts = [fields['message'], error, 'an error without a message'];
  const text = texts.find((each) => typeof each === 'string') ?? '';
  const facts = { rpcCode: code, data: fields['data'] };
  return { error: endpointError(endpoint, kindOfRpcError(code, text), `${text} (code ${code})`, facts) };
}

/** Methods whose answer depends on a range of blocks, or on how much happened in a block. */
const RANGED = /^(?:eth_getLogs$|eth_getBlockReceipts$|debug_|trace_)/;
const RANGE_TEXT = /range|results|logs|blocks|limit exceeded/;

/**
 * Some providers refuse calls at random with an error about the size of a range. If the call has no range, a smaller
 * one does not exist, so the error counts as `rate_limited`, and the call is repeated. Returns every other answer as it
 * is.
 */
export function recogniseLimit(call: RpcCall | undefined, answer: RpcAnswer): RpcAnswer {
  if (call === undefined || !('error' in answer) || RANGED.test(call.method)) return answer;
  const { kind, cut, message, rpcCode, data } = answer.error;
  if (kind !== 'too_large' || cut !== null || !RANGE_TEXT.test(message.toLowerCase())) return answer;
  return { error: new RpcError('rate_limited', message, { rpcCode, data }) };
}
