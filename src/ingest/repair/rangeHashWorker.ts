/**
 * Computes and stores range hashes of final blocks in the background, slowly enough that ingestion and reads
 * come first.
 */
import type { Database } from '../../clickhouse/client/database';
import { errorText } from '../../errors';
import type { Logger } from '../../log';
import { HASH_BLOCKS, hashRanges, listWholeRanges, readRangeHashes, writeRangeHash } from './rangeHash';

/** One thread, so that inserts and reads have priority. */
const THREADS = 1;

export interface RangeHashWorker {
  /**
   * Starts to hash the complete ranges in `from` to `to` that have no hash yet. All these blocks must be
   * final and completely stored. Does nothing while an earlier call still runs.
   */
  poke(from: number, to: number): void;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
}

export function createRangeHashWorker(database: Database, chainId: number, log: Logger): RangeHashWorker {
  let running: Promise<void> | null = null;
  /** Every range below this block already has a stored hash. */
  let doneBelow = 0;

  const work = async (ranges: readonly number[]): Promise<void> => {
    const storedHashes = await readRangeHashes(database, chainId, ranges[0] ?? 0, ranges.at(-1) ?? 0);
    const missingRanges = ranges.filter((range) => !storedHashes.has(range));
    for await (const range of hashRanges(database, chainId, missingRanges, THREADS)) {
      await writeRangeHash(database, chainId, range);
    }
    doneBelow = (ranges.at(-1) ?? 0) + HASH_BLOCKS;
    if (missingRanges.length > 0)
      log.info({ ranges: missingRanges.length, to: ranges.at(-1) }, 'range hashes are stored');
  };

  return {
    poke(from, to): void {
      if (running !== null) return;
      const ranges = listWholeRanges(Math.max(from, doneBelow), to);
      if (ranges.length === 0) return;
      running = work(ranges)
        .catch((error: unknown) => {
          // The next call of `poke` tries again. Ingestion does not depend on the hashes.
          log.warn({ error: errorText(error) }, 'storing range hashes failed; retrying later');
        })
        .finally(() => {
          running = null;
        });
    },
    async idle(): Promise<void> {
      await running;
    },
  };
}
