/**
 * The one door to ClickHouse: a thin wrapper around @clickhouse/client that names every query, turns engine errors into
 * AppErrors and says the settings that shape durability in full. Knows no table.
 */
import { Readable } from 'node:stream';

import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';

import { AppError, errorText } from '../errors';
import { createGlobalizer } from './globalSubqueries';
import { createDirectClient, SETTING_PREFIX, type DirectClient, type SelectParams } from './directClient';

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
    // What fails is thrown and told by whoever called.
    log: { level: ClickHouseLogLevel.OFF },
  });
  const connections = createDirectClient({ url, requestTimeoutMs, idleMs: IDLE_MS, maxConnections });
  // What else stands in the address is the client's to understand.
  const direct = hasOnlySettings(url) ? connections : null;
  return {
    cluster: null,
    select: (name, sql, params) => guard(name, () => select(direct, client, said(sql), params)),
    selectBinary: (name, sql, params, format) =>
      guard(name, () =>
        format === undefined
          ? selectBinary(direct, client, said(sql), params)
          : connections.selectAs(said(sql), params ?? {}, format),
      ),
    command: (name, sql, params, token) => guard(name, () => command(client, said(sql), params, token)),
    insert: (table, columns, body, token) =>
      guard(`insert ${table}`, () => insert(direct, client, table, columns, body, token)),
    ping: async () => (await client.ping({ select: true })).success,
    close: async () => {
      await connections.close();
      await client.close();
    },
  };
}

function hasOnlySettings(url: string): boolean {
  return [...new URL(url).searchParams.keys()].every((name) => name.startsWith(SETTING_PREFIX));
}

async function select<Row>(
  direct: DirectClient | null,
  client: ClickHouseClient,
  sql: string,
  params?: QueryParams,
): Promise<Row[]> {
  const rows = direct?.select<Row>(sql, params ?? {}) ?? null;
  if (rows !== null) return rows;
  const result = await client.query({
    query: sql,
    format: 'JSONEachRow',
    ...(params === undefined ? {} : { query_params: params }),
  });
  return result.json<Row>();
}

async function selectBinary(
  direct: DirectClient | null,
  client: ClickHouseClient,
  sql: string,
  params?: QueryParams,
): Promise<Buffer> {
  const bytes = direct?.selectBinary(sql, params ?? {}) ?? null;
  if (bytes !== null) return bytes;
  const result = await client.exec({
    query: `${sql}\nFORMAT RowBinary`,
    // What broke off half-way is then an error of the request.
    clickhouse_settings: { wait_end_of_query: 1 },
    ...(params === undefined ? {} : { query_params: params }),
  });
  const pieces: Buffer[] = [];
  for await (const piece of result.stream) if (Buffer.isBuffer(piece)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function command(
  client: ClickHouseClient,
  sql: string,
  params: QueryParams | undefined,
  token: string | undefined,
): Promise<void> {
  const dedup =
    token === undefined
      ? {}
      : { insert_deduplication_token: token, deduplicate_insert_select: 'force_enable', max_threads: 1 };
  await client.command({
    query: sql,
    ...(params === undefined ? {} : { query_params: params }),
    clickhouse_settings: { ...INSERT_SETTINGS, ...dedup },
  });
}

async function insert(
  direct: DirectClient | null,
  client: ClickHouseClient,
  table: string,
  columns: readonly string[],
  body: Buffer,
  token: string | undefined,
): Promise<void> {
  const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT RowBinary`;
  const dedup = token === undefined ? {} : { insert_deduplication_token: token };
  const settings = { ...INSERT_SETTINGS, ...dedup };
  if (direct !== null) return direct.insert(query, body, settings, token !== undefined);
  const values = Readable.from([body], { objectMode: false });
  const result = await client.exec({ query, values, clickhouse_settings: settings });
  for await (const chunk of result.stream) void chunk;
}

const PASSING_TYPES = new RegExp(
  [
    'TIMEOUT_EXCEEDED|TOO_MANY_SIMULTANEOUS_QUERIES|MEMORY_LIMIT_EXCEEDED|NETWORK_ERROR|TOO_MANY_PARTS|NOT_ENOUGH_SPACE',
    // Of a cluster: another server is away, or too few replicas have what was written.
    'ALL_CONNECTION_TRIES_FAILED|SOCKET_TIMEOUT|ATTEMPT_TO_READ_AFTER_EOF|TOO_FEW_LIVE_REPLICAS|UNKNOWN_STATUS_OF_INSERT',
    'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE|TABLE_IS_READ_ONLY|KEEPER_EXCEPTION',
  ].join('|'),
);

/** Whether an engine's error says nothing about the statement, only about the moment. */
function isPassing(error: unknown): boolean {
  const text = errorText(error);
  return (
    /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|Timeout error|ETIMEDOUT|ENOTFOUND|EAI_AGAIN/.test(text) ||
    PASSING_TYPES.test(`${text} ${errorType(error)}`)
  );
}

function errorType(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('type' in error)) return '';
  return String(error.type);
}

async function guard<T>(name: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    const passing = isPassing(cause);
    const full = errorType(cause) === 'NOT_ENOUGH_SPACE' ? 'the disk is full: ' : '';
    const message = `ClickHouse, ${name}: ${full}${errorText(cause)}`;
    throw new AppError(passing ? 'unavailable' : 'internal', message, { cause, retryable: passing });
  }
}
