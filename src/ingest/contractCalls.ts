/** Batches of eth_call in which a revert is an answer (null), for finding out what pools are. */
import { RpcError, type RpcErrorKind } from '../chain/rpcError';
import { isHexData, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import type { EthCalls } from './ethCalls';

/** Calls in one batch to the node. */
const CALLS_MAX = 300;
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

/** One answer per call, null for one that reverts. Rejects when the node cannot answer: never a guess. */
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

function isStateMissing(error: unknown): boolean {
  return error instanceof RpcError && !NODE_FAULTS.has(error.kind);
}

async function callAll(
  rpc: EthCalls,
  calls: readonly TaggedCall[],
  options: { readonly signal?: AbortSignal; readonly roundsMax?: number },
): Promise<(Hex | null)[]> {
  const results: (Hex | null)[] = [];
  for (let from = 0; from < calls.length; from += CALLS_MAX) {
    const settled = await rpc.batchSettled(
      calls
        .slice(from, from + CALLS_MAX)
        .map(({ at, ...call }) => ({ method: 'eth_call', params: [call, at] })),
      parseData,
      options,
    );
    for (const item of settled) {
      if ('error' in item && item.error.kind !== 'revert') throw item.error;
      results.push('value' in item ? item.value : null);
    }
  }
  return results;
}

function parseData(result: unknown): Hex {
  if (isHexData(result)) return result;
  throw new AppError('node_failed', 'eth_call answered something that is not hex data');
}
