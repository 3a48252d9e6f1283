/**
 * The connection to ClickHouse: every statement has a name, errors become AppErrors, and all settings about
 * durability are set explicitly. Table definitions are in schema/.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

import { ClickHouseError, ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';

import { decodeRows, TYPED_ROWS, type RowType } from '../rows/rowType';
import { addSummary } from './readCost';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError, errorText } from '../../errors';
import { createByteReader } from './byteReader';
import { ENGINE_CODES, EngineError, isConnectionLost, isPassing, systemCode } from './engineError';
import { createGlobalizer } from './globalSubqueries';
import type { QueryParams } from './queryParams';

export type { QueryParams };

/** Settings of every insert: synchronous, one block per insert, and views deduplicate like their source. */
export const INSERT_SETTINGS = {
  async_insert: 0,
  wait_end_of_query: 1,
  input_format_parallel_parsing: 0,
  max_insert_block_size: '4000000',
  max_insert_block_size_bytes: '0',
  min_insert_block_size_rows: '0',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
  // Turns off two-level aggregation, which ClickHouse uses above 100,000 groups. It splits the groups into
  // 256 hash tables, and each would become a separate part of the view's table.
  group_by_two_level_threshold: '0',
  group_by_two_level_threshold_bytes: '0',
  // A view's rows have distinct keys already, so ClickHouse need not merge them again before it writes them.
  optimize_on_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  throw_on_max_partitions_per_insert_block: 0,
  // On a cluster, an insert is acknowledged when every shard has its rows, because a promotion then copies
  // rows within each shard.
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '2',
} as const;

/**
 * Settings of a large INSERT … SELECT that aggregates. They allow two-level aggregation again, so that all
 * threads aggregate.
 */
export const TWO_LEVEL_SUMS =
  'group_by_two_level_threshold = 100000, group_by_two_level_threshold_bytes = 50000000';

/** Settings of an INSERT … SELECT with a deduplication token. */
const SELECT_DEDUP = { deduplicate_insert_select: 'force_enable', max_threads: 1 } as const;

export interface DatabaseOptions {
  /**
   * URL of the database: `http(s)://user:pass@host:port/database`, optionally with settings for all
   * statements: `?ch_<name>=<value>`.
   */
  readonly url: string;
  /** Time limit of a request in ms; default 30 s. */
  readonly requestTimeoutMs?: number;
  readonly maxConnections?: number;
  /** Whether the tables are Distributed tables of a cluster. */
  readonly distributed?: boolean;
}

/** A cluster. Each node has its own part of every table (clusterSchema.ts). */
export interface Cluster {
  readonly name: string;
  /** Whether shards have several replicas. */
  readonly replicated: boolean;
  readonly nodes: readonly ClusterNode[];
}

export interface ClusterNode {
  /** Native address of the server: `host:port`. */
  readonly name: string;
  readonly database: Database;
}

export interface Database {
  /** The cluster of the database; null for a single server. */
  readonly cluster: Cluster | null;
  /**
   * Returns the rows of a SELECT, whose columns are those of `row`. Throws `internal` for other columns. `name` appears
   * in errors and metrics.
   */
  rows<Row>(name: string, sql: string, params: QueryParams, row: RowType<Row>): Promise<Row[]>;
  /** The same as JSON objects. The caller checks their shape. */
  select(name: string, sql: string, params?: QueryParams): Promise<unknown[]>;
  /**
   * Returns the answer of a SELECT as bytes: in RowBinary, which is faster than JSON for numbers, or in
   * another output format. `settings` apply to this statement.
   */
  selectBinary(
    name: string,
    sql: string,
    params?: QueryParams,
    format?: string,
    settings?: Readonly<Record<string, string>>,
  ): Promise<Buffer>;
  command(name: string, sql: string, params?: QueryParams, token?: string): Promise<void>;
  /**
   * Inserts RowBinary bytes as one block. `token` is the deduplication token: a second insert with the same
   * token has no effect. `guard` fences off an older writer: if its condition is false when the statement
   * begins, the server inserts nothing and this call throws `fenced`.
   */
  insert(
    table: string,
    columns: readonly string[],
    body: Buffer,
    token?: string,
    guard?: InsertGuard,
  ): Promise<void>;
  /** Whether the server answers. Runs no statement. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

/** The message with which the condition of a guard throws. */
export const FENCED = 'a newer writer has claimed the database';

/** Lets the server refuse an insert of RowBinary bytes if a newer writer has claimed the database. */
export interface InsertGuard {
  /** SQL condition. It throws the message FENCED by `throwIf`. */
  readonly condition: string;
  /** ClickHouse type of each inserted column, in the order of the columns. */
  readonly types: readonly string[];
}

const MAX_CONNECTIONS = 16;
/**
 * Time in ms after which idle connections are closed. The engine closes them after 10 s. The client's time is
 * much shorter, so that the client closes first even if it is busy.
 */
const IDLE_MS = 2_500;
/**
 * Time in ms that running statements get to finish on close. Without it, the server would have to cancel its
 * own requests to other servers.
 */
const CLOSE_GRACE_MS = 500;

export function openDatabase(options: DatabaseOptions): Database {
  const { url, requestTimeoutMs = TIME_LIMITS.databaseRequestMs, maxConnections = MAX_CONNECTIONS } = options;
  const toSentSql = options.distributed === true ? createGlobalizer() : (sql: string): string => sql;
  const client = createClient({
    url,
    request_timeout: requestTimeoutMs,
    max_open_connections: maxConnections,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_MS },
    compression: { request: false, response: false },
    use_multipart_params_auto: true,
    application: 'candlehouse',
    // Failures are thrown to the caller, so the client library does not log them.
    log: { level: ClickHouseLogLevel.OFF },
  });
  const byteReader = createByteReader({ url, requestTimeoutMs, idleMs: IDLE_MS, maxConnections });
  const runningStatements = new Set<Promise<unknown>>();
  const guard = async <T>(name: string, run: () => Promise<T>, toError = toAppError): Promise<T> => {
    const running = run();
    runningStatements.add(running);
    try {
      return await running;
    } catch (error) {
      throw toError(name, error);
    } finally {
      runningStatements.delete(running);
    }
  };
  return {
    cluster: null,
    rows: async (name, sql, params, row) => {
      const answer = await guard(name, () =>
        retryOnce(() => byteReader.read(toSentSql(sql), params, TYPED_ROWS, {})),
      );
      return decodeRows(name, answer, row);
    },
    select: (name, sql, params = {}) =>
      guard(name, () => retryOnce(() => select(client, toSentSql(sql), params))),
    selectBinary: (name, sql, params = {}, format = 'RowBinary', settings = {}) =>
      guard(name, () => retryOnce(() => byteReader.read(toSentSql(sql), params, format, settings))),
    command: (name, sql, params = {}, token) =>
      guard(name, () => command(client, toSentSql(sql), params, token), toWriteError),
    insert: (table, columns, body, ...rest) =>
      guard(`insert ${table}`, () => insert(client, table, columns, body, ...rest), toWriteError),
    ping: async () => (await client.ping({ select: false })).success,
    close: async () => {
      if (runningStatements.size > 0)
        await Promise.race([
          Promise.allSettled(runningStatements),
          delay(CLOSE_GRACE_MS, undefined, { ref: false }),
        ]);
      await Promise.all([byteReader.close(), client.close()]);
    },
  };
}

