/**
 * Retention deletes old rows of `logs` and `swaps`. The first block to keep (floor) is stored before the
 * deletion, so that all checks ignore older rows. ClickHouse then deletes the rows in the background. If the
 * program crashes before the deletion, a second run completes it.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectMade, selectNamed } from '../../clickhouse/client/namedQueries';
import { countSql } from '../../clickhouse/client/queryText';
import { readOperations, writeOperation } from '../../clickhouse/schema/operations';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { nullable, text, u32, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import { KEPT_TOPICS } from '../decode/keptLogs';

/**
 * For each pruned table, the first block whose rows are all kept. A table without an entry keeps all rows.
 * `events` has the same floor as `swaps`.
 */
export type Floors = ReadonlyMap<EventTableName, number>;

export const NO_FLOORS: Floors = new Map();

/** Tables whose old rows may be deleted. The other tables are small, or their rows are needed at any age. */
export const PRUNABLE = ['logs', 'swaps'] as const;
export type Prunable = (typeof PRUNABLE)[number];

const HOUR_S = 3_600;
const DAY_S = 86_400;

/**
 * Rows younger than this age in seconds are needed: for 30-day volumes and price changes, and for restarts of
 * the ingester.
 */
export const KEPT_SECONDS: Readonly<Record<Prunable, number>> = { logs: DAY_S, swaps: 31 * DAY_S };

/** topic0 of logs that are never deleted. */
const KEPT_TOPIC_HEX = [...KEPT_TOPICS].map((topic) => topic.slice(2));

const floorName = (table: Prunable): string => `floor.${table}`;

export async function readFloors(database: Database): Promise<Floors> {
  const values = await readOperations(database, PRUNABLE.map(floorName));
  const floors = new Map<EventTableName, number>();
  for (const table of PRUNABLE) {
    const floor = values.get(floorName(table));
    if (floor !== undefined) floors.set(table, floor);
  }
  // The events of pruned swaps are deleted with them.
  const swapsFloor = floors.get('swaps');
  if (swapsFloor !== undefined) floors.set('events', swapsFloor);
  return floors;
}

const blockRow = rowType({ number: nullable(u32) });
const sizeRow = rowType({ rows: nullable(u64), all_rows: u64, bytes: u64 });
const mutationsRow = rowType({ parts: u64, failure: text });

export interface PrunePlan {
  readonly table: Prunable;
  /** First block to keep. A finished range starts at this block, which is at or below the requested bound. */
  readonly floorBlock: number;
  readonly rows: number;
  /** Estimated disk space of the rows to delete, in bytes. */
  readonly bytes: number;
}

interface PruneBound {
  readonly table: Prunable;
  readonly chainId: number;
  /** Rows of blocks below this block are deleted. */
  readonly beforeBlock: number;
  /**
   * Rows younger than this age are never deleted. The age is in seconds, counted back from the newest final
   * block.
   */
  readonly keptSeconds: number;
}

/**
 * Plans a deletion, and changes nothing. Throws `bad_config` if the bound is too recent, or if no final block is
 * stored.
 */
export async function planPrune(database: Database, bound: PruneBound): Promise<PrunePlan> {
  const { table, chainId, beforeBlock, keptSeconds } = bound;
  const keptParams = { chain: chainId, kept: keptSeconds };
  const [newest] = await selectNamed(database, 'ingest/store/find_kept_from', keptParams, blockRow);
  const keepFrom = newest?.number ?? null;
  if (keepFrom === null) throw new AppError('bad_config', `no final blocks of chain ${chainId} are stored`);
  if (beforeBlock > keepFrom) {
    throw new AppError(
      'bad_config',
      `--before: got block ${beforeBlock}; allowed for ${table}: a block up to ${keepFrom}, because answers need the rows ` +
        `of the last ${keptSeconds / HOUR_S} hours`,
    );
  }
  const boundParams = { chain: chainId, before: beforeBlock };
  const [range] = await selectNamed(database, 'ingest/store/find_range_end', boundParams, blockRow);
  const floorBlock = Math.max(range?.number ?? 0, (await readFloors(database)).get(table) ?? 0);
  const [size] = await selectMade(
    database,
    'count rows to prune',
    `SELECT ${countSql(table, isPrunedSql(table))} AS rows, sum(p.rows) AS all_rows, sum(bytes_on_disk) AS bytes
     FROM system.parts AS p WHERE active AND database = currentDatabase() AND table = {table:String}`,
    { table, ...prunedParams(floorBlock) },
    sizeRow,
  );
  const rows = size?.rows ?? 0;
  return { table, floorBlock, rows, bytes: (rows / Math.max(1, size?.all_rows ?? 1)) * (size?.bytes ?? 0) };
}

/** Finds the first block at or after `time` (unix seconds). Null if there is no such block. */
export async function findBlockAt(database: Database, chainId: number, time: number): Promise<number | null> {
  const [row] = await selectNamed(database, 'ingest/store/find_block_at', { chain: chainId, time }, blockRow);
  return row?.number ?? null;
}

/**
 * First block of the first UTC day whose rows are all kept. It is 0 if all rows are kept, and 2^32 − 1 if no such
 * day is complete.
 */
export async function firstWholeDay(
  database: Database,
  chainId: number,
  floorBlock: number,
): Promise<number> {
  if (floorBlock === 0) return 0;
  const [row] = await selectNamed(
    database,
    'ingest/store/find_whole_day',
    { chain: chainId, floor: floorBlock },
    blockRow,
  );
  return row?.number ?? 2 ** 32 - 1;
}

/**
 * Deletes the rows of the plan. Rows in `events` are deleted before the rows in `swaps`, so that no list
 * names a swap whose values are deleted. A repeated call deletes nothing more. Resolves when ClickHouse has
 * accepted the deletions; they run in the background.
 */
export async function prune(database: Database, { table, floorBlock }: PrunePlan): Promise<void> {
  const knownFloor = (await readFloors(database)).get(table) ?? 0;
  if (floorBlock > knownFloor) await writeOperation(database, floorName(table), floorBlock);
  const dropFrom = (name: string, where: string): Promise<void> =>
    database.command(`prune ${name}`, `ALTER TABLE ${name} DELETE WHERE ${where}`, prunedParams(floorBlock));
  if (table === 'swaps') await dropFrom('events', `kind = 'swap' AND ${isPrunedSql(table)}`);
  await dropFrom(table, isPrunedSql(table));
}

/** Number of parts of tables that ClickHouse still has to rewrite for deletions. */
export async function readPruning(database: Database): Promise<{ parts: number; failure: string }> {
  const tables = [...PRUNABLE, 'events'];
  const [row] = await selectNamed(database, 'ingest/store/sum_mutations', { tables }, mutationsRow);
  return row ?? { parts: 0, failure: '' };
}

function isPrunedSql(table: Prunable): string {
  const exceptKept =
    table === 'logs' ? ' AND NOT has(arrayMap(topic -> unhex(topic), {topics:Array(String)}), topic0)' : '';
  return `ord < {floor_ord:UInt64}${exceptKept}`;
}

function prunedParams(floorBlock: number): { floor_ord: number; topics: string[] } {
  return { floor_ord: toOrd(floorBlock, 0), topics: KEPT_TOPIC_HEX };
}
