/**
 * Reads clickhouse/schema as single statements in layer order. A line `-- HEAD OF <table> PARTITION BY <expr>
 * ORDER BY <expr>` creates the table's head table. The head table has the same columns after a `commit`,
 * without projections, indexes or deduplication. `_timeframes` stands for the lengths of all timeframes.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { AppError } from '../../errors';
import { TIMEFRAME_SECONDS } from '../../domain/timeframes';
import { findPackageRoot } from '../client/packageRoot';

const HEAD_LINE = /^-- HEAD OF (\w+) PARTITION BY (.+) ORDER BY (.+)$/;
const COMMIT_COLUMN =
  "    commit UInt64 COMMENT 'Commit that wrote the row; head_blocks names the canonical commits',";

/** The lengths of all timeframes, in seconds, as an array in SQL and as ClickHouse repeats it in the query of a view. */
export const TIMEFRAMES_SQL = `[${Object.values(TIMEFRAME_SECONDS).join(', ')}]`;

const CREATED = /^CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS (\w+)\b/;

/**
 * The table or view that a schema statement creates. Throws `bad_config` for a statement that is not safe to
 * repeat.
 */
export function createdName(statement: string): string {
  const name = CREATED.exec(statement)?.[1];
  if (name !== undefined) return name;
  const begin = statement.slice(0, 80);
  throw new AppError('bad_config', `a schema statement is not CREATE … IF NOT EXISTS: ${begin}`);
}

/** All schema statements, each safe to repeat. */
export function readSchema(root: string = findPackageRoot()): string[] {
  const folder = join(root, 'clickhouse', 'schema');
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  return files.flatMap((name) => readStatements(readFileSync(join(folder, name), 'utf8')));
}

/** Splits a file into statements and expands its HEAD lines. */
export function readStatements(text: string): string[] {
  const statements: string[] = [];
  const tables = new Map<string, string>();
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    const head = HEAD_LINE.exec(line);
    if (head !== null) {
      const [, table = '', partition = '', order = ''] = head;
      statements.push(headTableSql(table, tables.get(table), partition, order));
    } else if (!line.startsWith('--')) {
      lines.push(line);
      if (line.endsWith(';')) {
        const statement = lines.join('\n').trim().slice(0, -1).replaceAll('_timeframes', TIMEFRAMES_SQL);
        const name = /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement)?.[1];
        if (name !== undefined) tables.set(name, statement);
        statements.push(statement);
        lines = [];
      }
    }
  }
  if (lines.join('').trim() !== '') throw new AppError('bad_config', 'a schema file ends inside a statement');
  return statements;
}

function headTableSql(
  table: string,
  statement: string | undefined,
  partition: string,
  order: string,
): string {
  if (statement === undefined)
    throw new AppError('bad_config', `"-- HEAD OF ${table}" comes before the table ${table}`);
  const columns = columnsOf(statement);
  return [
    `CREATE TABLE IF NOT EXISTS ${table}_head`,
    '(',
    COMMIT_COLUMN,
    columns,
    ')',
    'ENGINE = MergeTree',
    `PARTITION BY ${partition}`,
    `ORDER BY ${order}`,
    'SETTINGS index_granularity = 1024',
    `COMMENT 'Rows of ${table} of blocks that are not final yet'`,
  ].join('\n');
}

const COLUMN = /^\s*(\w+) (.+?)(?: (?:DEFAULT|MATERIALIZED|CODEC|COMMENT)\b.*)?,?$/;

/** ClickHouse types of the columns of a table of the schema, by column. */
export function readColumnTypes(schema: readonly string[], table: string): ReadonlyMap<string, string> {
  const statement = schema.find((text) => text.startsWith(`CREATE TABLE IF NOT EXISTS ${table}\n`));
  const lines = statement === undefined ? [] : columnsOf(statement).split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, name, type] = COLUMN.exec(line) ?? [];
      return name === undefined || type === undefined ? [] : [[name, type] as const];
    }),
  );
}

/** The column lines of a CREATE TABLE, without projections and indexes. */
export function columnsOf(statement: string): string {
  const body = statement.slice(statement.indexOf('(\n') + 2, statement.indexOf('\n)\nENGINE'));
  return body
    .split('\n')
    .filter((line) => !/^\s*(PROJECTION|INDEX) /.test(line))
    .join('\n')
    .replace(/,\s*$/, '');
}
