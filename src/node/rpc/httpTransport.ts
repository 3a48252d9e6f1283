/**
 * JSON-RPC over HTTP: keep-alive, one POST per batch, no redirects. One time limit and one size limit cover
 * the whole answer.
 */
import { Agent, request, type Dispatcher } from 'undici';

import { linkSignals } from './abortSignals';
import { AnswerMeter, boundOf } from './answerBounds';
import { withDeadline } from './clock';
import { parseAnswer } from './slicedJson';
import { kindOfHttpStatus, parseRetryAfter, RpcError, type RpcErrorFacts } from './rpcError';
import {
  endpointError,
  isRecord,
  oversizedError,
  readRpcAnswer,
  readRpcId,
  reasonOf,
  USER_AGENT,
  type EndpointUrl,
  type RpcAnswer,
  type RpcCall,
  type RpcTransport,
  type TransportOptions,
} from './rpcTransport';

export function createHttpTransport(endpoint: EndpointUrl, options: TransportOptions): RpcTransport {
  const agent = new Agent({
    connections: options.connectionsMax,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: Math.min(10_000, options.timeoutMs) },
    // withDeadline limits the time of headers and body together, so a body that arrives very slowly is cut
    // off too.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const closed = new AbortController();

  async function send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    if (calls.length === 0) return [];
    const onTimeout = (): Error =>
      endpointError(endpoint, 'timeout', `no complete answer within ${options.timeoutMs} ms`);
    const linked = linkSignals(closed.signal, signal);
    try {
      return await withDeadline(options.clock, options.timeoutMs, linked.signal, onTimeout, (inner) =>
        post(endpoint, agent, calls, options, inner),
      );
    } finally {
      linked.release();
    }
  }

  async function close(): Promise<void> {
    if (closed.signal.aborted) return;
    closed.abort(endpointError(endpoint, 'network', 'the transport is closed'));
    await agent.destroy();
  }

  return { name: endpoint.name, send, close };
}

async function post(
  endpoint: EndpointUrl,
  agent: Agent,
  calls: readonly RpcCall[],
  options: TransportOptions,
  signal: AbortSignal,
): Promise<RpcAnswer[]> {
  const messages = calls.map((call, id) => ({
    jsonrpc: '2.0',
    id,
    method: call.method,
    params: call.params,
  }));
  const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
  if (endpoint.authorization !== null) headers['authorization'] = endpoint.authorization;
  try {
    const body = JSON.stringify(messages.length === 1 ? messages[0] : messages);
    const response = await request(endpoint.url, {
      method: 'POST',
      dispatcher: agent,
      headers,
      body,
      signal,
    });
    const { parsed, close } = await readBody(endpoint, calls, response, options);
    try {
      return readResponse(endpoint, calls.length, response, parsed, options.clock.now());
    } finally {
      close();
    }
  } catch (error) {
    // After an abort, undici throws an unrelated error. The caller gets the reason of the abort instead.
    if (signal.aborted) throw signal.reason;
    if (error instanceof RpcError) throw error;
    throw endpointError(endpoint, 'network', reasonOf(error), { cause: error });
  }
}

/**
 * Reads and parses the body. Its bytes count towards the limit of all answers of the process (answerBounds.ts) until
 * `close` is called.
 */
async function readBody(
  endpoint: EndpointUrl,
  calls: readonly RpcCall[],
  { headers, body }: Dispatcher.ResponseData,
  { bodyBytesMax, clock }: TransportOptions,
): Promise<{ readonly parsed: unknown; close(): void }> {
  const bound = boundOf(calls, bodyBytesMax);
  const meter = new AnswerMeter(bound.bytesMax, (why, isAloneTooLarge) => {
    // `bound.cut` tells whose limit a single answer exceeded: that of the caller (`call`) or the general one.
    body.destroy(oversizedError(endpoint, why, isAloneTooLarge ? bound.cut : 'answer'));
  });
  // The loop that reads the body reports its error. Without this listener, the error event would end the process.
  body.on('error', () => undefined);
  try {
    meter.announce(Number(headers['content-length']));
    const pieces: Buffer[] = [];
    for await (const piece of body) {
      if (!Buffer.isBuffer(piece)) continue;
      meter.add(piece);
      pieces.push(piece);
    }
    // Empties `pieces`. Undefined if the body is not JSON.
    const parsed = await parseAnswer(pieces, clock);
    return { parsed, close: () => meter.close() };
  } catch (error) {
    meter.close();
    throw error;
  }
}

