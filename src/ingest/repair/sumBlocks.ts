/** Sums the hashes of the rows of any final blocks, so that two instances can find the first block that differs. */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { lowText, u128, u32 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { AppError } from '../../errors';
import { readFloors } from '../store/retention';
import { HASH_BLOCKS, listWholeRanges, sumTables } from './rangeHash';

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Largest number of whole ranges that are hashed because their hash is not stored yet. */
const UNHASHED_MAX = 16;
const SUM_BITS = 128;

const unhashedRow = rowType({ from_block: u32 });
const storedRow = rowType({ name: lowText, sum: u128 });

/**
 * For each table with rows of these final blocks, the sum of the hashes of its rows, modulo 2^128. Uses the stored hashes
 * of whole ranges, so that at most the rows of two parts of ranges are read. @throws AppError `unavailable` if many hashes
 * are not stored yet, `bad_request` if rows of a part were pruned
 */
export async function sumBlocks(
  database: Database,
  chainId: number,
  { from, to }: Span,
): Promise<ReadonlyMap<string, bigint>> {
  const ranges = listWholeRanges(from, to);
  const [first, last] = [ranges[0], ranges.at(-1)];
  const wholeRanges = first === undefined || last === undefined ? null : { first, last };
  const storedSums = wholeRanges === null ? [] : await sumStored(database, chainId, wholeRanges);
  const unhashedRanges = wholeRanges === null ? [] : await listUnhashed(database, chainId, wholeRanges);
  const outerParts =
    wholeRanges === null
      ? [{ from, to }]
      : [
          { from, to: wholeRanges.first - 1 },
          { from: wholeRanges.last + HASH_BLOCKS, to },
        ];
  const parts = [...outerParts, ...unhashedRanges].filter((part) => part.from <= part.to);
  const prunedTo = Math.max(0, ...(await readFloors(database)).values());
  const prunedPart = parts.find((part) => part.from < prunedTo);
  if (prunedPart !== undefined)
    throw new AppError(
      'bad_request',
      `from_block, to_block: rows of the blocks ${prunedPart.from}-${prunedPart.to} were pruned; allowed: whole ranges of ${HASH_BLOCKS} blocks`,
    );
  const sums = new Map<string, bigint>();
  const tableSums: RowOf<typeof storedRow>[] = [...storedSums];
  for (const part of parts) tableSums.push(...(await sumTables(database, chainId, part)));
  for (const { name, sum } of tableSums)
    sums.set(name, BigInt.asUintN(SUM_BITS, (sums.get(name) ?? 0n) + sum));
  return sums;
}

/** First blocks of the first and of the last range. */
interface WholeRanges {
  readonly first: number;
  readonly last: number;
}

function sumStored(database: Database, chainId: number, { first, last }: WholeRanges) {
  const params = { chain: chainId, from: first, to: last };
  return selectNamed(database, 'ingest/repair/sum_range_hashes', params, storedRow);
}

async function listUnhashed(
  database: Database,
  chainId: number,
  { first, last }: WholeRanges,
): Promise<Span[]> {
  const params = { chain: chainId, from: first, to: last, blocks: HASH_BLOCKS, limit: UNHASHED_MAX + 1 };
  const rows = await selectNamed(database, 'ingest/repair/list_unhashed_ranges', params, unhashedRow);
  if (rows.length > UNHASHED_MAX)
    throw new AppError(
      'unavailable',
      `the range hashes from block ${rows[0]?.from_block ?? first} on are not stored yet`,
    );
  return rows.map(({ from_block: from }) => ({ from, to: from + HASH_BLOCKS - 1 }));
}
