/**
 * Asks contracts through the endpoint pool: calls, code and storage, in batches of bounded size, each call with a limit
 * of gas and of the size of its answer. A call without a usable answer has the answer null; only failures of the node
 * are errors.
 */
import { RpcError, PASSING_KINDS, type RpcErrorKind } from '../rpc/rpcError';
import type { Outcome, RpcCall } from '../rpc/rpcTransport';
import type { ContractCall } from '../../domain/contractCall';
import { isHexData, isQuantity, toLowerHex, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { EndpointPool } from '../rpc/endpointPool';

/** The part of EndpointPool that contract calls need: batches in which a revert fails only its own call. */
export type EthCalls = Pick<EndpointPool, 'batchOutcomes'>;

/** Number of calls in one batch. */
const CALLS_MAX = 300;
/** Gas limit of one call: enough for a token behind proxies, too little to slow the node down. */
const CALL_GAS: Hex = '0x4c4b40';
/** Size limit of one answer in bytes: enough for the tokens, balances and weights of the largest supported pool. */
const ANSWER_BYTES_MAX = 16_384;
/** Failures that do not show whether the node has the state of the block. The calls are retried later. */
const NODE_FAULTS: ReadonlySet<RpcErrorKind> = new Set([...PASSING_KINDS, 'bad_answer']);

/** The newest block, whose state every node has. */
const NEWEST = JSON.stringify('latest');
const NO_ANSWER = { error: new RpcError('bad_answer', 'the node gave no answer') };

/** A block as a parameter of a call. A block that a reorg may still replace is given by hash (EIP-1898). */
export type BlockTag = Hex | 'latest' | { readonly blockHash: Hex };

/** A question about the state of a contract: a call of a function, its code, or the word in a storage slot. */
export type StateCall =
  ContractCall | { readonly codeOf: Hex } | { readonly slot: Hex; readonly storageOf: Hex };

/** The answers about one contract, in the order of the calls. */
interface ContractAnswers {
  readonly answers: readonly (Hex | null)[];
  /**
   * Whether every endpoint answered one of the calls with something that is no hex data. The contract may have an
   * answer, so the calls should be repeated later.
   */
  readonly isUnsure: boolean;
}

interface BatchOptions {
  readonly signal?: AbortSignal | undefined;
  readonly roundsMax?: number;
  /** Lowest acceptable head of the node. Null, the default, if the block of the calls must be on the node anyway. */
  readonly atLeast?: number | null;
}

interface AskOptions extends BatchOptions {
  /** The block after which the contracts are asked; a function gives it for the contract at an index. */
  readonly at: BlockTag | ((index: number) => BlockTag);
  /**
   * What a block without state means, which many nodes have deleted: an error, or null for all answers at this block.
   * The default is an error.
   */
  readonly missing?: 'error' | 'null';
  /**
   * Number of the newest block of the calls if a reorg may still remove it. A node that does not have this block yet
   * gives the same answer as one that has deleted its state. So a missing state is an error, unless a node is far above
   * the block.
   */
  readonly reversibleTo?: number | undefined;
}

/**
 * Makes a list of calls for each contract. Returns null for a revert, for an answer that is too large, and for a call
 * that every endpoint answered with something that is no hex data. Rejects if no node can answer.
 */
export async function askContracts(
  rpc: EthCalls,
  contracts: readonly (readonly StateCall[])[],
  { at, missing = 'error', reversibleTo, ...options }: AskOptions,
): Promise<ContractAnswers[]> {
  const tagOf = typeof at === 'function' ? at : (): BlockTag => at;
  const calls = contracts.flatMap((list, index) => list.map((call) => toRpcCall(call, tagOf(index))));
  const outcomes = await (missing === 'error'
    ? callAll(rpc, calls, options)
    : callWithStates(rpc, calls, options, reversibleTo));
  let start = 0;
  return contracts.map(({ length }) => {
    const contractOutcomes = outcomes.slice(start, (start += length));
    return {
      answers: contractOutcomes.map((outcome) => ('value' in outcome ? outcome.value : null)),
      isUnsure: contractOutcomes.some((outcome) => 'error' in outcome && outcome.error.malformed),
    };
  });
}

export function toRpcCall(call: StateCall, at: BlockTag): RpcCall {
  if ('codeOf' in call) return { method: 'eth_getCode', params: [call.codeOf, at] };
  if ('storageOf' in call) return { method: 'eth_getStorageAt', params: [call.storageOf, call.slot, at] };
  const { gas = CALL_GAS, answerBytesMax = ANSWER_BYTES_MAX, ...plain } = call;
  return { method: 'eth_call', params: [gas === null ? plain : { ...plain, gas }, at], answerBytesMax };
}

async function callAll(rpc: EthCalls, calls: readonly RpcCall[], options: BatchOptions) {
  const outcomes: Outcome<Hex>[] = [];
  for (let from = 0; from < calls.length; from += CALLS_MAX)
    outcomes.push(...(await callBatch(rpc, calls.slice(from, from + CALLS_MAX), options)));
  for (const outcome of outcomes)
    if ('error' in outcome && !isUnanswerable(outcome.error)) throw outcome.error;
  return outcomes;
}

/** Like `callAll`, but calls at a block whose state no node has get the error as their outcome. */
async function callWithStates(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  batchOptions: BatchOptions,
  reversibleTo: number | undefined,
) {
  const options = { roundsMax: 1, ...batchOptions };
  try {
    return await callAll(rpc, calls, options);
  } catch (error) {
    if (!isStateMissing(error)) throw error;
  }
  // One call at a block without state makes its whole batch fail, so each block gets its own batch.
  const blocks = calls.map(({ params }) => JSON.stringify(params.at(-1)));
  const outcomes = new Map<RpcCall, Outcome<Hex>>();
  for (const block of new Set(blocks)) {
    const blockCalls = calls.filter((_, index) => blocks[index] === block);
    const blockOutcomes = await callAll(rpc, blockCalls, options).catch(async (error: unknown) => {
      if (!isStateMissing(error) || block === NEWEST) throw error;
      if (error.kind === 'unknown_block' && reversibleTo !== undefined)
        await callBatch(rpc, [], { ...options, atLeast: reversibleTo + STATES_KEPT_BLOCKS });
      return blockCalls.map(() => ({ error }));
    });
    blockCalls.forEach((call, index) => outcomes.set(call, blockOutcomes[index] ?? NO_ANSWER));
  }
  return calls.map((call) => outcomes.get(call) ?? NO_ANSWER);
}

/** Where calls about a value that never changes are made. */
export type AskedBlock = Required<Pick<AskOptions, 'atLeast'>> & {
  readonly at: BlockTag;
  readonly roundsMax?: number;
};

/** Every node keeps the state of this many blocks below its head. Reorgs remove fewer blocks. */
const STATES_KEPT_BLOCKS = 64;

/**
 * Reads values that never change once the contract exists, at the state of the given block. If no node has this state,
 * reads them at the newest state of a node whose head is far above the block. A node that is behind, or on another
 * branch, would report a missing contract.
 */
export async function askSince<T>(
  { number, hash }: { readonly number: number; readonly hash: Hex },
  reversible: boolean,
  ask: (block: AskedBlock) => Promise<T>,
): Promise<T> {
  const ownState = { at: { blockHash: hash }, atLeast: null };
  try {
    // Perhaps no node still has the state of a final block, so each endpoint is tried only once.
    return await ask(reversible ? ownState : { ...ownState, roundsMax: 1 });
  } catch (error) {
    if (!(error instanceof RpcError) || (reversible && NODE_FAULTS.has(error.kind))) throw error;
    // The node failed this time, which says nothing about the state, so the calls are repeated.
    if (NODE_FAULTS.has(error.kind)) return ask(ownState);
    // A node also answers `unknown_block` if it does not have the block yet, or if a reorg removed the block. The answer
    // proves that the state is deleted only if the node's head is far above the block.
    const atLeast = error.kind === 'unknown_block' ? number + STATES_KEPT_BLOCKS : number;
    return ask({ at: 'latest', atLeast, ...(reversible && { roundsMax: 1 }) });
  }
}

function isStateMissing(error: unknown): error is RpcError {
  return error instanceof RpcError && !NODE_FAULTS.has(error.kind);
}

/**
 * Returns whether no node can give a usable answer: the contract reverted, its answer is too large, or every
 * endpoint gave a malformed answer.
 */
export function isUnanswerable({ kind, cut, malformed }: RpcError): boolean {
  return kind === 'revert' || cut === 'call' || malformed;
}

/** Whether an error says nothing about the contract, because the node did not look at it. */
export function isNodeFault({ kind }: RpcError): boolean {
  return NODE_FAULTS.has(kind);
}

/**
 * Sends one batch, and returns the outcome of each call. A malformed answer may be an accident, so the batch is repeated
 * with all rounds before the answer counts.
 */
export async function callBatch(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  { atLeast = null, roundsMax, signal }: BatchOptions,
): Promise<Outcome<Hex>[]> {
  const options = { ...(signal && { signal }), ...(roundsMax !== undefined && { roundsMax }) };
  const outcomes =
    atLeast === null
      ? await rpc.batchOutcomes(calls, parseData, options)
      : await batchAtLeast(rpc, calls, atLeast, options);
  if (roundsMax === undefined || !outcomes.some((outcome) => 'error' in outcome && outcome.error.malformed))
    return outcomes;
  return callBatch(rpc, calls, { atLeast, signal });
}

/** The batch contains eth_blockNumber to check the head of the node. */
async function batchAtLeast(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  atLeast: number,
  options: Parameters<EthCalls['batchOutcomes']>[2],
): Promise<Outcome<Hex>[]> {
  const height: RpcCall = { method: 'eth_blockNumber', params: [] };
  const [head, ...answers] = await rpc.batchOutcomes(
    [height, ...calls],
    (result, index) => (index === 0 ? checkHeight(result, atLeast) : parseData(result)),
    options,
  );
  // Without the head, the node may be behind, and its answers about a new contract wrong.
  if (head !== undefined && 'error' in head) throw head.error;
  return answers;
}

function checkHeight(result: unknown, atLeast: number): Hex {
  if (!isQuantity(result)) throw new RpcError('bad_answer', 'the answer of eth_blockNumber is not a number');
  if (Number(result) >= atLeast) return result;
  throw new RpcError('unknown_block', `the node is at block ${Number(result)}, behind block ${atLeast}`);
}

/**
 * Returns the outcome of each call. A hostile contract can cause an error that looks like a failure of the node and
 * fails the whole batch. Each call is then sent alone, so that one contract does not stop the measuring of all others.
 */
export async function callEach(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<Outcome<Hex>[]> {
  if (calls.length === 0) return [];
  try {
    return await rpc.batchOutcomes(calls, parseData, { signal, roundsMax: 1 });
  } catch (error) {
    if (!(error instanceof RpcError) || PASSING_KINDS.has(error.kind)) throw error;
    if (calls.length === 1) return [{ error }];
    const outcomes: Outcome<Hex>[] = [];
    for (const call of calls) outcomes.push(...(await callEach(rpc, [call], signal)));
    if (outcomes.every((outcome) => 'error' in outcome && outcome.error.retryable)) throw error;
    return outcomes;
  }
}

function parseData(result: unknown): Hex {
  if (isHexData(result)) return toLowerHex(result);
  throw new AppError('node_failed', 'the answer of the node is not hex data');
}
