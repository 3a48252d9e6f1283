/** The simulated chain as the ingester sees it: a block source that may fail, and whose chain may move between calls. */
import type { BlockHeader, BlockSource } from '../../src/chain/blockSource';
import type { Finality } from '../../src/chain/finality';
import type { ChainBlock } from '../../src/domain/block';
import { RpcError } from '../../src/chain/rpcError';
import { AppError } from '../../src/errors';
import type { EthCalls } from '../../src/ingest/ethCalls';
import type { SimChain } from './simChain';

export interface SimFaults {
  /** Probability that a call fails retryably. */
  failure: number;
  /** Called before each answer: may move the chain. */
  between: () => void;
}

function headerOf(block: ChainBlock): BlockHeader {
  const { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount } = block;
  return { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount, logsBloom: null };
}

export function simSource(chain: SimChain, faults: SimFaults): BlockSource {
  const answer = <T>(give: () => T): Promise<T> => {
    faults.between();
    if (chain.random.chance(faults.failure))
      return Promise.reject(new AppError('node_failed', 'simulated failure'));
    try {
      return Promise.resolve(give());
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const blockAt = (number: number): ChainBlock => {
    const block = chain.at(number);
    if (block === undefined) throw new AppError('node_failed', `simulated node has no block ${number}`);
    return block;
  };
  const range = (from: number, to: number): ChainBlock[] => {
    const blocks: ChainBlock[] = [];
    for (let number = from; number <= to; number += 1) blocks.push(blockAt(number));
    return blocks;
  };
  return {
    fetchHeader: (at) =>
      answer(() => headerOf(at === 'latest' ? chain.head : at === 'finalized' ? blockAt(0) : blockAt(at))),
    fetchHeaders: (from, to) => answer(() => range(from, to).map(headerOf)),
    fetchBlock: (number) => answer(() => blockAt(number)),
    fetchRange: (from, to) => answer(() => range(from, to)),
    confirmCanonical: (ref) => answer(() => chain.at(ref.number)?.hash === ref.hash),
  };
}

/** Everything at least `depth` below the head is final; never moves back. */
export function simFinality(depth: number): Finality {
  let last = 0;
  return {
    finalAt(head) {
      last = Math.max(last, head.number - depth);
      return Promise.resolve({ number: Math.min(last, head.number), hash: null });
    },
  };
}

/** Contracts that answer every call with a revert: tokens without metadata. */
export const revertingCalls: EthCalls = {
  batchSettled: (calls) =>
    Promise.resolve(calls.map(() => ({ error: new RpcError('revert', 'execution reverted') }))) as never,
};
