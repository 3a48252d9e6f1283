/**
 * Rebuilds the tables that views fill from one final table: computes them as new tables beside the old ones,
 * then exchanges the tables. Final rows are never changed in place.
 */
import { TWO_LEVEL_SUMS, type Database } from '../../clickhouse/client/database';
import { selectMade, selectNamed } from '../../clickhouse/client/namedQueries';
import { u64 } from '../../clickhouse/rows/columns';
import { rowType, nameRow } from '../../clickhouse/rows/rowType';
import { readSchema } from '../../clickhouse/schema/schema';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { ORD_SPAN } from '../../domain/ord';

/** Views read ALIAS columns (computed by ClickHouse), so `SELECT *` must return them too. */
export const WITH_COMPUTED = 'asterisk_include_alias_columns = 1';

const VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\n([\s\S]+)$/;

export interface View {
  readonly name: string;
  readonly target: string;
  /** The view's SELECT, applied to the inserted rows. */
  readonly select: string;
  /** The whole CREATE statement of the view. */
  readonly statement: string;
}

/** Name of the new version of a table, which is built beside the old one. */
export const nextOf = (table: string): string => `next_${table}`;

/** Views that read from the table, as the schema defines them. */
export function listViews(table: string): View[] {
  return readSchema().flatMap((statement) => {
    const [, name = '', target = '', select = ''] = VIEW.exec(statement) ?? [];
    return readsFrom(select, table) ? [{ name, target, select, statement }] : [];
  });
}

function readsFrom(select: string, table: string): boolean {
  return new RegExp(`\\bFROM ${table}\\b`).test(select);
}

/** Copies the table by hard links. The copy has the name of the table's next version. */
export async function cloneNext(database: Database, table: string): Promise<void> {
  await database.command('drop next', `DROP TABLE IF EXISTS ${nextOf(table)} SYNC`);
  await database.command(`clone ${table}`, `CREATE TABLE ${nextOf(table)} CLONE AS ${table}`);
}

export interface RebuildProgress {
  readonly target: string;
  readonly rows: number;
  readonly rowTotal: number;
}

export interface RebuildOptions {
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  /** A signal that is checked between two steps of a rebuild. If it is aborted, the rebuild stops with an error. */
  readonly signal?: AbortSignal | undefined;
  readonly step?: StepSize;
}

/**
 * Limits one INSERT of a rebuild: groups of `groupBlocks` blocks, with at most `rows` source rows in total,
 * but at least one group.
 */
interface StepSize {
  readonly rows: number;
  readonly groupBlocks: number;
}

/** With these limits, one INSERT takes far less than the connection timeout of two minutes. */
const STEP: StepSize = { rows: 1_000_000, groupBlocks: 256 };

/**
 * Computes the targets of all views of `table`, from the rows of `sourceTable`, in new tables. Returns the names of
 * the targets. The work is split into ranges of `ord`, because a target merges the partial rows of its view.
 */
export async function rebuildViews(
  database: Database,
  table: EventTableName,
  sourceTable: string,
  { onProgress, signal, step: size = STEP }: RebuildOptions = {},
): Promise<string[]> {
  const views = listViews(table);
  if (views.length === 0) return [];
  const steps = await listSteps(database, sourceTable, size);
  const rowTotal = steps.reduce((sum, { rows }) => sum + rows, 0);
  for (const { target, select } of views) {
    await database.command('drop next', `DROP TABLE IF EXISTS ${nextOf(target)} SYNC`);
    await database.command('create next', createNext(target));
    const columns = await listColumns(database, nextOf(target));
    let rows = 0;
    for (const step of steps) {
      signal?.throwIfAborted();
      onProgress?.({ target, rows, rowTotal });
      const rowsOfStep = `(SELECT * FROM ${sourceTable} WHERE ord BETWEEN ${step.fromOrd} AND ${step.toOrd})`;
      const selectOfStep = select.replace(new RegExp(`\\bFROM ${table}\\b`, 'g'), `FROM ${rowsOfStep}`);
      await database.command(
        `rebuild ${target}`,
        `INSERT INTO ${nextOf(target)} (${columns}) SELECT ${columns} FROM (${selectOfStep}) SETTINGS ${STEP_SETTINGS}`,
      );
      rows += step.rows;
    }
    onProgress?.({ target, rows, rowTotal });
  }
  return views.map(({ target }) => target);
}

