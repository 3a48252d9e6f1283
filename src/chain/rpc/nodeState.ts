/**
 * The node as answers see it: questions about the state after a block, within a short time and only so many at once, so
 * that a slow or dead node makes answers poorer, never slow. A node that fails is left alone for a while.
 */
import type { Hex } from '../../domain/hex';
import { isHexData, isQuantity } from '../../domain/hex';
import type { NodeState, StateAnswers, StateQuestion } from '../../domain/nodeState';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { systemClock, withDeadline, type Clock } from './clock';
import type { EndpointPool } from './endpointPool';
import { RpcError } from './rpcError';
import type { RpcCall } from './rpcTransport';

/** For all questions of one asking together. */
const ASK_MS = 1_500;
/** For one endpoint, so that after one that hangs another can be asked. */
const ATTEMPT_MS = 700;
/** Askings at the same time; more are answered as if the node were away. */
const ASKINGS_MAX = 8;
/** After a failure nobody is asked for so long. */
const REST_MS = 3_000;
/** A block that the node does not know yet it may know soon. */
const UNKNOWN_BLOCK_REST_MS = 250;
/** Gas of one call: enough for a token behind proxies, too little to hold the node up. */
const CALL_GAS: Hex = '0x4c4b40';

/** Bytes of one answer: names, balances and positions are shorter. */
const ANSWER_BYTES_MAX = 4_096;

export interface NodeStateOptions {
  readonly rpc: Pick<EndpointPool, 'batchSettled'>;
  readonly log: Logger;
  readonly clock?: Clock;
}

export function createNodeState({ rpc, log, clock = systemClock() }: NodeStateOptions): NodeState {
  let restUntil = -Infinity;
  let underWay = 0;
  const ask = async (blockHash: Hex, questions: readonly StateQuestion[]): Promise<StateAnswers> => {
    const calls = questions.map((question) => toCall(question, blockHash));
    const late = (): Error => new RpcError('timeout', `no answer within ${ASK_MS} ms`);
    const settled = await withDeadline(clock, ASK_MS, undefined, late, (signal) =>
      rpc.batchSettled(calls, parseHex, { signal, roundsMax: 1, attemptMs: ATTEMPT_MS }),
    );
    return settled.map((item) => ('value' in item ? item.value : null));
  };
  return {
    async ask(blockHash, questions) {
      if (questions.length === 0) return [];
      if (clock.now() < restUntil || underWay >= ASKINGS_MAX) return null;
      underWay += 1;
      try {
        return await ask(blockHash, questions);
      } catch (error) {
        const unknown = error instanceof RpcError && error.kind === 'unknown_block';
        restUntil = clock.now() + (unknown ? UNKNOWN_BLOCK_REST_MS : REST_MS);
        log.warn({ error: errorText(error) }, 'the node does not say what an answer needs');
        return null;
      } finally {
        underWay -= 1;
      }
    },
  };
}

/** The block by its hash (EIP-1898): another of the same height would have another state. */
function toCall(question: StateQuestion, blockHash: Hex): RpcCall {
  const at = { blockHash };
  if (question.kind === 'coin') return { method: 'eth_getBalance', params: [question.address, at] };
  const { to, data, from } = question;
  const call = { to, data, gas: CALL_GAS, ...(from === undefined ? {} : { from }) };
  return { method: 'eth_call', params: [call, at], answerBytesMax: ANSWER_BYTES_MAX };
}

function parseHex(result: unknown): Hex {
  // A quantity may have an odd number of digits, data never.
  if (isHexData(result) || isQuantity(result)) return result;
  throw new AppError('node_failed', 'the node answered something that is not hex');
}
