/** Hashes of the blocks of a snapshot's chain by number; those of final blocks are remembered, they never change. */
import type { Hex } from '../domain/hex';
import { createHashMemory } from './hashMemory';
import type { HeadSnapshot } from './headSnapshot';
import { listFinalHashes, listRangeHashes } from './headState';
import { slicesOf } from './inChunks';
import type { LogSource } from './logFilter';

/** 16 MB. */
const HASHES_KEPT = 512 * 1_024;
/** As many fit an address. */
const NUMBERS_PER_QUERY = 600;
/** Numbers that are so many of all between them are read as one range. */
const RANGE_FACTOR = 5;
const RANGE_MAX = 10_000;

export interface BlockHashes {
  /** Missing: beyond the head, or not stored. At most 10,000 numbers. */
  list(head: HeadSnapshot, numbers: readonly number[]): Promise<ReadonlyMap<number, Hex>>;
}

export function createBlockHashes({ runner, chainId }: LogSource): BlockHashes {
  const known = createHashMemory(HASHES_KEPT);
  return {
    async list(head, numbers) {
      const hashes = new Map<number, Hex>();
      const unknown: number[] = [];
      for (const number of new Set(numbers)) {
        const hash = number > head.finalTo ? head.blocks[number - head.finalTo - 1]?.hash : known.get(number);
        if (hash !== undefined) hashes.set(number, hash);
        else if (number <= head.finalTo) unknown.push(number);
      }
      if (unknown.length === 0) return hashes;
      // At the same time: a page of logs waits for them.
      const [from, to] = [Math.min(...unknown), Math.max(...unknown)];
      const found = await Promise.all(
        to - from < RANGE_MAX && to - from < RANGE_FACTOR * unknown.length
          ? [listRangeHashes(runner, chainId, from, to)]
          : slicesOf(unknown, NUMBERS_PER_QUERY).map((slice) => listFinalHashes(runner, chainId, slice)),
      );
      for (const [number, hash] of found.flatMap((some) => [...some])) {
        known.set(number, hash);
        hashes.set(number, hash);
      }
      return hashes;
    },
  };
}
