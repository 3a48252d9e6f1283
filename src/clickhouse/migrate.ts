/**
 * Brings a database to the current schema: creates what is missing, applies the migrations that an older one lacks.
 * Every statement is safe to repeat, so two processes may migrate at once.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { AppError } from '../errors';
import type { Logger } from '../log';
import { localTable, toDistributedSchema, toLocalMigration, toLocalSchema } from './clusterSchema';
import type { Cluster, Database } from './database';
import { findPackageRoot } from './packageRoot';
import { readSchema, readStatements } from './schema';

/** ClickHouse versions below this deduplicate view targets wrongly (#95970). */
const VERSION_MIN = [26, 2] as const;

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations
(
    id UInt32 COMMENT 'Number of the migration file; 0: created by the current schema',
    name String COMMENT 'File name',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When it was applied, UTC'
)
ENGINE = ReplacingMergeTree
ORDER BY id
COMMENT 'Which migrations this database has'`;

/** Recorded before the first table is created. */
const CREATION: Migration = { id: 0, name: 'creation', statements: [] };

interface Migration {
  readonly id: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** Migration files `NNNN_name.sql`, in the order of their numbers. */
export function readMigrations(root: string = findPackageRoot()): Migration[] {
  const folder = join(root, 'clickhouse', 'migrations');
  return readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      id: Number.parseInt(name, 10),
      name,
      statements: readStatements(readFileSync(join(folder, name), 'utf8')),
    }));
}

/** Creates or upgrades the schema of the database that `database` is connected to. Returns the migrations applied. */
export async function migrate(database: Database, log: Logger): Promise<string[]> {
  await checkVersion(database);
  const { cluster } = database;
  if (cluster === null) {
    await refuseOther(database, "engine = 'Distributed'", 'those of a cluster: set CLICKHOUSE_CLUSTER');
    return migrateServer(
      database,
      { mark: 'swaps', schema: readSchema(), migrations: readMigrations() },
      log,
    );
  }
  return migrateCluster(cluster, log);
}

/** What to bring a server to; `mark`: a table that tells whether it was begun before. */
interface Plan {
  readonly mark: string;
  readonly schema: readonly string[];
  readonly migrations: readonly Migration[];
}

/** Server by server: first what each of them holds, then the tables over all, which need every part. */
async function migrateCluster(cluster: Cluster, log: Logger): Promise<string[]> {
  const schema = readSchema();
  const migrations = readMigrations().map((migration) => ({
    ...migration,
    statements: migration.statements.map(toLocalMigration),
  }));
  const plan = { mark: localTable('swaps'), schema: toLocalSchema(schema, cluster), migrations };
  const applied = new Set<string>();
  for (const { name, database } of cluster.nodes) {
    await refuseOther(
      database,
      "engine != 'Distributed'",
      'those of one server: give the cluster another database',
    );
    const server = log.child({ server: name });
    for (const migration of await migrateServer(database, plan, server)) applied.add(migration);
  }
  for (const { database } of cluster.nodes) {
    const distributed = toDistributedSchema(schema, cluster, await listOutdated(database));
    for (const statement of distributed) await database.command('create distributed', statement);
  }
  return [...applied];
}

/** Distributed tables whose columns are not those of the local tables any more: those that a migration has changed. */
async function listOutdated(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.select<{ name: string }>(
    'list outdated',
    `SELECT name
     FROM
     (
         SELECT
             replaceRegexpOne(table, {local:String}, '') AS name,
             groupArray((c.name, c.type, c.default_expression)) AS columns
         FROM (SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY table, position) AS c
         GROUP BY table
     )
     GROUP BY name
     HAVING uniqExact(columns) > 1`,
    { local: `${localTable('')}$` },
  );
  return new Set(rows.map((row) => row.name));
}

async function migrateServer(
  database: Database,
  { mark, schema, migrations }: Plan,
  log: Logger,
): Promise<string[]> {
  const tables = await listTables(database);
  await database.command('create schema_migrations', MIGRATIONS_TABLE);
  const known = await database.select<{ id: number }>('list migrations', 'SELECT id FROM schema_migrations');
  const applied = new Set(known.map((row) => row.id));
  // A creation that was interrupted has begun and recorded no migration: some tables that those change may be missing.
  const interrupted = applied.has(CREATION.id) && applied.size === 1;
  const fresh = interrupted || !tables.has(mark);
  if (fresh && !interrupted) await recordMigration(database, CREATION);
  const pending = fresh ? [] : migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of pending) await applyMigration(database, migration, tables, log);
  for (const statement of schema) await database.command('create schema', statement);
  if (fresh) for (const migration of migrations) await recordMigration(database, migration);
  return pending.map((migration) => migration.name);
}

/** Tables of the one kind do not become those of the other. */
async function refuseOther(database: Database, engine: string, those: string): Promise<void> {
  const tables = await database.select<{ name: string }>(
    'find other tables',
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'swaps' AND ${engine}`,
  );
  if (tables.length > 0) throw new AppError('bad_config', `the tables of this database are ${those}`);
}

async function listTables(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.select<{ name: string }>(
    'list tables',
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  return new Set(rows.map((row) => row.name));
}

/** Of a table that is not there yet nothing needs to be changed: the schema makes it as it is today. */
async function applyMigration(
  database: Database,
  migration: Migration,
  tables: ReadonlySet<string>,
  log: Logger,
): Promise<void> {
  log.info({ migration: migration.name }, 'applying a migration');
  for (const statement of migration.statements) {
    const table = /^ALTER TABLE (\w+)/.exec(statement)?.[1];
    if (table === undefined || tables.has(table)) await database.command(migration.name, statement);
  }
  await recordMigration(database, migration);
}

async function recordMigration(database: Database, migration: Migration): Promise<void> {
  await database.command(
    'record migration',
    'INSERT INTO schema_migrations (id, name) SELECT {id:UInt32}, {name:String}',
    { id: migration.id, name: migration.name },
  );
}

async function checkVersion(database: Database): Promise<void> {
  const [row] = await database.select<{ version: string }>('read version', 'SELECT version() AS version');
  const [major = 0, minor = 0] = (row?.version ?? '').split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw new AppError(
    'bad_config',
    `ClickHouse ${row?.version ?? 'of unknown version'} is too old: ${majorMin}.${minorMin} or later is needed`,
  );
}
