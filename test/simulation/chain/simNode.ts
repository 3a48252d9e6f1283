/** A simulated node without faults: it serves blocks and finality of the simulated chain. */
import type { BlockHeader, BlockSource } from '../../../src/node/blocks/blockSource';
import type { Finality } from '../../../src/node/head/finality';
import type { ChainBlock, BlockRef } from '../../../src/domain/block';
import { AppError } from '../../../src/errors';

/** The canonical branch of a chain in memory. */
export interface Branch {
  readonly head: ChainBlock;
  at(number: number): ChainBlock | undefined;
}

export function headerOf(block: ChainBlock): BlockHeader {
  const { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount } = block;
  return { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount, logsBloom: null };
}

export function simSource(chain: Branch): BlockSource {
  const blockAt = async (number: number): Promise<ChainBlock> => {
    const block = chain.at(number);
    if (block === undefined) throw new AppError('node_failed', `simulated node has no block ${number}`);
    return block;
  };
  const range = (from: number, to: number): Promise<ChainBlock[]> =>
    Promise.all(Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => blockAt(from + index)));
  return {
    fetchHeader: async (block) => headerOf(typeof block === 'number' ? await blockAt(block) : chain.head),
    fetchHeaders: async (from, to) => (await range(from, to)).map(headerOf),
    fetchRange: range,
    confirmCanonical: (ref: BlockRef) => Promise.resolve(chain.at(ref.number)?.hash === ref.hash),
    checkSenders: () => Promise.resolve(),
  };
}

/** Blocks at least `depth` below the head are final. Finality never moves back. */
export function simFinality(depth: number): Finality {
  let lastFinal = 0;
  return {
    finalAt(head) {
      lastFinal = Math.max(lastFinal, head.number - depth);
      return Promise.resolve({ number: Math.min(lastFinal, head.number), hash: null });
    },
  };
}
