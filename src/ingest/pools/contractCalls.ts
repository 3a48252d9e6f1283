/** Batches of eth_call in which a revert is an answer (null), for finding out what pools are. */
import type { Settled } from '../../chain/rpc/endpoint';
import { RpcError, type RpcErrorKind } from '../../chain/rpc/rpcError';
import type { RpcCall } from '../../chain/rpc/rpcTransport';
import { isHexData, isQuantity, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { EthCalls } from './ethCalls';

/** Calls in one batch to the node. */
const CALLS_MAX = 300;
/** Bytes of one answer: room for the tokens, balances and weights of the largest pool that is read. */
const ANSWER_BYTES_MAX = 16_384;
/** Failures that say nothing about whether the node has a state: ask again later. */
const NODE_FAULTS: ReadonlySet<RpcErrorKind> = new Set([
  'rate_limited',
  'timeout',
  'network',
  'refused',
  'bad_answer',
]);

/** A block as a parameter of eth_call: by hash where another may take its place (EIP-1898). */
export type BlockTag = Hex | 'latest' | { readonly blockHash: Hex };

export interface TaggedCall {
  readonly to: Hex;
  readonly data: string;
  readonly gas?: Hex;
  readonly at: BlockTag;
}

/** One answer per call, null for one that reverts or answers too much. Rejects when the node cannot answer: never a guess. */
export async function callContracts(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  signal?: AbortSignal,
): Promise<(Hex | null)[]> {
  return callAll(rpc, calls, signal === undefined ? {} : { signal });
}

/**
 * The same for old blocks, whose states many nodes do not keep: then every answer of that block is null. Rejects only
 * when the node fails otherwise.
 */
export async function callContractsOfOld(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  signal?: AbortSignal,
): Promise<(Hex | null)[]> {
  const options = { roundsMax: 1, ...(signal === undefined ? {} : { signal }) };
  if (calls.length === 0) return [];
  try {
    return await callAll(rpc, calls, options);
  } catch (error) {
    if (!isStateMissing(error)) throw error;
  }
  // One block whose state is gone fails the batch: each block by itself.
  const byBlock = new Map<string, number[]>();
  calls.forEach(({ at }, index) => {
    const key = JSON.stringify(at);
    const known = byBlock.get(key);
    if (known === undefined) byBlock.set(key, [index]);
    else known.push(index);
  });
  const results: (Hex | null)[] = calls.map(() => null);
  for (const indices of byBlock.values()) {
    try {
      const some = indices.flatMap((index) => calls[index] ?? []);
      const answers = await callAll(rpc, some, options);
      indices.forEach((index, place) => (results[index] = answers[place] ?? null));
    } catch (error) {
      if (!isStateMissing(error)) throw error;
    }
  }
  return results;
}

/** Every node keeps the states of so many blocks below its head, and no branch that was given up is longer. */
const STATES_KEPT_BLOCKS = 64;

/** Which block the newest one of a node must reach, where the state that was asked for could not be had. */
export function newestInstead(number: number, error: unknown): number {
  const isGone = error instanceof RpcError && error.kind === 'unknown_block';
  // The state is gone from nodes that are far beyond the block; one that has not got it yet must be waited for.
  return isGone ? number + STATES_KEPT_BLOCKS : number;
}

/**
 * For what never changes of a contract that is as old as the block: at the block's own state, or where no node keeps that
 * any more, at the newest state of a node that is far beyond it. One that is behind, or on another branch, would say that
 * there is no such contract.
 */
export async function callContractsSince(
  rpc: EthCalls,
  calls: readonly Omit<TaggedCall, 'at'>[],
  block: { readonly number: number; readonly hash: Hex },
  signal?: AbortSignal,
): Promise<(Hex | null)[]> {
  const options = signal === undefined ? {} : { signal };
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

function isStateMissing(error: unknown): boolean {
  return error instanceof RpcError && !NODE_FAULTS.has(error.kind);
}

interface CallAllOptions {
  readonly signal?: AbortSignal;
  readonly roundsMax?: number;
  /** The node's newest block must not be below it. */
  readonly atLeast?: number;
}

/** `answerBytesMax`: of the whole answer, which holds two hex digits for each byte of the contract's. */
export function toEthCall(call: object, at: BlockTag, answerBytesMax: number): RpcCall {
  return { method: 'eth_call', params: [call, at], answerBytesMax };
}

/** Whether the contract brought the failure about: every node would fail the same way. */
export function isContractsAnswer({ kind, cut }: RpcError): boolean {
  return kind === 'revert' || cut === 'call';
}

/** The calls, of a node whose newest block is not below `atLeast`: it says so in the same batch. */
export async function settleAtLeast<T>(
  rpc: EthCalls,
  calls: readonly RpcCall[],
  parse: (result: unknown) => T,
  atLeast: number,
  options: { readonly signal?: AbortSignal; readonly roundsMax?: number },
): Promise<Settled<T>[]> {
  const height: RpcCall = { method: 'eth_blockNumber', params: [] };
  const answers = await rpc.batchSettled(
    [height, ...calls],
    (result, index): T | null => (index === 0 ? checkHeight(result, atLeast) : parse(result)),
    options,
  );
  return answers.slice(1).map((answer): Settled<T> => {
    if ('error' in answer) return answer;
    if (answer.value !== null) return { value: answer.value };
    throw new AppError('broken_invariant', 'an answer was parsed to nothing');
  });
}

function checkHeight(result: unknown, atLeast: number): null {
  if (!isQuantity(result)) throw new AppError('node_failed', 'eth_blockNumber answered no number');
  if (Number(result) >= atLeast) return null;
  throw new RpcError('unknown_block', `the node is at block ${Number(result)}, behind block ${atLeast}`);
}

async function callAll(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  { atLeast, ...options }: CallAllOptions,
): Promise<(Hex | null)[]> {
  const results: (Hex | null)[] = [];
  for (let from = 0; from < calls.length; from += CALLS_MAX) {
    const some = calls
      .slice(from, from + CALLS_MAX)
      .map(({ at, ...call }) => toEthCall(call, at, ANSWER_BYTES_MAX));
    const settled =
      atLeast === undefined
        ? await rpc.batchSettled(some, parseData, options)
        : await settleAtLeast(rpc, some, parseData, atLeast, options);
    for (const item of settled) {
      if ('error' in item && !isContractsAnswer(item.error)) throw item.error;
      results.push('value' in item ? item.value : null);
    }
  }
  return results;
}

function parseData(result: unknown): Hex {
  if (isHexData(result)) return result;
  throw new AppError('node_failed', 'eth_call answered something that is not hex data');
}
