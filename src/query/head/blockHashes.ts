/** Finds block hashes of a snapshot's chain by number. Hashes of final blocks never change and stay in memory. */
import { LRUCache } from 'lru-cache';

import type { QueryParams } from '../../clickhouse/client/database';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { blocksTable } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import type { HeadSnapshot } from './headSnapshot';
import { slicesOf } from './inChunks';
import type { LogSource } from '../logs/logFilter';

/** Number of hashes in memory, about 200 bytes each. */
const HASHES_KEPT = 64 * 1_024;
/** Largest number of block numbers per query, limited by the length of the query's URL. */
const NUMBERS_PER_QUERY = 600;
/**
 * If at least one in this many blocks of a range is wanted, the whole range is read. The next page may need the
 * hashes in between.
 */
const RANGE_BLOCKS_PER_HASH = 30;
const RANGE_BLOCKS_MAX = 30_000;

export const finalHashRow = rowType(pick(blocksTable.types, ['number', 'hash']));

export interface BlockHashes {
  /**
   * Block hashes by number. A number above the head, or of a block that is not stored, has no entry. At most 10,000
   * numbers.
   */
  list(head: HeadSnapshot, numbers: readonly number[]): Promise<ReadonlyMap<number, Hex>>;
}

export function createBlockHashes({ runner, chainId }: LogSource): BlockHashes {
  const knownHashes = new LRUCache<number, Hex>({ max: HASHES_KEPT });
  const readHashes = (selection: QueryParams): Promise<RowOf<typeof finalHashRow>[]> =>
    runner.run('head/list_final_hashes', { chain_id: chainId, ...selection }, finalHashRow);
  return {
    async list(head, numbers) {
      const hashes = new Map<number, Hex>();
      const unknownNumbers: number[] = [];
      for (const number of new Set(numbers)) {
        const hash =
          number > head.finalTo ? head.blocks[number - head.finalTo - 1]?.hash : knownHashes.get(number);
        if (hash !== undefined) hashes.set(number, hash);
        else if (number <= head.finalTo) unknownNumbers.push(number);
      }
      if (unknownNumbers.length === 0) return hashes;
      // The two queries run in parallel, because a page of logs waits for these hashes.
      const [from, to] = [Math.min(...unknownNumbers), Math.max(...unknownNumbers)];
      const answers = await Promise.all(
        to - from < RANGE_BLOCKS_MAX && to - from < RANGE_BLOCKS_PER_HASH * unknownNumbers.length
          ? [readHashes({ numbers: [], range: true, from_block: from, to_block: to })]
          : slicesOf(unknownNumbers, NUMBERS_PER_QUERY).map((slice) =>
              readHashes({ numbers: slice, range: false }),
            ),
      );
      const askedNumbers = new Set(unknownNumbers);
      for (const rows of answers)
        for (const { number, hash } of rows) {
          knownHashes.set(number, hash);
          if (askedNumbers.has(number)) hashes.set(number, hash);
        }
      return hashes;
    },
  };
}
