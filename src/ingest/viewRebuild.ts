/**
 * Another generation of a final table and of everything that views make of it, built beside the one in use and exchanged for
 * it at the end: final rows are never changed where they stand.
 */
import type { Database } from '../clickhouse/database';
import { readSchema } from '../clickhouse/schema';
import type { EventTableName } from '../clickhouse/tables';

const VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\n([\s\S]+)$/;

export interface View {
  readonly name: string;
  readonly target: string;
  /** What it makes of each block of inserted rows. */
  readonly select: string;
  /** The whole statement that creates it. */
  readonly statement: string;
}

export const nextOf = (table: string): string => `next_${table}`;

/** What is made of a table, in the schema's words. */
export function listViews(table: string): View[] {
  return readSchema().flatMap((statement) => {
    const [, name = '', target = '', select = ''] = VIEW.exec(statement) ?? [];
    return readsFrom(select, table) ? [{ name, target, select, statement }] : [];
  });
}

function readsFrom(select: string, table: string): boolean {
  return new RegExp(`\\bFROM ${table}\\b`).test(select);
}

/** Makes a copy of the table (by links) under its next name. */
export async function cloneNext(database: Database, table: string): Promise<void> {
  await database.command('drop next', `DROP TABLE IF EXISTS ${nextOf(table)} SYNC`);
  await database.command(`clone ${table}`, `CREATE TABLE ${nextOf(table)} CLONE AS ${table}`);
}

/** Makes what views would have made of `from`, a table like `table`, under their targets' next names. Returns the targets. */
export async function rebuildViews(
  database: Database,
  table: EventTableName,
  from: string,
): Promise<string[]> {
  const views = listViews(table);
  for (const { target, select } of views) {
    const columns = await listColumns(database, target);
    await database.command('drop next', `DROP TABLE IF EXISTS ${nextOf(target)} SYNC`);
    await database.command('create next', `CREATE TABLE ${nextOf(target)} AS ${target}`);
    const read = select.replace(new RegExp(`\\bFROM ${table}\\b`, 'g'), `FROM ${from}`);
    await database.command(
      `rebuild ${target}`,
      `INSERT INTO ${nextOf(target)} (${columns}) SELECT ${columns} FROM (${read})`,
    );
  }
  return views.map(({ target }) => target);
}

async function listColumns(database: Database, table: string): Promise<string> {
  const rows = await database.select<{ name: string }>(
    'list columns',
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
     ORDER BY position LIMIT 1000`,
    { table },
  );
  return rows.map(({ name }) => name).join(', ');
}

/** Puts the next generation of each table in the place of the present one, which then goes. */
export async function exchange(database: Database, tables: readonly string[]): Promise<void> {
  for (const table of tables)
    await database.command(`exchange ${table}`, `EXCHANGE TABLES ${table} AND ${nextOf(table)}`);
  for (const table of tables)
    await database.command('drop what was', `DROP TABLE IF EXISTS ${nextOf(table)} SYNC`);
}
