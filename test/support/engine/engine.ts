/** Creates databases for tests, on the engine that globalSetup.ts started. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';

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
  const database = `candlehouse_test_${randomBytes(6).toString('hex')}`;
  const testDatabase = testDatabaseOf(database);
  for (const server of listServers()) await command(server, `CREATE DATABASE ${database}`);
  return testDatabase;
}

/** ClickHouse's error code DATABASE_ALREADY_EXISTS. */
const ALREADY_EXISTS = '82';
/** Marks a shared database as filled. */
const FILLED_MARK = 'shared_world_is_stored';
const SHARED_POLL_MS = 50;

/**
 * Opens a database that all test files of a run share: nobody may write to it or drop it. The first caller creates and
 * fills it, and later callers wait. Its rows are removed with the engine.
 */
export async function shareTestDatabase(
  name: string,
  fill: (empty: TestDatabase) => Promise<void>,
): Promise<TestDatabase> {
  const database = `candlehouse_shared_${name}`;
  const testDatabase = testDatabaseOf(database);
  const [firstServer = '', ...otherServers] = listServers();
  while (!(await isFilled(firstServer, database))) {
    if (!(await createOnce(firstServer, database))) {
      await delay(SHARED_POLL_MS);
      continue;
    }
    try {
      for (const server of otherServers) await command(server, `CREATE DATABASE ${database}`);
      await fill(testDatabase);
      await command(firstServer, `CREATE TABLE ${database}.${FILLED_MARK} (filled UInt8) ENGINE = Memory`);
    } catch (error) {
      await testDatabase.drop();
      throw error;
    }
  }
  return testDatabase;
}

/** Whether this call created the database, and not another test file. */
async function createOnce(server: string, database: string): Promise<boolean> {
  try {
    await command(server, `CREATE DATABASE ${database}`);
    return true;
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === ALREADY_EXISTS) return false;
    throw error;
  }
}

async function isFilled(server: string, database: string): Promise<boolean> {
  const client = createClient({ url: server });
  try {
    const answer = await client.query({
      query: `EXISTS TABLE ${database}.${FILLED_MARK}`,
      format: 'JSONEachRow',
    });
    const [row] = await answer.json<{ result: number }>();
    return row?.result === 1;
  } finally {
    await client.close();
  }
}

function testDatabaseOf(database: string): TestDatabase {
  const servers = listServers();
  return {
    writerUrl: withDatabase(readUrl('CANDLEHOUSE_TEST_WRITER_URL'), database),
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
function listServers(): string[] {
  const cluster = process.env['CANDLEHOUSE_TEST_CLUSTER'];
  if (cluster === undefined) return [readUrl('CANDLEHOUSE_TEST_WRITER_URL')];
  return (JSON.parse(cluster) as { servers: { url: string }[] }).servers.map(({ url }) => url);
}

function readUrl(name: string): string {
  const url = process.env[name];
  if (url === undefined)
    throw new Error(`${name} is not set: run the tests through jest, whose globalSetup starts the engine`);
  return url;
}

function withDatabase(url: string, database: string): string {
  const changedUrl = new URL(url);
  changedUrl.pathname = `/${database}`;
  return changedUrl.toString();
}

async function command(url: string, sql: string): Promise<void> {
  const client = createClient({ url, request_timeout: 240_000, log: { level: ClickHouseLogLevel.OFF } });
  try {
    await client.command({ query: sql });
  } finally {
    await client.close();
  }
}
