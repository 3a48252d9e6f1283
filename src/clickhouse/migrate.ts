/**
 * Brings a database to the current schema: creates what is missing, applies the migrations that an older one lacks.
 * Every statement is safe to repeat, so two processes may migrate at once.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { AppError } from '../errors';
import type { Logger } from '../log';
import type { Database } from './database';
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
  const migrations = readMigrations();
  const tables = await database.select<{ name: string }>(
    'list tables',
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ('swaps', 'schema_migrations')",
  );
  await database.command('create schema_migrations', MIGRATIONS_TABLE);
  const known = await database.select<{ id: number }>('list migrations', 'SELECT id FROM schema_migrations');
  const applied = new Set(known.map((row) => row.id));
  // A creation that was interrupted has begun and recorded no migration: some tables that those change may be missing.
  const interrupted = applied.has(CREATION.id) && applied.size === 1;
  const fresh = interrupted || !tables.some((table) => table.name === 'swaps');
  if (fresh && !interrupted) await recordMigration(database, CREATION);
  const pending = fresh ? [] : migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of pending) await applyMigration(database, migration, log);
  for (const statement of readSchema()) await database.command('create schema', statement);
  if (fresh) for (const migration of migrations) await recordMigration(database, migration);
  return pending.map((migration) => migration.name);
}

async function applyMigration(database: Database, migration: Migration, log: Logger): Promise<void> {
  log.info({ migration: migration.name }, 'applying a migration');
  for (const statement of migration.statements) await database.command(migration.name, statement);
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
