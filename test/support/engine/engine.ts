/** Creates a database for one test file, on the engine that globalSetup.ts started. */
import { randomBytes } from 'node:crypto';

import { createClient } from '@clickhouse/client';

export interface TestDatabase {
  /** URL for openDatabase, with full rights on this database. */
  readonly writerUrl: string;
  /** URL of the read-only user with the API's limits. */
  readonly readerUrl: string;
  readonly database: string;
  drop(): Promise<void>;
}

/** Creates an empty database with a unique name. Call `drop` in afterAll. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const writer = readUrl('CANDLEHOUSE_TEST_WRITER_URL');
  const database = `candlehouse_test_${randomBytes(6).toString('hex')}`;
  const servers = listServers(writer);
  for (const server of servers) await command(server, `CREATE DATABASE ${database}`);
  return {
    writerUrl: withDatabase(writer, database),
    readerUrl: withDatabase(readUrl('CANDLEHOUSE_TEST_READER_URL'), database),
    database,
    async drop() {
      for (const server of servers) await command(server, `DROP DATABASE IF EXISTS ${database} SYNC`);
    },
  };
}

/**
 * URLs of the servers on which to create a database: the shared engine or, under jest.cluster.config.js, all servers of
 * the cluster.
 */
function listServers(writer: string): string[] {
  const cluster = process.env['CANDLEHOUSE_TEST_CLUSTER'];
  if (cluster === undefined) return [writer];
  return (JSON.parse(cluster) as { servers: { url: string }[] }).servers.map(({ url }) => url);
}

function readUrl(name: string): string {
  const url = process.env[name];
  if (url === undefined)
    throw new Error(`${name} is not set: run the tests through jest, whose globalSetup starts the engine`);
  return url;
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

async function command(url: string, sql: string): Promise<void> {
  const client = createClient({ url, request_timeout: 240_000 });
  try {
    await client.command({ query: sql });
  } finally {
    await client.close();
  }
}
