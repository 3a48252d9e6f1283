/** What a JSON-RPC transport is, and the one place that reads an endpoint's URL and the shape of an answer. */
import { AppError, errorText } from '../../errors';
import type { Hex } from '../../domain/hex';
import type { Clock } from './clock';
import { kindOfRpcError, RpcError, type RpcErrorFacts } from './rpcError';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Bytes of the answer; a larger one is an error of this call alone. Default: a bound by the method. */
  readonly answerBytesMax?: number;
}

export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

/** What a newHeads notification says of the new head; null when only "something may have changed" is known. */
export interface HeadHint {
  readonly number: number;
  readonly hash: Hex;
}

/** One endpoint's wire. Knows nothing of retries, other endpoints or what the calls mean. */
export interface RpcTransport {
  /** `#index host`, never the URL: it may carry a key. */
  readonly name: string;
  /**
   * Sends all calls as one batch; the answers stand in the order of the calls. Rejects with RpcError when there is
   * no answer as a whole, and with the signal's reason when it aborts. One attempt, bounded in time and size.
   */
  send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]>;
  /** Only where the wire can push: calls back at each new head and after each reconnect. Returns the way out. */
  watchHeads?(onHead: (hint: HeadHint | null) => void): () => void;
  /** Ends every pending call with an error and leaves no handle open. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** For the whole answer, its last byte included. */
  readonly timeoutMs: number;
  /** Bytes of the largest answer that is read, a whole batch's included. */
  readonly bodyBytesMax: number;
  /** HTTP connections to one endpoint. */
  readonly connectionsMax: number;
}

export const USER_AGENT = 'candlehouse/0.1';

/** An endpoint's URL, taken apart: where to go, what to call it, and how to keep its secrets out of texts. */
export interface EndpointUrl {
  readonly url: URL;
  readonly name: string;
  readonly authorization: string | null;
  /** Replaces whatever of the URL may be a key in a text of the node or of a library. */
  scrub(text: string): string;
}

/** @throws AppError `bad_config`, naming the endpoint by its index alone, for what is not an http(s) or ws(s) URL. */
export function parseEndpointUrl(text: string, index: number): EndpointUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) {
    throw new AppError('bad_config', `RPC endpoint #${index} is not an http(s):// or ws(s):// URL`);
  }
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  const credentials = Buffer.from(`${user}:${password}`).toString('base64');
  const authorization = user === '' && password === '' ? null : `Basic ${credentials}`;
  // A node may repeat the header as well as the address.
  const secrets = [...url.pathname.split('/'), ...url.searchParams.values(), user, password, credentials];
  const hidden = secrets.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  url.username = '';
  url.password = '';
  url.hash = '';
  const scrub = (raw: string): string => hidden.reduce((clean, secret) => clean.replaceAll(secret, '…'), raw);
  return { url, name: `#${index} ${url.host}`, authorization, scrub };
}

/** A node's texts are cut to this many characters before they go into an error. */
const NODE_TEXT_MAX = 300;

/** Makes the error of one endpoint: its name first, secrets out, length bounded. */
export function endpointError(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  kind: RpcError['kind'],
  text: string,
  facts: RpcErrorFacts = {},
): RpcError {
  return new RpcError(kind, `${endpoint.name}: ${endpoint.scrub(text).slice(0, NODE_TEXT_MAX)}`, facts);
}

/** The error of an answer that passed one of our bounds. `cut`: whose bound. */
export function oversizedError(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  text: string,
  cut: NonNullable<RpcErrorFacts['cut']>,
): RpcError {
  return endpointError(endpoint, 'too_large', text, { cut });
}

/** What a library's network error says; Node's AggregateError has a code and no message. */
export function reasonOf(error: unknown): string {
  const code = isRecord(error) && typeof error['code'] === 'string' ? error['code'] : '';
  return errorText(error) || code || 'network failure';
}

/** True for a JSON object; lists and null are none. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads one JSON-RPC response object. */
export function readAnswer(
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
