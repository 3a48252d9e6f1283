/**
 * An HTTP proxy in front of a JSON-RPC node that spoils a share of the calls, like an overloaded public node. One call
 * of a batch can spoil the whole batch: then the answer is an HTTP error, a closed connection, or text that is not JSON.
 */
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { listen } from '../server/listen';
import type { Json } from './fakeChain';

/** Faults of a whole request. */
const REQUEST_FAULTS = ['busy', 'unavailable', 'dropped', 'not JSON'] as const;
/** Faults of one call. */
const CALL_FAULTS = [
  'internal error',
  'range error',
  'truncated logs',
  'orphaned logs',
  'stale head',
  'no block',
] as const;
const FAULTS = [...REQUEST_FAULTS, ...CALL_FAULTS];
type RequestFault = (typeof REQUEST_FAULTS)[number];
type CallFault = (typeof CALL_FAULTS)[number];

interface FlakyProxyOptions {
  readonly url: string;
  /** Random numbers from 0 to 1. */
  readonly random: () => number;
  /** Share of the calls that fail, from 0 to 1. */
  readonly share: number;
  /** Time in ms before each answer. */
  readonly latencyMs?: number;
}

interface FlakyProxy {
  readonly url: string;
  share: number;
  /** Number of calls in each request so far. */
  readonly batches: readonly number[];
  /** Time of each request so far, ms of performance.now(). */
  readonly times: readonly number[];
  close(): Promise<void>;
}

const STALE_BLOCKS = 3;
const ORPHAN_HASH = `0x${'0dead'.padStart(64, '0')}`;

export async function startFlakyProxy(options: FlakyProxyOptions): Promise<FlakyProxy> {
  const batches: number[] = [];
  const times: number[] = [];
  const proxy = { share: options.share, batches, times };
  const drawFault = (): (typeof FAULTS)[number] | null =>
    options.random() < proxy.share ? (FAULTS[Math.floor(options.random() * FAULTS.length)] ?? null) : null;
  const serve = async (body: string, response: ServerResponse): Promise<void> => {
    const message = JSON.parse(body) as Json | Json[];
    const calls = [message].flat();
    batches.push(calls.length);
    times.push(performance.now());
    if (options.latencyMs !== undefined) await delay(options.latencyMs);
    const faults = calls.map(drawFault);
    const requestFault = faults.find(isRequestFault);
    if (requestFault !== undefined) {
      failRequest(requestFault, response);
      return;
    }
    const changedCalls = calls.map((call, index) =>
      faults[index] === 'stale head' ? askForFinalBlock(call) : call,
    );
    const fetched = await fetch(options.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.isArray(message) ? changedCalls : changedCalls[0]),
    });
    const answers = [(await fetched.json()) as Json | Json[]].flat();
    const answerById = new Map(answers.map((answer) => [answer['id'], answer]));
    const changedAnswers = calls.map((call, index) => {
      const answer = answerById.get(call['id']) ?? {};
      const fault = faults[index];
      return fault === undefined || fault === null || isRequestFault(fault)
        ? answer
        : spoil(fault, call, answer);
    });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(message) ? changedAnswers : changedAnswers[0]));
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      serve(Buffer.concat(chunks).toString(), response).catch(() => response.destroy());
    });
  });
  const { url, close } = await listen(server);
  return Object.assign(proxy, { url, close });
}

function isRequestFault(fault: unknown): fault is RequestFault {
  return REQUEST_FAULTS.some((requestFault) => requestFault === fault);
}

function failRequest(fault: RequestFault, response: ServerResponse): void {
  switch (fault) {
    case 'busy':
      response.writeHead(429, { 'retry-after': '1' }).end('slow down');
      return;
    case 'unavailable':
      response.writeHead(503).end();
      return;
    case 'dropped':
      response.destroy();
      return;
    case 'not JSON':
      response.end('<html>');
  }
}

/**
 * Changes a call for the newest block into a call for the final block, as from a node that is behind. Returns every
 * other call as it is.
 */
function askForFinalBlock(call: Json): Json {
  const [blockTag, ...otherParams] = (call['params'] ?? []) as unknown[];
  return blockTag === 'latest' ? { ...call, params: ['finalized', ...otherParams] } : call;
}

function spoil(fault: CallFault, call: Json, answer: Json): Json {
  const { result } = answer;
  const errorAnswer = (code: number, message: string): Json => ({
    jsonrpc: '2.0',
    id: answer['id'],
    error: { code, message },
  });
  const internalError = errorAnswer(-32603, 'Internal error');
  switch (fault) {
    case 'internal error':
      return internalError;
    case 'range error':
      return errorAnswer(-32005, 'query returned more than 10000 results');
    case 'truncated logs':
      return { ...answer, result: withoutLastLog(result) };
    case 'orphaned logs':
      return { ...answer, result: withOtherHash(result) };
    case 'stale head':
      if (call['method'] === 'eth_blockNumber')
        return { ...answer, result: `0x${Math.max(0, Number(result) - STALE_BLOCKS).toString(16)}` };
      return ((call['params'] ?? []) as unknown[])[0] === 'latest' ? answer : internalError;
    case 'no block':
      return String(call['method']).startsWith('eth_getBlock') ? { ...answer, result: null } : internalError;
  }
}

/** Receipts or logs without their last log. */
function withoutLastLog(result: unknown): unknown {
  if (!Array.isArray(result)) return null;
  const items = result as Json[];
  if (items.every((item) => !Array.isArray(item['logs']))) return items.slice(0, -1);
  const lastWithLogs = items.findLastIndex((item) => (item['logs'] as Json[]).length > 0);
  return items.map((item, index) =>
    index === lastWithLogs ? { ...item, logs: (item['logs'] as Json[]).slice(0, -1) } : item,
  );
}

/** Receipts or logs of another block. */
function withOtherHash(result: unknown): unknown {
  if (!Array.isArray(result)) return null;
  return (result as Json[]).map((item) => ({ ...item, blockHash: ORPHAN_HASH }));
}
