/**
 * Brings a database to the current schema: creates a new one, or applies missing migrations. After a crash at any
 * statement, the next start continues. Every statement is safe to repeat, so two processes may migrate in parallel.
 */
import { createHash } from 'node:crypto';

import { z } from 'zod';

import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { localTable, toDistributedSchema, toLocalMigration, toLocalSchema } from './clusterSchema';
import type { Cluster, Database } from '../client/database';
import { readMigrations, type Migration } from './migrations';
import { commandNamed, selectAll, selectNamed } from '../client/namedQueries';
import { findPackageRoot } from '../client/packageRoot';
import { text, u32 } from '../rows/columns';
import { rowType, type RowOf, nameRow } from '../rows/rowType';
import { createdName, readSchema } from './schema';

/**
 * Smallest supported version (major, minor). Older versions deduplicate rows of views incorrectly (ClickHouse
 * #95970).
 */
const VERSION_MIN = [26, 2] as const;

/** Safety limit for the number of tables, and of migrations. */
const ROWS_MAX = 10_000;

const migrationRow = rowType({ id: u32, name: text });
type Row = RowOf<typeof migrationRow>;

/**
 * Id of the row of schema_migrations that marks an unfinished creation of the schema. The row is written before
 * the first table. Its column `name` contains the fingerprint (hash) of the schema.
 */
const BEGUN_ID = 2 ** 32 - 1;
/**
 * The row that marks a finished creation, written after the last table, together with the rows of all
 * migrations. The number in its name grows with each schema change without a migration, and databases with a
 * smaller number are refused. Such changes are allowed only before the first release.
 */
const CREATED: Row = { id: 0, name: 'created 5' };

/**
 * State of a database. `being created`: a start of this version did not finish; the tables have no data.
 * `being created by another build`: a start of another version did not finish. `created`: finished, by this or
 * another version.
 */
type State = 'empty' | 'being created' | 'being created by another build' | 'created';

/**
 * Creates or upgrades the schema of the connected database. Returns the names of the applied migrations.
 * @param root folder that contains clickhouse/schema and clickhouse/migrations
 */
export async function migrate(database: Database, log: Logger, root = findPackageRoot()): Promise<string[]> {
  await checkVersion(database);
  const schema = readSchema(root);
  const migrations = readMigrations(root);
  const { cluster } = database;
  if (cluster !== null)
    return migrateCluster(cluster, { firstTable: localTable('swaps'), schema, migrations }, log);
  await refuseOther(database, true, 'of a cluster: set CLICKHOUSE_CLUSTER');
  return migrateServer(database, { firstTable: 'swaps', schema, migrations }, log);
}

/**
 * The schema that one server must have. If the table `firstTable` exists without schema_migrations, a very old
 * version created the database.
 */
interface Plan {
  readonly firstTable: string;
  readonly schema: readonly string[];
  readonly migrations: readonly Migration[];
}

/** Creates local tables on all servers first, because a Distributed table needs all of them. */
async function migrateCluster(cluster: Cluster, plan: Plan, log: Logger): Promise<string[]> {
  const local = {
    ...plan,
    schema: toLocalSchema(plan.schema, cluster),
    migrations: plan.migrations.map((migration) => ({
      ...migration,
      statements: migration.statements.map(toLocalMigration),
    })),
  };
  const applied = new Set<string>();
  for (const { name, database } of cluster.nodes) {
    await refuseOther(
      database,
      false,
      'of one server: set CLICKHOUSE_URL to another database for the cluster',
    );
    const server = log.child({ server: name });
    for (const migration of await migrateServer(database, local, server)) applied.add(migration);
  }
  for (const { database } of cluster.nodes) {
    const outdated = await listOutdated(database);
    const statements = toDistributedSchema(plan.schema, cluster, outdated);
    const missing = statements.filter((statement) => statement.startsWith('CREATE TABLE'));
    const replaced = statements.filter((statement) => !missing.includes(statement));
    await createMissing(database, missing);
    for (const statement of replaced) await database.command('replace distributed', statement);
  }
  return [...applied];
}

/** Lists Distributed tables whose local tables got other columns by a migration. */
async function listOutdated(database: Database): Promise<ReadonlySet<string>> {
  const params = { local: `${localTable('')}$` };
  const rows = await selectAll(database, 'engine/list_outdated', params, nameRow, ROWS_MAX);
  return new Set(rows.map((row) => row.name));
}

async function migrateServer(database: Database, plan: Plan, log: Logger): Promise<string[]> {
  const tables = await listTables(database);
  if (!tables.has('schema_migrations')) await commandNamed(database, 'schema/create_migrations');
  const rows = await selectAll(database, 'schema/list_migrations', {}, migrationRow, ROWS_MAX);
  const state = readState(plan, tables, rows);
  if (state !== 'created') {
    await create(database, plan, state, log);
    return [];
  }
  const applied = new Set(rows.map((row) => row.id));
  const pending = plan.migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of pending) await applyMigration(database, migration, tables, log);
  await createMissing(database, plan.schema);
  return pending.map((migration) => migration.name);
}

const fingerprintOf = (schema: readonly string[]): string =>
  createHash('sha256').update(schema.join(';')).digest('hex').slice(0, 16);

