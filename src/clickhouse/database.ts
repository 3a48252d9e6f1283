/**
 * The one door to ClickHouse: names every query, turns engine errors into AppErrors and sets in full the settings that
 * shape durability. Statements without a result go through @clickhouse/client, rows and inserts through directClient.ts.
 * Knows no table.
 */
import { ClickHouseError, ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';

import { AppError, errorText } from '../errors';
import { createDirectClient, type DirectClient, type SelectParams } from './directClient';
import { ENGINE_CODES, EngineError, isPassing } from './engineError';
import { createGlobalizer } from './globalSubqueries';

export type QueryParams = SelectParams;

/** Settings of every insert: synchronous, one insert is one block, and views deduplicate as their source does. */
export const INSERT_SETTINGS = {
  async_insert: 0,
  wait_end_of_query: 1,
  input_format_parallel_parsing: 0,
  max_insert_block_size: '4000000',
  max_insert_block_size_bytes: '0',
  min_insert_block_size_rows: '0',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
  // Above 100,000 groups the engine would sum in 256 parts, and each would be a part of the view's table, in any order.
  group_by_two_level_threshold: '0',
  group_by_two_level_threshold_bytes: '0',
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  throw_on_max_partitions_per_insert_block: 0,
  // Of a cluster: acknowledged when every shard has its rows; a promotion reads and writes inside each shard.
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '2',
} as const;

/** Behind SETTINGS of an INSERT … SELECT that gathers what it inserts: sums by all threads, as by the engine's default. */
export const TWO_LEVEL_SUMS =
  'group_by_two_level_threshold = 100000, group_by_two_level_threshold_bytes = 50000000';

export interface DatabaseOptions {
  /** `http(s)://user:pass@host:port/database`; settings of all statements behind it: `?ch_<name>=<value>`. */
  readonly url: string;
  /** Default 30 s. */
  readonly requestTimeoutMs?: number;
  readonly maxConnections?: number;
  /** Whether the tables are those of a cluster. */
  readonly distributed?: boolean;
}

/** The servers among which the rows lie, each with its own part of every table (clusterSchema.ts). */
export interface Cluster {
  readonly name: string;
  /** Whether each part lies on several of them. */
  readonly replicated: boolean;
  readonly nodes: readonly ClusterNode[];
}

export interface ClusterNode {
  /** `host:port`. */
  readonly name: string;
  readonly database: Database;
}

export interface Database {
  /** null: one server has all rows. */
  readonly cluster: Cluster | null;
  /** Rows of a SELECT. `name` stands in errors and metrics. */
  select<Row>(name: string, sql: string, params?: QueryParams): Promise<Row[]>;
  /**
   * The same as bytes in one piece, in RowBinary (half the time of JSON where rows are numbers) unless another output format
   * is named.
   */
  selectBinary(name: string, sql: string, params?: QueryParams, format?: string): Promise<Buffer>;
  /** Runs a statement without a result. */
  command(name: string, sql: string, params?: QueryParams, token?: string): Promise<void>;
  /** Inserts RowBinary bytes as one block. `token`: the deduplication token; a second insert with it is a no-op. */
  insert(table: string, columns: readonly string[], body: Buffer, token?: string): Promise<void>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 16;
/** Far less than the engine's own 10 s, so that it is never the one to close, however late a busy process looks. */
const IDLE_MS = 2_500;

export function openDatabase(options: DatabaseOptions): Database {
  const { url, requestTimeoutMs = REQUEST_TIMEOUT_MS, maxConnections = MAX_CONNECTIONS } = options;
  const said = options.distributed === true ? createGlobalizer() : (sql: string): string => sql;
  const client = createClient({
    url,
    request_timeout: requestTimeoutMs,
    max_open_connections: maxConnections,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_MS },
    compression: { request: false, response: false },
    application: 'candlehouse',
    // Failures are thrown; whoever catches them logs them.
    log: { level: ClickHouseLogLevel.OFF },
  });
  const direct = createDirectClient({ url, requestTimeoutMs, idleMs: IDLE_MS, maxConnections });
  return {
    cluster: null,
    select: (name, sql, params = {}) => guard(name, () => direct.select(said(sql), params)),
    selectBinary: (name, sql, params = {}, format = 'RowBinary') =>
      guard(name, () => direct.selectBinary(said(sql), params, format)),
    command: (name, sql, params = {}, token) => guard(name, () => command(client, said(sql), params, token)),
    insert: (table, columns, body, token) =>
      guard(`insert ${table}`, () => insert(direct, table, columns, body, token)),
    ping: async () => (await client.ping({ select: true })).success,
    close: async () => {
      await direct.close();
      await client.close();
    },
  };
}

async function command(
  client: ClickHouseClient,
  sql: string,
  params: QueryParams,
  token: string | undefined,
): Promise<void> {
  const dedup =
    token === undefined
      ? {}
      : { insert_deduplication_token: token, deduplicate_insert_select: 'force_enable', max_threads: 1 };
  await client.command({
    query: sql,
    query_params: params,
    clickhouse_settings: { ...INSERT_SETTINGS, ...dedup },
  });
}

async function insert(
  client: DirectClient,
  table: string,
  columns: readonly string[],
  body: Buffer,
  token: string | undefined,
): Promise<void> {
  const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT RowBinary`;
  const dedup = token === undefined ? {} : { insert_deduplication_token: token };
  await client.insert(query, body, { ...INSERT_SETTINGS, ...dedup }, token !== undefined);
}

async function guard<T>(name: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const cause = toCause(error);
    const passing = isPassing(cause);
    const isFull = cause instanceof EngineError && cause.code === ENGINE_CODES.NOT_ENOUGH_SPACE;
    const full = isFull ? 'the disk is full: ' : '';
    const message = `ClickHouse, ${name}: ${full}${errorText(cause)}`;
    throw new AppError(passing ? 'unavailable' : 'internal', message, { cause, retryable: passing });
  }
}

/** Errors of @clickhouse/client as those of directClient.ts: classified by number or system code, not by text. */
function toCause(error: unknown): unknown {
  if (error instanceof ClickHouseError) return new EngineError(Number(error.code), error.message);
  if (error instanceof Error && error.message === 'Timeout error.')
    return Object.assign(new Error('no answer in time', { cause: error }), { code: 'ETIMEDOUT' });
  return error;
}
