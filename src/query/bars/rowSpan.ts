/**
 * Finds the range of positions that holds the newest rows of one key in a table that is sorted by position (`ord`), and
 * the cheaper way to read these rows.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { blockOfOrd, lastOrdOfBlock } from '../../domain/ord';

/** A key with one row or more per this many blocks is dense: all rows of these blocks are read and filtered. */
const DENSE_BLOCKS = 32;
/** Largest number of rows of a key that is not dense. Each such row is looked up by its position. */
const SPARSE_MAX = 1_024;

const spanRow = rowType({ rows: u64, oldest: u64, newest: u64 });

export interface RowSpan {
  readonly rows: number;
  /** Position of the oldest row; meaningless without rows. */
  readonly oldest: number;
  readonly newest: number;
  /** Whether the rows of other keys in between cost more than finding each row of the key. */
  readonly isSparse: boolean;
  /** Whether the range may hold older rows of the key. */
  readonly isFull: boolean;
}

interface SpanRequest {
  /** Address without 0x. */
  readonly key: string;
  /** Exclusive bound. */
  readonly afterOrd: number;
  readonly toOrd: number;
  readonly limit: number;
}

/**
 * The newest rows of the key in the range: at most `limit`, and at most SPARSE_MAX sparse ones. Looks at the newest
 * blocks first, because positions of a whole history may be many.
 */
export async function findRowSpan(
  runner: QueryRunner,
  query: 'bars/find_hop_span' | 'bars/find_swap_span',
  request: SpanRequest,
): Promise<RowSpan> {
  const { afterOrd, toOrd, limit } = request;
  const denseAfterOrd = lastOrdOfBlock(blockOfOrd(toOrd) - DENSE_BLOCKS * limit);
  const recentSpan = await readSpan(runner, query, {
    ...request,
    afterOrd: Math.max(afterOrd, denseAfterOrd),
  });
  if (recentSpan.isFull) return recentSpan;
  if (denseAfterOrd <= afterOrd && (!recentSpan.isSparse || recentSpan.rows <= SPARSE_MAX)) return recentSpan;
  return readSpan(runner, query, { ...request, limit: Math.min(limit, SPARSE_MAX) });
}

async function readSpan(
  runner: QueryRunner,
  query: string,
  { key, afterOrd, toOrd, limit }: SpanRequest,
): Promise<RowSpan> {
  const params = { key, after_ord: Math.max(0, afterOrd), to_ord: Math.max(0, toOrd), limit };
  const [span] = await runner.run(query, params, spanRow);
  const { rows, oldest, newest } = span ?? { rows: 0, oldest: 0, newest: 0 };
  const isSparse = blockOfOrd(newest) - blockOfOrd(oldest) > DENSE_BLOCKS * rows;
  return { rows, oldest, newest, isSparse, isFull: rows >= limit };
}