/** Reads the answers to `count` calls from the parsed body of a response. */
export function readResponse(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  count: number,
  response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  parsed: unknown,
  now: number,
): RpcAnswer[] {
  const status = response.statusCode;
  const header = response.headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, now);
  const facts: RpcErrorFacts = { httpStatus: status, retryAfterMs };
  // Many RPC providers send a JSON-RPC error with a 4xx or 5xx status. The JSON-RPC error has more
  // information than the status.
  if (status !== 200 && !(isRecord(parsed) && isRecord(parsed['error'])) && !Array.isArray(parsed)) {
    throw endpointError(endpoint, kindOfHttpStatus(status), `HTTP ${status}`, facts);
  }
  if (parsed === undefined) throw endpointError(endpoint, 'bad_answer', 'the answer is not JSON', facts);
  const withFacts = (answer: RpcAnswer): RpcAnswer =>
    'error' in answer && status !== 200
      ? { error: withHttpFacts(answer.error, status, retryAfterMs) }
      : answer;
  return orderAnswers(endpoint, parsed, count, withFacts);
}

function withHttpFacts(error: RpcError, httpStatus: number, retryAfterMs: number | null): RpcError {
  const kind = httpStatus === 429 ? 'rate_limited' : error.kind;
  return new RpcError(kind, error.message, {
    rpcCode: error.rpcCode,
    data: error.data,
    httpStatus,
    retryAfterMs,
  });
}

/**
 * Puts the answers of a batch into the order of its calls. Nodes may answer in any order. Throws if one error answers
 * the whole batch. `withFacts` adds the facts of HTTP to an error.
 */
function orderAnswers(
  endpoint: Pick<EndpointUrl, 'name' | 'scrub'>,
  parsed: unknown,
  count: number,
  withFacts: (answer: RpcAnswer) => RpcAnswer,
): RpcAnswer[] {
  const toAnswer = (response: Record<string, unknown>): RpcAnswer =>
    withFacts(readRpcAnswer(endpoint, response));
  if (count === 1) {
    const single: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isRecord(single))
      throw endpointError(endpoint, 'bad_answer', 'the answer is not a JSON-RPC response');
    // An error may have a null id if the node could not read the request. A result must have the id of the
    // request.
    if ('result' in single && readRpcId(single) !== 0) {
      throw endpointError(endpoint, 'bad_answer', 'the answer belongs to another request');
    }
    return [toAnswer(single)];
  }
  if (!Array.isArray(parsed)) {
    const answer = isRecord(parsed) ? toAnswer(parsed) : null;
    if (answer !== null && 'error' in answer) throw answer.error;
    throw endpointError(endpoint, 'bad_answer', 'the answer to a batch is not a list');
  }
  const responses = Array.from({ length: count }, (): Record<string, unknown>[] => []);
  for (const response of parsed) if (isRecord(response)) responses[readRpcId(response) ?? -1]?.push(response);
  return responses.map(([response, other], id) => {
    // Of two responses with the same id, one is the answer to another call.
    if (response !== undefined && other === undefined) return toAnswer(response);
    const responses = response === undefined ? 'no response' : 'several responses';
    const text = `the answer to a batch of ${count} calls has ${responses} with id ${id}`;
    return { error: endpointError(endpoint, 'bad_answer', text) };
  });
}
