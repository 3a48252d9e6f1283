/**
 * Sends batches of eth_call. A call that reverts has the answer null; only failures of the node are errors.
 */
import { RpcError, type RpcErrorKind } from '../../node/rpc/rpcError';
import type { Outcome, RpcCall } from '../../node/rpc/rpcTransport';
import { isHexData, isQuantity, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { EndpointPool } from '../../node/rpc/endpointPool';

/** The part of EndpointPool that contract calls need: batches in which a revert fails only its own call. */
export type EthCalls = Pick<EndpointPool, 'batchOutcomes'>;

/** Number of calls in one batch. */
const CALLS_MAX = 300;
/**
 * Size limit of one answer in bytes: enough for the tokens, balances and weights of the largest supported
 * pool.
 */
const ANSWER_BYTES_MAX = 16_384;
/** Failures that do not show whether the node has the state of the block. The calls are retried later. */
const NODE_FAULTS: ReadonlySet<RpcErrorKind> = new Set([
  'rate_limited',
  'timeout',
  'network',
  'refused',
  'bad_answer',
]);

/** A block as a parameter of eth_call. A block that a reorg may still replace is given by hash (EIP-1898). */
export type BlockTag = Hex | 'latest' | { readonly blockHash: Hex };

export interface TaggedCall {
  readonly to: Hex;
  readonly data: string;
  readonly gas?: Hex;
  readonly at: BlockTag;
}

/**
 * Returns one answer per call: null for a revert, for an answer that is too large, and for a call that every
 * endpoint answered with something that is no hex data. The indexes of the latter calls are added to `malformed`:
 * the contract may have an answer, so such a call should be repeated later. Rejects if no node can answer.
 */
export async function callContracts(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  signal?: AbortSignal,
  malformed?: Set<number>,
): Promise<(Hex | null)[]> {
  return callAll(rpc, calls, { ...optionsOf(signal), malformed });
}

/**
 * Like `callContracts`, for old blocks, whose state many nodes have deleted. All answers for a block without
 * state are null. Rejects only for other node failures.
 */
export async function callContractsOfOld(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  signal?: AbortSignal,
  malformed?: Set<number>,
): Promise<(Hex | null)[]> {
  const options = { roundsMax: 1, ...optionsOf(signal) };
  if (calls.length === 0) return [];
  try {
    return await callAll(rpc, calls, { ...options, malformed });
  } catch (error) {
    if (!isStateMissing(error)) throw error;
  }
  // One call at a block without state makes its whole batch fail, so each block gets its own batch.
  const byBlock = new Map<string, number[]>();
  calls.forEach(({ at }, index) => {
    const key = JSON.stringify(at);
    const sameBlock = byBlock.get(key);
    if (sameBlock === undefined) byBlock.set(key, [index]);
    else sameBlock.push(index);
  });
  const results: (Hex | null)[] = calls.map(() => null);
  for (const indices of byBlock.values()) {
    try {
      const blockCalls = indices.flatMap((index) => calls[index] ?? []);
      const unreadPlaces = new Set<number>();
      const answers = await callAll(rpc, blockCalls, { ...options, malformed: unreadPlaces });
      for (const [place, index] of indices.entries()) {
        results[index] = answers[place] ?? null;
        if (unreadPlaces.has(place)) malformed?.add(index);
      }
    } catch (error) {
      if (!isStateMissing(error)) throw error;
    }
  }
  return results;
}

/** Every node keeps the state of this many blocks below its head. Reorgs remove fewer blocks. */
const STATES_KEPT_BLOCKS = 64;

/**
 * Returns the lowest head that a node must have before its newest state may replace the missing state of block
 * `number`.
 */
export function newestInstead(number: number, error: unknown): number {
  const isGone = error instanceof RpcError && error.kind === 'unknown_block';
  // A node that does not have the block yet also answers `unknown_block`. The answer proves that the state is
  // deleted only if the node's head is far above the block.
  return isGone ? number + STATES_KEPT_BLOCKS : number;
}

/**
 * Reads values that never change once the contract exists. The calls use the state of the given block. If no
 * node has this state, the calls use the newest state of a node whose head is far above the block. A node
 * that is behind, or on another branch, would report a missing contract.
 */
export async function callContractsSince(
  rpc: EthCalls,
  calls: readonly Omit<TaggedCall, 'at'>[],
  block: { readonly number: number; readonly hash: Hex },
  signal?: AbortSignal,
  malformed?: Set<number>,
): Promise<(Hex | null)[]> {
  const options = { ...optionsOf(signal), malformed };
  const ask = (at: BlockTag, more: CallAllOptions): Promise<(Hex | null)[]> =>
    callAll(
      rpc,
      calls.map((call) => ({ ...call, at })),
      { ...options, ...more },
    );
  try {
    return await ask({ blockHash: block.hash }, { roundsMax: 1 });
  } catch (error) {
    if (!isStateMissing(error)) throw error;
    return ask('latest', { atLeast: newestInstead(block.number, error) });
  }
}

function optionsOf(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function isStateMissing(error: unknown): boolean {
  return error instanceof RpcError && !NODE_FAULTS.has(error.kind);
}

interface CallAllOptions {
  readonly signal?: AbortSignal;
  readonly roundsMax?: number;
  /** Lowest acceptable head of the node. */
  readonly atLeast?: number | null;
  /** Gets the indexes of the calls whose answers are malformed. */
  readonly malformed?: Set<number> | undefined;
}

/**
 * Builds an eth_call. `answerBytesMax` limits the decoded answer; the JSON text has two hex digits per byte.
 */
export function toEthCall(call: object, at: BlockTag, answerBytesMax: number): RpcCall {
  return { method: 'eth_call', params: [call, at], answerBytesMax };
}

/**
 * Returns whether no node can give a usable answer: the contract reverted, its answer is too large, or every
 * endpoint gave a malformed answer.
 */
export function isUnanswerable({ kind, cut, malformed }: RpcError): boolean {
  return kind === 'revert' || cut === 'call' || malformed;
}

interface BatchOptions {
  readonly signal?: AbortSignal;
  readonly roundsMax?: number;
}

/**
 * Sends the calls to a node whose head is at least `atLeast`, or to any node if `atLeast` is null. A malformed answer
 * may be an accident, so the batch is repeated with all rounds before the answer counts.
 */
export async function callBatch<T>(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  parse: (result: unknown) => T,
  atLeast: number | null,
  options: BatchOptions,
): Promise<Outcome<T>[]> {
  const outcomes =
    atLeast === null
      ? await rpc.batchOutcomes(calls, parse, options)
      : await batchAtLeast(rpc, calls, parse, atLeast, options);
  const isShort = options.roundsMax !== undefined;
  if (!isShort || !outcomes.some((item) => 'error' in item && item.error.malformed)) return outcomes;
  return callBatch(rpc, calls, parse, atLeast, optionsOf(options.signal));
}

/** The batch contains eth_blockNumber to check the head of the node. */
async function batchAtLeast<T>(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  parse: (result: unknown) => T,
  atLeast: number,
  options: BatchOptions,
): Promise<Outcome<T>[]> {
  const height: RpcCall = { method: 'eth_blockNumber', params: [] };
  const [head, ...answers] = await rpc.batchOutcomes(
    [height, ...calls],
    (result, index): T | null => (index === 0 ? checkHeight(result, atLeast) : parse(result)),
    options,
  );
  // Without the head, the node may be behind, and its answers about a new contract wrong.
  if (head !== undefined && 'error' in head) throw head.error;
  return answers.map((answer): Outcome<T> => {
    if ('error' in answer) return answer;
    if (answer.value !== null) return { value: answer.value };
    throw new AppError('broken_invariant', 'the parser of a node answer returned null');
  });
}

function checkHeight(result: unknown, atLeast: number): null {
  if (!isQuantity(result)) throw new RpcError('bad_answer', 'the answer of eth_blockNumber is not a number');
  if (Number(result) >= atLeast) return null;
  throw new RpcError('unknown_block', `the node is at block ${Number(result)}, behind block ${atLeast}`);
}

async function callAll(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  { atLeast = null, malformed, ...options }: CallAllOptions,
): Promise<(Hex | null)[]> {
  const results: (Hex | null)[] = [];
  for (let from = 0; from < calls.length; from += CALLS_MAX) {
    const batch = calls
      .slice(from, from + CALLS_MAX)
      .map(({ at, ...call }) => toEthCall(call, at, ANSWER_BYTES_MAX));
    for (const item of await callBatch(rpc, batch, parseData, atLeast, options)) {
      if ('error' in item && !isUnanswerable(item.error)) throw item.error;
      if ('error' in item && item.error.malformed) malformed?.add(results.length);
      results.push('value' in item ? item.value : null);
    }
  }
  return results;
}

/** Parses the answer of an eth_call. */
export function parseData(result: unknown): Hex {
  if (isHexData(result)) return result;
  throw new RpcError('bad_answer', 'the answer of eth_call is not hex data');
}
