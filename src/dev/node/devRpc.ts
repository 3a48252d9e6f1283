/** JSON-RPC to the local development node over keep-alive HTTP. Retries and fail-over are only in src/node. */
import { Pool } from 'undici';

import { isHash, isHexData, isQuantity, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface DevRpc {
  readonly url: string;
  /** Rejects with `node_failed` and the node's message on an error answer. */
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Sends one request with all calls. The node runs them CONCURRENTLY. Answers are in the order of the calls. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 2;
const TIMEOUT_MS = 60_000;
/** Size limit of a request body: the node refuses bodies above 2 MB. */
const BODY_CHARACTERS_MAX = 1_900_000;

/** Opens a connection to a node's HTTP address. */
export function openDevRpc(url: string): DevRpc {
  const pool = new Pool(url, {
    connections: CONNECTIONS_MAX,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const post = async (payload: unknown): Promise<unknown> => {
    const body = JSON.stringify(payload);
    if (body.length > BODY_CHARACTERS_MAX) {
      throw new AppError(
        'internal',
        `the request has ${body.length} characters; allowed: ${BODY_CHARACTERS_MAX}`,
      );
    }
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({ path: '/', method: 'POST', headers, body });
    return answer.body.json();
  };
  return {
    url,
    call: async (method, params = []) => {
      return resultOf(await post({ jsonrpc: '2.0', id: 1, method, params }), method);
    },
    batch: async (calls) => {
      if (calls.length === 0) return [];
      const answers = await post(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
      return orderAnswers(calls, answers);
    },
    close: () => pool.destroy(),
  };
}

function orderAnswers(calls: readonly RpcCall[], answers: unknown): unknown[] {
  if (!Array.isArray(answers))
    throw new AppError('node_failed', `the node refused a batch: ${JSON.stringify(answers)}`);
  const answerById = new Map<unknown, unknown>(
    answers.map((answer: unknown) => [field(answer, 'id'), answer]),
  );
  return calls.map((call, id) => resultOf(answerById.get(id), call.method));
}

/** A field of a JSON object; undefined if missing. */
export function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function resultOf(answer: unknown, method: string): unknown {
  const error = field(answer, 'error');
  if (error !== undefined) {
    throw new AppError('node_failed', `${method}: ${String(field(error, 'message'))}`, { retryable: false });
  }
  if (field(answer, 'result') === undefined)
    throw new AppError('node_failed', `${method}: the answer has no result`);
  return field(answer, 'result');
}

/** Converts a hex number (quantity) to a number; throws for any other value. */
export function toNumber(value: unknown): number {
  if (!isQuantity(value))
    throw new AppError('node_failed', `got ${String(value)}; allowed: a JSON-RPC quantity`);
  return Number(value);
}

/** Checks hex data; throws for any other value. */
export function toHexData(value: unknown): Hex {
  if (!isHexData(value)) throw new AppError('node_failed', `got ${String(value)}; allowed: hex data`);
  return value;
}

export interface BlockHead {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Time in unix seconds. */
  readonly timestamp: number;
}

/** The header fields of a block by number, or of the newest block. Throws if the block does not exist. */
export async function getBlockHead(rpc: DevRpc, number: number | 'latest' = 'latest'): Promise<BlockHead> {
  const tag = number === 'latest' ? number : `0x${number.toString(16)}`;
  const block = await rpc.call('eth_getBlockByNumber', [tag, false]);
  const hash = field(block, 'hash');
  const parentHash = field(block, 'parentHash');
  if (!isHash(hash) || !isHash(parentHash)) throw new AppError('node_failed', `the node has no block ${tag}`);
  return {
    number: toNumber(field(block, 'number')),
    hash,
    parentHash,
    timestamp: toNumber(field(block, 'timestamp')),
  };
}
