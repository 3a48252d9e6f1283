/**
 * Reads account state from the node for API answers, with a short timeout and few requests in parallel. If
 * the node is slow or dead, answers are less complete but not slow. After a failure, the node is not called
 * for some time.
 */
import { isHexData, isQuantity, type Hex } from '../../domain/hex';
import type { AccountState, StateAnswers, StateQuestion } from '../../domain/accountState';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { toRpcCall } from '../calls/askContracts';
import { systemClock, withDeadline, type Clock } from './clock';
import type { EndpointPool } from './endpointPool';
import { RpcError } from './rpcError';
import type { RpcCall } from './rpcTransport';

/** Time limit in ms of one batch of questions. */
const ASK_MS = 1_500;
/** Time limit in ms of one endpoint, so that another endpoint can still answer. */
const ATTEMPT_MS = 700;
/**
 * Largest number of requests in parallel. Further requests get null at once, as if the node did not answer.
 */
const ASKINGS_MAX = 8;
/** Time in ms after a failure in which the node gets no calls. */
const REST_MS = 3_000;
/**
 * Time in ms after an unknown block in which the node gets no calls about this block. It is shorter than REST_MS,
 * because the node may have the block soon.
 */
const UNKNOWN_BLOCK_REST_MS = 250;
/** Size limit of one answer in bytes. Balances and positions are shorter; a longer name of a token is not shown. */
const ANSWER_BYTES_MAX = 32_768;

interface AccountStateOptions {
  readonly rpc: Pick<EndpointPool, 'batchOutcomes'>;
  readonly log: Logger;
  readonly clock?: Clock;
}

export function createAccountState({ rpc, log, clock = systemClock() }: AccountStateOptions): AccountState {
  let restUntilMs = -Infinity;
  let unknownBlock: { readonly block: Hex; readonly untilMs: number } | null = null;
  let underWay = 0;
  const ask = async (blockHash: Hex, questions: readonly StateQuestion[]): Promise<StateAnswers> => {
    const calls = questions.map((question) => toCall(question, blockHash));
    const timeoutError = (): Error => new RpcError('timeout', `the node did not answer within ${ASK_MS} ms`);
    const outcomes = await withDeadline(clock, ASK_MS, undefined, timeoutError, (signal) =>
      rpc.batchOutcomes(calls, parseHex, { signal, roundsMax: 1, attemptMs: ATTEMPT_MS }),
    );
    return outcomes.map((item) => ('value' in item ? item.value : null));
  };
  return {
    async ask(blockHash, questions) {
      if (questions.length === 0) return [];
      const isResting =
        clock.now() < restUntilMs ||
        (unknownBlock?.block === blockHash && clock.now() < unknownBlock.untilMs);
      if (isResting || underWay >= ASKINGS_MAX) return null;
      underWay += 1;
      try {
        return await ask(blockHash, questions);
      } catch (error) {
        if (error instanceof RpcError && error.kind === 'unknown_block')
          unknownBlock = { block: blockHash, untilMs: clock.now() + UNKNOWN_BLOCK_REST_MS };
        else restUntilMs = clock.now() + REST_MS;
        log.warn({ error: errorText(error) }, 'reading account state from the node failed');
        return null;
      } finally {
        underWay -= 1;
      }
    },
    lacks: (blockHash) => unknownBlock?.block === blockHash,
  };
}

/**
 * Builds the call. The block is named by its hash (EIP-1898), because a block of another branch at the same
 * height has another state.
 */
function toCall(question: StateQuestion, blockHash: Hex): RpcCall {
  const blockTag = { blockHash };
  if (question.kind === 'coin') return { method: 'eth_getBalance', params: [question.address, blockTag] };
  const { kind, ...call } = question;
  return toRpcCall({ ...call, answerBytesMax: ANSWER_BYTES_MAX }, blockTag);
}

function parseHex(result: unknown): Hex {
  // A hex number may have an odd number of digits; hex data must not.
  if (isHexData(result) || isQuantity(result)) return result;
  throw new AppError('node_failed', 'the node returned a value that is not hex');
}
