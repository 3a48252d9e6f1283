/**
 * Runs named queries. Each read is a file `clickhouse/queries/<module>/<verb_noun>.sql`, loaded once and run
 * by its name. A row type checks the columns of every answer. Commands that write are files of
 * `clickhouse/commands`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { z } from 'zod';

import { AppError } from '../../errors';
import type { Database, QueryParams } from './database';
import { findPackageRoot } from './packageRoot';
import { filterByProjections, parseQueryText } from './queryText';
import type { RowType } from '../rows/rowType';

export interface QueryRunner {
  /** Rows of the named query. Throws `internal` if its columns are not those of `row`. */
  run<Row>(name: string, params: QueryParams, row: RowType<Row>): Promise<Row[]>;
  /** The answer of the named query in one of ClickHouse's output formats. */
  write(name: string, params: QueryParams, format: OutputFormat): Promise<Buffer>;
  /**
   * The answer of a statement that code builds, because its columns vary. `settings` apply to this statement.
   */
  writeMade(
    name: string,
    sql: string,
    params: QueryParams,
    format: OutputFormat,
    settings: Readonly<Record<string, string>>,
  ): Promise<Buffer>;
}

/** The columns of a query's rows; or a shape of their JSON, for statements that also run on older servers. */
type RowShape<Row> = RowType<Row> | z.ZodType<Row>;

function isRowType<Row>(shape: RowShape<Row>): shape is RowType<Row> {
  return 'decoderOf' in shape;
}

type OutputFormat = 'Parquet' | 'ArrowStream' | 'RowBinary';

interface QueryRunnerOptions {
  readonly observe?: (name: string, seconds: number) => void;
}

/** @param databaseOrGetter the database, or a function that returns it for each query or throws while there is none */
export function createQueryRunner(
  databaseOrGetter: Database | (() => Database),
  { observe }: QueryRunnerOptions = {},
): QueryRunner {
  const database =
    typeof databaseOrGetter === 'function' ? databaseOrGetter : (): Database => databaseOrGetter;
  const timed = async <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const answer = await ask();
    observe?.(name, (performance.now() - startedAt) / 1000);
    return answer;
  };
  const readBytes = (name: string, params: QueryParams, format: OutputFormat): Promise<Buffer> =>
    timed(name, () => database().selectBinary(name, textOf(name, params), params, format));
  return {
    run: (name, params, row) => timed(name, () => database().rows(name, textOf(name, params), params, row)),
    write: readBytes,
    writeMade: (name, sql, params, format, settings) =>
      timed(name, () => database().selectBinary(name, filterByProjections(sql), params, format, settings)),
  };
}

/** Rows of the named query, for the ingester and commands. */
export async function selectNamed<Row>(
  database: Database,
  name: string,
  params: QueryParams,
  shape: RowShape<Row>,
): Promise<Row[]> {
  if (isRowType(shape)) return database.rows(name, textOf(name, params), params, shape);
  return (await ask(database, name, params)).map((row) => checkRow(name, row, shape));
}

/**
 * All rows of the named query. `limit` is its LIMIT. Throws `internal` if the answer has as many rows as the
 * limit.
 */
export async function selectAll<Row>(
  database: Database,
  name: string,
  params: QueryParams,
  shape: RowShape<Row>,
  limit: number,
): Promise<Row[]> {
  const rows = await selectNamed(database, name, { ...params, limit }, shape);
  checkComplete(name, rows, limit);
  return rows;
}

/** Throws `internal` if an answer has as many rows as its LIMIT allows, because further rows may be missing. */
export function checkComplete(name: string, rows: readonly unknown[], limit: number): void {
  if (rows.length < limit) return;
  throw new AppError('internal', `${name}: the answer reaches its limit of ${limit} rows`);
}

/**
 * Rows of a statement that code builds. Used where table or column names vary, because such a statement
 * cannot be a file.
 */
export async function selectMade<Row>(
  database: Database,
  name: string,
  sql: string,
  params: QueryParams,
  shape: RowShape<Row>,
): Promise<Row[]> {
  if (isRowType(shape)) return database.rows(name, filterByProjections(sql), params, shape);
  return (await database.select(name, filterByProjections(sql), params)).map((row) =>
    checkRow(name, row, shape),
  );
}

function ask(database: Database, name: string, params: QueryParams): Promise<unknown[]> {
  return database.select(name, textOf(name, params), params);
}

function checkRow<Row>(name: string, row: unknown, shape: z.ZodType<Row>): Row {
  const parsed = shape.safeParse(row);
  if (parsed.success) return parsed.data;
  throw new AppError(
    'internal',
    `${name}: a row does not have the expected columns: ${parsed.error.message}`,
  );
}

/** Runs the statement of the file `clickhouse/commands/<module>/<verb_noun>.sql`. */
export async function commandNamed(
  database: Database,
  name: string,
  params: QueryParams = {},
): Promise<void> {
  await database.command(name, commandText(name), params);
}

/** The text of the file `clickhouse/commands/<module>/<verb_noun>.sql`. */
export function commandText(name: string): string {
  return readFileSync(join(FOLDER, 'commands', `${name}.sql`), 'utf8');
}

const FOLDER = join(findPackageRoot(), 'clickhouse');
const buildTextByName = new Map<string, (params: QueryParams) => string>();

function textOf(name: string, params: QueryParams): string {
  const buildText =
    buildTextByName.get(name) ??
    parseQueryText(name, readFileSync(join(FOLDER, 'queries', `${name}.sql`), 'utf8'));
  buildTextByName.set(name, buildText);
  return buildText(params);
}
