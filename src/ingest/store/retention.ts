/**
 * Retention: rows below a block that were dropped on purpose. First the floor is written down, which makes every check count
 * from there; then the rows go, at whatever pace, so that nothing waits and a crash in between is only work left over.
 */
import { z } from 'zod';

import type { Database } from '../../clickhouse/client/database';
import { selectMade, selectNamed } from '../../clickhouse/client/namedQueries';
import { readOperations, writeOperation } from '../../clickhouse/schema/operations';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { wideIntegerShape } from '../../clickhouse/rows/rowShapes';
import { toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import { POOL_TOPICS, VAULT_TOPICS } from '../../protocols/balancerV2';

/** First block whose rows are all kept, by table; a table that is not named keeps everything. `events` has the floor of `swaps`. */
export type Floors = ReadonlyMap<EventTableName, number>;

export const NO_FLOORS: Floors = new Map();

/** What answers are not made of once it is old. Everything else is, or is small. */
export const PRUNABLE = ['logs', 'swaps'] as const;
export type Prunable = (typeof PRUNABLE)[number];

const DAY_S = 86_400;

/** Answers look back so far: volumes and returns over 30 days, and what a restart reads. */
export const KEPT_SECONDS: Readonly<Record<Prunable, number>> = { logs: DAY_S, swaps: 31 * DAY_S };

/** Upgraded, BeaconUpgraded and DiamondCut: by them a younger log is decoded with what stood behind its proxy. */
const UPGRADE_TOPICS = [
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
  '0x8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673',
];

/** Logs that are read however old they are: upgrades, and what vaults and their pools are known by. */
const KEPT_TOPICS = [...UPGRADE_TOPICS, ...VAULT_TOPICS, ...POOL_TOPICS].map((topic) => topic.slice(2));

const nameOf = (table: Prunable): string => `floor.${table}`;

export async function readFloors(database: Database): Promise<Floors> {
  const values = await readOperations(database, PRUNABLE.map(nameOf));
  const floors = new Map<EventTableName, number>();
  for (const table of PRUNABLE) {
    const floor = values.get(nameOf(table));
    if (floor !== undefined) floors.set(table, floor);
  }
  const swaps = floors.get('swaps');
  if (swaps !== undefined) floors.set('events', swaps);
  return floors;
}

const blockShape = z.object({ number: z.int().nullable() });
const sizeShape = z.object({ rows: wideIntegerShape, all_rows: wideIntegerShape, bytes: wideIntegerShape });
const mutationsShape = z.object({ parts: wideIntegerShape, failure: z.string() });

/** What pruning one table would do. */
export interface PrunePlan {
  readonly table: Prunable;
  /** First block to keep: where a finished range begins, not above the bound that was asked for. */
  readonly floor: number;
  readonly rows: number;
  /** On disk, about. */
  readonly bytes: number;
}

export interface PruneBound {
  readonly table: Prunable;
  readonly chainId: number;
  /** Blocks below it go. */
  readonly before: number;
  /** Seconds before the newest final block that stay in any case. */
  readonly keptSeconds: number;
}

/** Reads only. Throws `bad_config` where the bound is too young, or where nothing is stored. */
export async function planPrune(database: Database, bound: PruneBound): Promise<PrunePlan> {
  const { table, chainId, before, keptSeconds } = bound;
  const kept = { chain: chainId, kept: keptSeconds };
  const [newest] = await selectNamed(database, 'ingest/find_kept_from', kept, blockShape);
  const keepFrom = newest?.number ?? null;
  if (keepFrom === null) throw new AppError('bad_config', `no final blocks of chain ${chainId} are stored`);
  if (before > keepFrom) {
    throw new AppError(
      'bad_config',
      `--before ${before}: ${table} of the last ${keptSeconds / DAY_S} days stay, because answers are made of them; the newest ` +
        `bound is block ${keepFrom}`,
    );
  }
  const below = { chain: chainId, before };
  const [range] = await selectNamed(database, 'ingest/find_range_end', below, blockShape);
  const floor = Math.max(range?.number ?? 0, (await readFloors(database)).get(table) ?? 0);
  const [size] = await selectMade(
    database,
    'count what would go',
    `SELECT (SELECT count() FROM ${table} WHERE ${doomed(table)}) AS rows, sum(p.rows) AS all_rows, sum(bytes_on_disk) AS bytes
     FROM system.parts AS p WHERE active AND database = currentDatabase() AND table = {table:String}`,
    { table, ...doomedParams(floor) },
    sizeShape,
  );
  const rows = Number(size?.rows ?? 0);
  return { table, floor, rows, bytes: (rows / Math.max(1, Number(size?.all_rows))) * Number(size?.bytes) };
}

/** The block from which on blocks are at least as young; null: all are older. `time`: unix seconds. */
export async function findBlockAt(database: Database, chainId: number, time: number): Promise<number | null> {
  const [row] = await selectNamed(database, 'ingest/find_block_at', { chain: chainId, time }, blockShape);
  return row?.number ?? null;
}

/** The first block of the first day of which everything is kept; 0 where nothing was dropped, 2^32 - 1 where no such day is. */
export async function firstWholeDay(database: Database, chainId: number, floor: number): Promise<number> {
  if (floor === 0) return 0;
  const [row] = await selectNamed(database, 'ingest/find_whole_day', { chain: chainId, floor }, blockShape);
  return row?.number ?? 2 ** 32 - 1;
}

/**
 * Drops the rows of the plan. For swaps it first drops their rows in `events`, so that no list names a swap without values. Safe to
 * repeat; resolves once the engine has begun to rewrite its parts without the rows.
 */
export async function prune(database: Database, { table, floor }: PrunePlan): Promise<void> {
  const known = (await readFloors(database)).get(table) ?? 0;
  if (floor > known) await writeOperation(database, nameOf(table), floor);
  const dropFrom = (name: string, where: string): Promise<void> =>
    database.command(`prune ${name}`, `ALTER TABLE ${name} DELETE WHERE ${where}`, doomedParams(floor));
  if (table === 'swaps') await dropFrom('events', `kind = 'swap' AND ${doomed(table)}`);
  await dropFrom(table, doomed(table));
}

/** What is still to be rewritten. */
export async function readPruning(database: Database): Promise<{ parts: number; failure: string }> {
  const tables = [...PRUNABLE, 'events'];
  const [row] = await selectNamed(database, 'ingest/sum_mutations', { tables }, mutationsShape);
  return { parts: Number(row?.parts ?? 0), failure: row?.failure ?? '' };
}

function doomed(table: Prunable): string {
  const kept =
    table === 'logs' ? ' AND NOT has(arrayMap(topic -> unhex(topic), {topics:Array(String)}), topic0)' : '';
  return `ord < {floor_ord:UInt64}${kept}`;
}

function doomedParams(floor: number): { floor_ord: number; topics: string[] } {
  return { floor_ord: toOrd(floor, 0), topics: KEPT_TOPICS };
}
