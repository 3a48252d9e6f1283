/**
 * Clones the tables of one database into another database by hard links, for a backup. The clone is made
 * between two ranges. Head tables are left out, because the node can provide their blocks again. The views
 * are created from the schema.
 */
import type { Clock } from '../../node/rpc/clock';
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { bool, text, u32, u64 } from '../../clickhouse/rows/columns';
import { rowType, nameRow } from '../../clickhouse/rows/rowType';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { createGapStore } from '../repair/gapStore';
import { inPause } from './pause';
import { readFloors } from './retention';
import { findWrongTotal } from '../repair/viewCheck';

interface CloneOptions {
  /** A connection to the source database. */
  readonly database: Database;
  /** `source` is the name of the database to copy, `target` the name of the copy. */
  readonly source: string;
  readonly target: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface Content {
  /** First block of the database. */
  readonly startBlock: number;
  /** Last block in the final tables. */
  readonly finalTo: number;
  /** Size of the copy on disk, in bytes. */
  readonly bytes: number;
}

const POLL_MS = 100;
/** A range takes seconds. If a range is unfinished for longer than this time in ms, its writer has died. */
const QUIET_MAX_MS = 60_000;
const ATTEMPTS_MAX = 5;

/**
 * The tables that are cloned first, and the tables that are cloned last; all others come between. A table
 * that refers to rows of another table is cloned before the other table. So every row that a clone refers to
 * exists.
 */
const CLONED_FIRST = ['promotions', 'audit_hashes', 'import_positions', 'verified_contracts', 'source_uses'];
const CLONED_LAST = ['source_files', 'tokens'];

/** Throws `unavailable` if an open range does not finish, or if ranges are written despite the pause. */
export async function cloneTables(options: CloneOptions): Promise<void> {
  const { database, log, source } = options;
  const tables = await listTables(options);
  await inPause(database, async () => {
    for (let attempt = 1; ; attempt += 1) {
      const rangesBefore = await untilQuiet(options);
      await cloneAll(options, tables);
      if ((await readRanges(options)).print === rangesBefore.print) return;
      // A range may have begun just before the pause, so the tables are then copied again.
      if (attempt === ATTEMPTS_MAX)
        throw new AppError(
          'unavailable',
          `another process writes to ${source} and ignores the pause: stop that process and try again`,
        );
      log.warn({ source }, 'a range was written while the tables were copied; copying again');
    }
  });
}

export async function dropClone(database: Database, target: string): Promise<void> {
  await database.command('drop clone', `DROP DATABASE IF EXISTS ${target} SYNC`);
}

async function listTables({ database, source }: CloneOptions): Promise<string[]> {
  const rows = await selectNamed(database, 'schema/list_stored_tables', { source }, nameRow);
  const rank = (name: string): number =>
    CLONED_FIRST.includes(name)
      ? CLONED_FIRST.indexOf(name)
      : CLONED_LAST.includes(name)
        ? 1_000 + CLONED_LAST.indexOf(name)
        : 100;
  return rows.map(({ name }) => name).sort((a, b) => rank(a) - rank(b));
}

const rangesRow = rowType({ print: text, open: bool });
const contentRow = rowType({ start_block: u32, final_to: u32 });
const bytesRow = rowType({ bytes: u64 });

interface Ranges {
  /**
   * A text that describes the state of all ranges. If two such texts are equal, no range began or finished
   * between the two reads.
   */
  readonly print: string;
  readonly open: boolean;
}

async function readRanges({ database, source }: CloneOptions): Promise<Ranges> {
  const [row] = await selectNamed(database, 'backup/read_ranges', { source }, rangesRow);
  return row ?? { print: '', open: false };
}

async function untilQuiet(options: CloneOptions): Promise<Ranges> {
  const { clock, signal, source } = options;
  for (const end = clock.now() + QUIET_MAX_MS; ; await clock.sleep(POLL_MS, signal)) {
    const ranges = await readRanges(options);
    if (!ranges.open) return ranges;
    if (clock.now() < end) continue;
    throw new AppError(
      'unavailable',
      `a range of ${source} is still unfinished after ${QUIET_MAX_MS / 1000} s: start the ingester, which finishes ` +
        'the range, and try again',
    );
  }
}

async function cloneAll(
  { database, source, target, signal }: CloneOptions,
  tables: readonly string[],
): Promise<void> {
  await dropClone(database, target);
  await database.command('create clone', `CREATE DATABASE ${target}`);
  for (const table of tables) {
    signal.throwIfAborted();
    await database.command(`clone ${table}`, `CREATE TABLE ${target}.${table} CLONE AS ${source}.${table}`);
    // Merging of parts is stopped in the clone, because merges would only use disk space.
    await database.command(`stop merges of ${table}`, `SYSTEM STOP MERGES ${target}.${table}`);
  }
}

export async function describeContent(database: Database, chainId: number): Promise<Content> {
  const [row] = await selectNamed(database, 'ingest/store/find_content', { chain: chainId }, contentRow);
  const [size] = await selectNamed(database, 'schema/sum_bytes', {}, bytesRow);
  return {
    startBlock: row?.start_block ?? 0,
    finalTo: row?.final_to ?? 0,
    bytes: size?.bytes ?? 0,
  };
}

/**
 * Throws `broken_invariant` if row counts differ from the counts of the finished ranges, or if aggregates
 * differ from their source tables.
 */
export async function checkWhole(database: Database, chainId: number): Promise<void> {
  const floors = await readFloors(database);
  const gaps = createGapStore(database, chainId, () => Promise.resolve(floors));
  const [expected, stored] = [await gaps.readExpected(), await gaps.readStored()];
  const wrongTables = [...expected]
    .filter(([name, rows]) => stored.get(name) !== rows)
    .map(([name, rows]) => `${name} has ${stored.get(name) ?? 0} rows, expected ${rows}`);
  const total = await findWrongTotal(database, floors);
  if (total !== null)
    wrongTables.push(`${total.name} counts ${total.found} swaps, expected ${total.expected}`);
  if (wrongTables.length > 0)
    throw new AppError('broken_invariant', `the tables do not match each other: ${wrongTables.join('; ')}`);
}