const begunName = ({ schema }: Plan): string => `being created ${fingerprintOf(schema)}`;

/**
 * State of the database. Throws `bad_config` for a database from before the first release, unless it has the same
 * schema number.
 */
function readState(plan: Plan, tables: ReadonlySet<string>, rows: readonly Row[]): State {
  const finished = rows.filter(({ id }) => id === CREATED.id);
  if (finished.some(({ name }) => name === CREATED.name)) return 'created';
  // The row BEGUN_ID stays after a creation is finished, so it marks an unfinished one only without a finished one.
  if (finished.length === 0) {
    if (rows.some(({ name }) => name === begunName(plan))) return 'being created';
    if (rows.some(({ id }) => id === BEGUN_ID)) return 'being created by another build';
    if (rows.length === 0 && !tables.has(plan.firstTable)) return 'empty';
  }
  throw new AppError(
    'bad_config',
    'a version before the first release created this database, and it cannot be upgraded: ingest into an empty database',
  );
}

/**
 * Creates the missing tables. Tables that another version of the program created may have other columns, so they are
 * dropped first.
 */
async function create(database: Database, plan: Plan, state: State, log: Logger): Promise<void> {
  if (state !== 'empty') log.info({ state }, 'an earlier start did not finish creating the schema');
  if (state === 'being created by another build') await dropTables(database);
  if (state !== 'being created') await record(database, [{ id: BEGUN_ID, name: begunName(plan) }]);
  await createMissing(database, plan.schema);
  await record(database, [CREATED, ...plan.migrations]);
  log.info({ statements: plan.schema.length }, 'created the schema');
}

async function dropTables(database: Database): Promise<void> {
  const rows = await selectNamed(database, 'schema/list_droppable_tables', {}, nameRow);
  for (const { name } of rows) await database.command('drop table', `DROP TABLE IF EXISTS ${name} SYNC`);
}

/** Number of CREATE statements that run at the same time, to shorten the first start. */
const CREATED_AT_ONCE = 8;

async function createMissing(database: Database, schema: readonly string[]): Promise<void> {
  const tables = await listTables(database);
  const missing = schema.filter((statement) => !tables.has(createdName(statement)));
  // Tables come first, because a view needs its source and target.
  const isTable = (statement: string): boolean => statement.startsWith('CREATE TABLE');
  await createAll(database, missing.filter(isTable));
  await createAll(
    database,
    missing.filter((statement) => !isTable(statement)),
  );
}

/**
 * Runs up to CREATED_AT_ONCE statements in parallel. After a failure, starts no more statements, waits for
 * the running ones, and rejects.
 */
async function createAll(database: Database, statements: readonly string[]): Promise<void> {
  const waiting = [...statements];
  const work = async (): Promise<void> => {
    for (let statement = waiting.shift(); statement !== undefined; statement = waiting.shift())
      await database.command('create schema', statement).catch((error: unknown) => {
        waiting.length = 0;
        throw error;
      });
  };
  const results = await Promise.allSettled(Array.from({ length: CREATED_AT_ONCE }, work));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Throws if a single-server database is used as a cluster database, or the reverse. */
async function refuseOther(database: Database, distributed: boolean, kind: string): Promise<void> {
  const tables = await selectNamed(database, 'engine/find_distributed', { distributed }, nameRow);
  if (tables.length > 0) throw new AppError('bad_config', `this database has the tables ${kind}`);
}

async function listTables(database: Database): Promise<ReadonlySet<string>> {
  const rows = await selectAll(database, 'schema/list_tables', {}, nameRow, ROWS_MAX);
  return new Set(rows.map((row) => row.name));
}

/**
 * Applies a migration. Skips tables that do not exist yet, because the schema creates them as they are after all
 * migrations.
 */
async function applyMigration(
  database: Database,
  migration: Migration,
  tables: ReadonlySet<string>,
  log: Logger,
): Promise<void> {
  log.info({ migration: migration.name }, 'applying a migration');
  for (const statement of migration.statements) {
    const namedTables = [...statement.matchAll(/(?:^ALTER TABLE|\bFROM|\bJOIN) (\w+)/g)].map(
      ([, table = '']) => table,
    );
    if (namedTables.every((table) => tables.has(table))) await database.command(migration.name, statement);
  }
  await record(database, [migration]);
}

/** Records the migrations in one insert, so that a crash leaves either all rows or none. */
async function record(database: Database, rows: readonly Row[]): Promise<void> {
  await database.command(
    'record migrations',
    `INSERT INTO schema_migrations (id, name)
     SELECT row.1, row.2 FROM (SELECT arrayJoin(arrayZip({ids:Array(UInt32)}, {names:Array(String)})) AS row)`,
    { ids: rows.map(({ id }) => id), names: rows.map(({ name }) => name) },
  );
}

// Read as JSON, because servers before 25.11 answer no other read (see byteReader.ts).
const versionShape = z.object({ version: z.string() });

async function checkVersion(database: Database): Promise<void> {
  const [row] = await selectNamed(database, 'engine/read_version', {}, versionShape);
  const [major = 0, minor = 0] = (row?.version ?? '').split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw new AppError(
    'bad_config',
    `ClickHouse ${row?.version ?? 'of unknown version'} is too old: ${majorMin}.${minorMin} or later is needed`,
  );
}