/**
 * Creates the next version of a table with the current schema, because keys and granules of an existing table
 * cannot be changed.
 */
function createNext(table: string): string {
  const createLine = `CREATE TABLE IF NOT EXISTS ${table}\n`;
  const statement = readSchema().find((candidate) => candidate.startsWith(createLine));
  if (statement === undefined) throw new RangeError(`the schema has no table ${table}`);
  return statement.replace(createLine, `CREATE TABLE ${nextOf(table)}\n`);
}

/**
 * Deduplication is off, because two steps may insert equal rows, and both must be stored. Large insert blocks
 * keep the number of parts low.
 */
const STEP_SETTINGS = [
  WITH_COMPUTED,
  'insert_deduplicate = 0',
  'min_insert_block_size_rows = 1000000',
  'min_insert_block_size_bytes = 268435456',
  TWO_LEVEL_SUMS,
].join(', ');

const stepRow = rowType({ first: u64, last: u64, total: u64 });

interface Step {
  readonly fromOrd: number;
  readonly toOrd: number;
  readonly rows: number;
}

async function listSteps(database: Database, table: string, size: StepSize): Promise<Step[]> {
  const groups = await selectMade(
    database,
    'list steps',
    `SELECT min(ord) AS first, max(ord) AS last, count() AS total FROM ${table}
     GROUP BY intDiv(ord, ${size.groupBlocks * ORD_SPAN}) ORDER BY first`,
    {},
    stepRow,
  );
  const steps: Step[] = [];
  for (const { first, last, total: rows } of groups) {
    const step = steps.at(-1);
    if (step !== undefined && step.rows + rows <= size.rows)
      steps[steps.length - 1] = { fromOrd: step.fromOrd, toOrd: last, rows: step.rows + rows };
    else steps.push({ fromOrd: first, toOrd: last, rows });
  }
  return steps;
}

async function listColumns(database: Database, table: string): Promise<string> {
  const rows = await selectNamed(database, 'schema/list_columns', { table }, nameRow);
  return rows.map(({ name }) => name).join(', ');
}

/** Exchanges each table with its new version, then drops the old one. `newOf` gives the name of the new version. */
export async function exchange(
  database: Database,
  tables: readonly string[],
  newOf: (table: string) => string = nextOf,
): Promise<void> {
  for (const table of tables)
    await database.command(`exchange ${table}`, `EXCHANGE TABLES ${table} AND ${newOf(table)}`);
  for (const table of tables)
    await database.command('drop old table', `DROP TABLE IF EXISTS ${newOf(table)} SYNC`);
}

/** Beginning of the names of rebuilt tables that a writer is about to exchange. */
const MENDED = 'mended_';

/**
 * Exchanges rebuilt tables for one writer. A newer writer drops the rebuilt tables with `dropMended` when it claims the
 * database, so an exchange of an older writer fails even if this writer was suspended just before it. `checkWriter`
 * throws if a newer writer has claimed the database. `writer` is a number that no other writer has.
 */
export async function exchangeMended(
  database: Database,
  tables: readonly string[],
  writer: number,
  checkWriter: () => Promise<void>,
): Promise<void> {
  const newOf = (table: string): string => `${MENDED}${writer}_${table}`;
  for (const table of tables)
    await database.command(`rename ${table}`, `RENAME TABLE ${nextOf(table)} TO ${newOf(table)}`);
  await checkWriter();
  await exchange(database, tables, newOf);
}

/** Drops the rebuilt tables of earlier writers. */
export async function dropMended(database: Database): Promise<void> {
  const prefixes = { staged: MENDED, next: MENDED };
  const rows = await selectNamed(database, 'schema/list_tables_by_prefix', prefixes, nameRow);
  for (const { name } of rows) await database.command('drop mended', `DROP TABLE IF EXISTS ${name} SYNC`);
}