/** Repeats a read once if it failed because the server had just closed an idle connection. */
async function retryOnce<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isConnectionLost(error)) return read();
    throw error;
  }
}

/**
 * With the setting `wait_end_of_query`, the engine sends rows only when all rows are ready, so an error never
 * appears between rows.
 */
async function select(client: ClickHouseClient, query: string, params: QueryParams): Promise<unknown[]> {
  const answer = await client.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    clickhouse_settings: { wait_end_of_query: 1 },
  });
  addSummary(answer.response_headers['x-clickhouse-summary']);
  return answer.json();
}

async function command(
  client: ClickHouseClient,
  sql: string,
  params: QueryParams,
  token: string | undefined,
): Promise<void> {
  const dedupSettings = token === undefined ? {} : { insert_deduplication_token: token, ...SELECT_DEDUP };
  await client.command({
    query: sql,
    query_params: params,
    clickhouse_settings: { ...INSERT_SETTINGS, ...dedupSettings },
  });
}

async function insert(
  client: ClickHouseClient,
  table: string,
  columns: readonly string[],
  body: Buffer,
  token?: string,
  guard?: InsertGuard,
): Promise<void> {
  const dedup = token === undefined ? {} : { insert_deduplication_token: token };
  const selectSettings = guard === undefined || token === undefined ? {} : SELECT_DEDUP;
  const { stream } = await client.exec({
    query: `INSERT INTO ${table} (${columns.join(', ')})${selectFromInput(columns, guard)} FORMAT RowBinary`,
    values: Readable.from([body]),
    clickhouse_settings: { ...INSERT_SETTINGS, ...dedup, ...selectSettings },
  });
  // If the connection breaks while the body is sent, the insert fails and reports the error. Without this
  // listener, an error event would end the process.
  await buffer(stream);
}

/** SQL that presents the bytes as a table, so that the server can filter them. Empty without a guard. */
function selectFromInput(columns: readonly string[], guard: InsertGuard | undefined): string {
  if (guard === undefined) return '';
  const structure = columns.map((column, i) => `${column} ${guard.types[i] ?? ''}`).join(', ');
  const quotedStructure = structure.replace(/[\\']/g, '\\$&');
  return ` SELECT ${columns.join(', ')} FROM input('${quotedStructure}') WHERE ${guard.condition}`;
}

export function toAppError(name: string, error: unknown): AppError {
  const cause = toCause(error);
  const isTemporary = isPassing(cause);
  const isFull = cause instanceof EngineError && cause.code === ENGINE_CODES.NOT_ENOUGH_SPACE;
  const fullText = isFull ? 'the disk is full: ' : '';
  const message = `ClickHouse, ${name}: ${fullText}${errorText(cause)}`;
  return new AppError(isTemporary ? 'unavailable' : 'internal', message, { cause, retryable: isTemporary });
}

function toWriteError(name: string, error: unknown): AppError {
  const cause = toCause(error);
  const isThrownByGuard =
    cause instanceof EngineError && cause.code === ENGINE_CODES.FUNCTION_THROW_IF_VALUE_IS_NON_ZERO;
  if (isThrownByGuard && cause.message.includes(FENCED))
    return new AppError('fenced', `ClickHouse, ${name}: ${FENCED}`, { cause });
  return toAppError(name, error);
}

/**
 * Gives the errors of both clients the same form: engine errors have a number, connection errors a system
 * code.
 */
function toCause(error: unknown): unknown {
  if (error instanceof ClickHouseError)
    return new EngineError(
      Number(error.code),
      `${error.message.trim()} (${error.type ?? 'error of unknown type'})`,
    );
  if (error instanceof Error && error.message === 'Timeout error.')
    return Object.assign(new Error('no answer within the time limit', { cause: error }), {
      code: 'ETIMEDOUT',
    });
  const code = systemCode(error);
  if (code === null) return error;
  const text = errorText(error);
  const message = text.includes(code) ? text : `${code} ${text}`.trim();
  return Object.assign(new Error(message, { cause: error }), { code });
}
