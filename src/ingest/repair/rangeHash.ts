/**
 * Computes a hash over the stored rows of each range of 1,000 final blocks. The hash does not depend on the
 * order of rows. Operators can compare the hashes of two deployments, or of one deployment before and after a
 * change. ClickHouse computes and sums the row hashes. All columns are included, because no column of a final
 * table says how or when a row was stored.
 */
import { createHash } from 'node:crypto';

import type { Database } from '../../clickhouse/client/database';
import { selectMade, selectNamed } from '../../clickhouse/client/namedQueries';
import { mapOf, text, u128, u32, u64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';
import { TABLE_ENCODERS } from '../rows/encodeBlocks';

export const HASH_BLOCKS = 1_000;

/** The table `events` is left out, because it repeats swaps, liquidity_events and pool_states. */
const HASHED_TABLES = TABLE_ENCODERS.filter(({ name }) => name !== 'events');

/** Largest number of logs that one statement hashes, to limit its run time. */
const LOGS_AT_ONCE = 4_000_000;
const RANGES_AT_ONCE = 256;

interface RangeHash {
  /** First block of the range, a multiple of 1,000. */
  readonly from: number;
  /** Hash over all tables: 32 hex digits. */
  readonly hash: string;
  readonly rows: number;
  /** For each table, the sum of the hashes of its rows, modulo 2^128. */
  readonly sums: ReadonlyMap<string, bigint>;
}

/**
 * Returns the first blocks of the complete ranges in `from` to `to`. The first range may lack block 0, which
 * the ingester never stores.
 */
export function listWholeRanges(from: number, to: number): number[] {
  const ranges: number[] = [];
  const firstRange = from <= 1 ? 0 : Math.ceil(from / HASH_BLOCKS) * HASH_BLOCKS;
  for (let start = firstRange; start + HASH_BLOCKS - 1 <= to; start += HASH_BLOCKS) ranges.push(start);
  return ranges;
}

/**
 * Hashes the stored rows of these ranges, which must be consecutive and ascending. `threads` limits the
 * ClickHouse threads, so that other queries are not slowed down.
 */
export async function* hashRanges(
  database: Database,
  chainId: number,
  ranges: readonly number[],
  threads?: number,
): AsyncGenerator<RangeHash> {
  for (let hashedCount = 0; hashedCount < ranges.length;) {
    const batch = await takeBatch(database, chainId, ranges.slice(hashedCount, hashedCount + RANGES_AT_ONCE));
    yield* await hashBatch(database, chainId, batch, threads);
    hashedCount += batch.length;
  }
}

/** Takes as many consecutive ranges as the limit of logs allows, but at least one. */
async function takeBatch(
  database: Database,
  chainId: number,
  ranges: readonly number[],
): Promise<readonly number[]> {
  const [from, to] = [ranges[0] ?? 0, (ranges.at(-1) ?? 0) + HASH_BLOCKS - 1];
  const params = { chain: chainId, from, to, span: HASH_BLOCKS };
  const rows = await selectNamed(database, 'ingest/repair/count_range_logs', params, logsRow);
  const logsByRange = new Map(rows.map(({ range, logs }) => [range, logs]));
  let logTotal = 0;
  const end = ranges.findIndex((range) => (logTotal += logsByRange.get(range) ?? 0) > LOGS_AT_ONCE);
  return end === -1 ? ranges : ranges.slice(0, Math.max(1, end));
}

const logsRow = rowType({ range: u32, logs: u64 });
const sumRow = rowType({ range: u32, total: u64, sum: u128 });
const hashRow = rowType({ from_block: u32, hash: text, rows: u64, sums: mapOf(u128) });

async function hashBatch(
  database: Database,
  chainId: number,
  ranges: readonly number[],
  threads: number | undefined,
): Promise<RangeHash[]> {
  const from = ranges[0] ?? 0;
  const to = (ranges.at(-1) ?? 0) + HASH_BLOCKS - 1;
  const sumsByRange = new Map(
    ranges.map((range) => [range, { rows: 0, lines: new Array<string>(), sums: new Map<string, bigint>() }]),
  );
  for (const { name, range, total, sum } of await sumTables(database, chainId, { from, to }, threads)) {
    const rangeSums = sumsByRange.get(range);
    if (rangeSums === undefined) continue;
    rangeSums.rows += total;
    rangeSums.lines.push(`${name} ${total} ${sum}\n`);
    rangeSums.sums.set(name, sum);
  }
  return [...sumsByRange].map(([range, { rows, lines, sums }]) => ({
    from: range,
    hash: createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 32),
    rows,
    sums,
  }));
}

