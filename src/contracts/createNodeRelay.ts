/** Passes read requests to a chain's node. Limits parallel requests and their time. Error texts name no
 * host. */
import { Interface } from 'ethers';

import { systemClock, withDeadline } from '../node/rpc/clock';
import type { Endpoint } from '../node/rpc/endpoint';
import type { EndpointPool } from '../node/rpc/endpointPool';
import { RpcError, type RpcErrorKind } from '../node/rpc/rpcError';
import type { RpcCall } from '../node/rpc/rpcTransport';
import { isHexData } from '../domain/hex';
import { TIME_LIMITS } from '../domain/time/timeLimits';
import { AppError } from '../errors';
import { BLOCK_NOT_FOUND, type NodeAnswer, type NodeRelay } from '../query/head/nodeRelay';

/** Selector of Error(string), the error that `revert` and `require` with a text return. */
const ERROR_INTERFACE = new Interface(['error Error(string reason)']);
/** Largest number of parallel reads. Further reads are refused. */
const READS_MAX = 8;
/**
 * Size limit of an answer in bytes. A larger answer is the fault of the caller, who requested too much, and not of
 * the node.
 */
const ANSWER_BYTES_MAX = 4 * 2 ** 20;
/**
 * Largest nesting depth of lists and objects. A block with transactions has four levels; JSON.stringify overflows
 * the stack at thousands.
 */
const ANSWER_DEPTH_MAX = 32;

/**
 * Errors that the caller gets as answers, with the codes that clients expect. After any other error there is no
 * answer.
 */
const ERROR_ANSWERS: Partial<Record<RpcErrorKind, { readonly code: number; readonly message: string }>> = {
  revert: { code: 3, message: 'execution reverted' },
  method_missing: { code: -32601, message: 'the method is not available' },
  too_large: { code: -32005, message: 'the answer is too large' },
  unknown_block: { code: BLOCK_NOT_FOUND, message: 'block not found' },
  invalid: { code: -32602, message: 'invalid params' },
  other: { code: -32000, message: 'the node refused the call' },
};

/** Errors after which the next endpoint gets the call, because it may have the block or the method. */
const RETRIED_KINDS: ReadonlySet<RpcErrorKind> = new Set(['unknown_block', 'method_missing']);

export function createNodeRelay(rpc: Pick<EndpointPool, 'run'>): NodeRelay {
  const clock = systemClock();
  let runningReads = 0;
  const readMethod = (method: string, params: readonly unknown[]): Promise<NodeAnswer> => {
    const limitMs = TIME_LIMITS.nodeReadMs;
    const timeoutError = (): Error => new RpcError('timeout', `the node did not answer within ${limitMs} ms`);
    return withDeadline(clock, limitMs, undefined, timeoutError, (deadline) =>
      rpc.run(
        (endpoint, signal) =>
          readFromEndpoint(endpoint, { method, params, answerBytesMax: ANSWER_BYTES_MAX }, signal),
        {
          signal: deadline,
          roundsMax: 1,
          // Each endpoint gets half of the time. If the first endpoint hangs, another one can still answer.
          attemptMs: limitMs / 2,
        },
      ),
    );
  };
  return {
    async call(method, params) {
      if (runningReads >= READS_MAX)
        throw new AppError(
          'node_failed',
          `${READS_MAX} requests to the node are already running; try again later`,
        );
      runningReads += 1;
      try {
        return await readMethod(method, params);
      } catch (error) {
        const errorAnswer =
          error instanceof RpcError && RETRIED_KINDS.has(error.kind) ? ERROR_ANSWERS[error.kind] : undefined;
        if (errorAnswer === undefined) throw error;
        return { error: errorAnswer };
      } finally {
        runningReads -= 1;
      }
    },
  };
}

/** An error that the caller caused must not lower the endpoint's rank in the pool. */
async function readFromEndpoint(endpoint: Endpoint, call: RpcCall, signal: AbortSignal): Promise<NodeAnswer> {
  const [outcome] = await endpoint.attempt([call], (result) => result, signal);
  if (outcome === undefined) throw new RpcError('bad_answer', 'the node gave no answer');
  if ('value' in outcome) {
    if (isDeeper(outcome.value, ANSWER_DEPTH_MAX))
      throw new RpcError('bad_answer', `the answer is nested deeper than ${ANSWER_DEPTH_MAX} levels`);
    return { result: outcome.value };
  }
  const { kind, data } = outcome.error;
  const answer = ERROR_ANSWERS[kind];
  if (answer === undefined || RETRIED_KINDS.has(kind)) throw outcome.error;
  if (!isHexData(data)) return { error: answer };
  const reason = kind === 'revert' ? revertReason(data) : null;
  const message = reason === null ? answer.message : `${answer.message}: ${reason}`;
  return { error: { ...answer, message, data } };
}

/** Whether lists or objects nest deeper than `depthMax`. */
function isDeeper(value: unknown, depthMax: number): boolean {
  let valuesOfLevel = [value];
  for (let depth = 0; depth < depthMax; depth += 1) {
    valuesOfLevel = valuesOfLevel.flatMap((nestedValue) =>
      typeof nestedValue === 'object' && nestedValue !== null ? Object.values(nestedValue) : [],
    );
    if (valuesOfLevel.length === 0) return false;
  }
  return true;
}

/** The text of Error(string), as nodes append it to their message. Null if the data is another error. */
function revertReason(data: string): string | null {
  try {
    const text: unknown = ERROR_INTERFACE.parseError(data)?.args[0];
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
