/**
 * Sends whole files to ClickHouse as the body of an INSERT. So the engine reads formats such as Parquet itself, and no
 * user of the database needs the right to open files.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { ClickHouseLogLevel, createClient } from '@clickhouse/client';

import { AppError } from '../../errors';
import { toAppError } from './database';
import type { QueryParams } from './queryParams';

export interface FileInserter {
  /**
   * Runs an INSERT that ends with `FORMAT …`. `body` is destroyed at the end. `name` appears in errors.
   * @throws AppError `unavailable` if the server does not answer, `internal` if it refuses the bytes. If reading `body`
   * fails with an AppError, throws this error.
   */
  insert(
    name: string,
    sql: string,
    body: Readable | Buffer,
    signal: AbortSignal,
    params?: QueryParams,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Files whose footers are read at the same time. */
const CONNECTIONS = 4;
/** A large file is stored within this time in ms. */
const REQUEST_TIMEOUT_MS = 600_000;

const SETTINGS = {
  async_insert: 0,
  wait_end_of_query: 1,
  // A column that the file does not have is an error, not a column of zeros.
  input_format_parquet_allow_missing_columns: 0,
} as const;

export function openFileInserter(url: string): FileInserter {
  const client = createClient({
    url,
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: CONNECTIONS,
    application: 'candlehouse',
    log: { level: ClickHouseLogLevel.OFF },
  });
  return {
    async insert(name, query, body, signal, params = {}) {
      const values = Buffer.isBuffer(body) ? Readable.from([body]) : body;
      try {
        const { stream } = await client.exec({
          query,
          values,
          query_params: params,
          clickhouse_settings: SETTINGS,
          abort_signal: signal,
        });
        await buffer(stream);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof AppError ? error : toAppError(name, error);
      } finally {
        values.destroy();
      }
    },
    close: () => client.close(),
  };
}
