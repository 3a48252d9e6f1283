/**
 * The ingester's view of the simulated chain: a block source that may fail, and a chain that may change between calls.
 */
import type { BlockHeader, BlockSource } from '../../src/chain/blocks/blockSource';
import type { Finality } from '../../src/chain/head/finality';
import type { ChainBlock } from '../../src/domain/block';
import type { Hex } from '../../src/domain/hex';
import { RpcError } from '../../src/chain/rpc/rpcError';
import { AppError } from '../../src/errors';
import type { EthCalls } from '../../src/ingest/pools/ethCalls';
import type { SimChain } from './simChain';
import { answerOfPool, poolTokensOf, VAULT } from './simVault';

export interface SimFaults {
  /** Probability of a retryable failure per call. */
  failure: number;
  /** Called before each answer. May change the chain. */
  between: () => void;
}

export function headerOf(block: ChainBlock): BlockHeader {
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
    fetchRange: (from, to) => answer(() => range(from, to)),
    confirmCanonical: (ref) => answer(() => chain.at(ref.number)?.hash === ref.hash),
  };
}

/** Blocks at least `depth` below the head are final. Finality never moves back. */
export function simFinality(depth: number): Finality {
  let last = 0;
  return {
    finalAt(head) {
      last = Math.max(last, head.number - depth);
      return Promise.resolve({ number: Math.min(last, head.number), hash: null });
    },
  };
}

/**
 * The contracts of the chain: a vault, its pools, and tokens that answer no calls. Fails and lags like the block
 * source.
 */
export function simCalls(chain: SimChain, faults: SimFaults): EthCalls {
  const hashOf = (at: unknown): Hex | undefined => {
    if (typeof at === 'object' && at !== null && 'blockHash' in at) return at.blockHash as Hex;
    return at === 'latest' ? chain.head.hash : chain.at(Number(at))?.hash;
  };
  const answer = ({ to, data }: { to: Hex; data: Hex }, at: unknown): Hex | RpcError => {
    const hash = hashOf(at);
    const pools = hash === undefined ? undefined : chain.vaultPoolsAt(hash);
    if (pools === undefined) return new RpcError('unknown_block', `no block ${JSON.stringify(at)}`);
    const revert = new RpcError('revert', 'execution reverted');
    if (to === VAULT) {
      const pool = pools.find(({ poolId }) => poolId.slice(2) === data.slice(10));
      return pool === undefined ? revert : poolTokensOf(pool);
    }
    const pool = pools.find(({ address }) => address === to);
    return pool === undefined ? '0x' : (answerOfPool(pool, data.slice(0, 10)) ?? revert);
  };
  return {
    batchSettled(calls, parse) {
      faults.between();
      if (chain.random.chance(faults.failure))
        return Promise.reject(new RpcError('network', 'simulated failure'));
      const results = calls.map(({ params }) => {
        const [call, at] = params as [{ to: Hex; data: Hex }, unknown];
        return answer(call, at);
      });
      const passing = results.find((result) => result instanceof RpcError && result.retryable);
      if (passing !== undefined) return Promise.reject(passing as RpcError);
      return Promise.resolve(
        results.map((result, index) =>
          result instanceof RpcError ? { error: result } : { value: parse(result, index) },
        ),
      );
    },
  };
}