/** The sum of the hashes of a table's rows in one range, or in the part of a range. */
interface TableSum extends RowOf<typeof sumRow> {
  readonly name: string;
}

/** Sums the hashes of the rows of blocks `from` to `to`, for each table and range. */
export async function sumTables(
  database: Database,
  chainId: number,
  { from, to }: { readonly from: number; readonly to: number },
  threads?: number,
): Promise<TableSum[]> {
  const params = { chain: chainId, from, to, from_ord: toOrd(from, 0), to_ord: lastOrdOfBlock(to) };
  const sums: TableSum[] = [];
  for (const { name, columns } of HASHED_TABLES) {
    const sql = rangeSql(name, columns, threads);
    for (const row of await selectMade(database, `hash ${name}`, sql, params, sumRow))
      sums.push({ name, ...row });
  }
  return sums;
}

/**
 * Columns added after the first hashes were stored. A null in such a column is hashed as if the column did
 * not exist, so that old hashes stay valid.
 */
const ADDED_LATER: Readonly<Record<string, string>> = { liquidity_events: 'others_usd' };

/**
 * Columns that older versions stored and that ClickHouse computes now. They are still hashed, before the column
 * `before`, as in older versions.
 */
const COMPUTED: Readonly<Record<string, readonly [column: string, before: string]>> = {
  swaps: ['fee_usd', 'tracked'],
};

/** Returns the columns in the order in which they are hashed. */
export function hashedColumns(name: string, columns: readonly string[]): readonly string[] {
  const [computed, before] = COMPUTED[name] ?? [];
  return computed === undefined
    ? columns
    : columns.flatMap((column) => (column === before ? [computed, column] : [column]));
}

/** Hashes a tuple of the columns. Without the tuple, one null would make the whole hash null. */
function rowHashSql(name: string, written: readonly string[]): string {
  const columns = hashedColumns(name, written);
  const hashOf = (columns: readonly string[]): string => `sipHash128(tuple(${columns.join(', ')}))`;
  const addedColumn = ADDED_LATER[name];
  if (addedColumn === undefined) return hashOf(columns);
  return `if(isNull(${addedColumn}), ${hashOf(columns.filter((column) => column !== addedColumn))}, ${hashOf(columns)})`;
}

function rangeSql(name: string, columns: readonly string[], threads: number | undefined): string {
  const blockSql = name === 'blocks' ? 'number' : 'bitShiftRight(ord, 20)';
  const isInSpanSql =
    name === 'blocks'
      ? 'number BETWEEN {from:UInt32} AND {to:UInt32}'
      : 'ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64}';
  const isOfChainSql = columns.includes('chain_id') ? 'chain_id = {chain:UInt32} AND ' : '';
  const settings = threads === undefined ? '' : ` SETTINGS max_threads = ${threads}`;
  return `SELECT toUInt32(intDiv(${blockSql}, ${HASH_BLOCKS}) * ${HASH_BLOCKS}) AS range, count() AS total,
      sum(reinterpretAsUInt128(${rowHashSql(name, columns)})) AS sum
    FROM ${name} WHERE ${isOfChainSql}${isInSpanSql} GROUP BY range${settings}`;
}

/** Returns the stored hashes by the first block of the range. */
export async function readRangeHashes(
  database: Database,
  chainId: number,
  from: number,
  to: number,
): Promise<Map<number, RangeHash>> {
  const limit = Math.floor((to - from) / HASH_BLOCKS) + 1;
  const params = { chain: chainId, from, to, limit };
  const rows = await selectNamed(database, 'ingest/repair/list_range_hashes', params, hashRow);
  return new Map(
    rows.map(({ from_block, hash, rows: count, sums }) => [
      from_block,
      {
        from: from_block,
        hash,
        rows: count,
        sums: new Map(Object.entries(sums)),
      },
    ]),
  );
}

export async function writeRangeHash(database: Database, chainId: number, range: RangeHash): Promise<void> {
  const sums = [...range.sums].map(([name, sum]) => `'${name}', toUInt128('${sum}')`);
  await database.command(
    'write range hash',
    `INSERT INTO audit_hashes (chain_id, from_block, hash, rows, sums)
     SELECT {chain:UInt32}, {from:UInt32}, unhex({hash:String}), {rows:UInt64}, map(${sums.join(', ')})`,
    { chain: chainId, from: range.from, hash: range.hash, rows: range.rows },
  );
}

/**
 * Lists the tables whose sums differ between two hashes of the same range. An empty list means equal hashes.
 */
export function listDifferentTables(a: RangeHash, b: RangeHash): string[] {
  const names = new Set([...a.sums.keys(), ...b.sums.keys()]);
  return [...names].filter((name) => a.sums.get(name) !== b.sums.get(name)).sort();
}
