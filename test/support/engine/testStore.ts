/** A migrated database for one test file, with a writing connection and the API's read-only connection. */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { createLog } from '../../../src/log';
import { createTestDatabase, shareTestDatabase, type TestDatabase } from './engine';

/** Time limit in ms of a statement. On a busy machine a statement of a test may take long. */
const STATEMENT_MAX_MS = 240_000;

export interface TestStore extends Omit<TestDatabase, 'drop'> {
  readonly db: Database;
  /** Named queries of the read-only user, as in the API. */
  readonly runner: QueryRunner;
  /** Closes both connections and drops the database. */
  close(): Promise<void>;
}

/** `fill` stores rows before the tests read. If `fill` fails, both connections are closed. */
export async function openTestStore(fill?: (store: TestStore) => Promise<void>): Promise<TestStore> {
  const { drop, ...testDatabase } = await createTestDatabase();
  const store = connect(testDatabase, drop);
  try {
    await migrate(store.db, createLog('silent', false));
    await fill?.(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Opens the store of this name, which all test files of a run share and only read. Its first user fills it. */
export async function shareTestStore(
  name: string,
  fill: (store: TestStore) => Promise<void>,
): Promise<TestStore> {
  const doNothing = (): Promise<void> => Promise.resolve();
  const testDatabase = await shareTestDatabase(name, async (empty) => {
    const store = connect(empty, doNothing);
    try {
      await migrate(store.db, createLog('silent', false));
      await fill(store);
    } finally {
      await store.close();
    }
  });
  return connect(testDatabase, doNothing);
}

/** `onClose` runs after both connections are closed. */
function connect(testDatabase: Omit<TestDatabase, 'drop'>, onClose: () => Promise<void>): TestStore {
  const { writerUrl, readerUrl, database } = testDatabase;
  const db = openDatabase({ url: writerUrl, requestTimeoutMs: STATEMENT_MAX_MS });
  const reader = openDatabase({ url: readerUrl, requestTimeoutMs: STATEMENT_MAX_MS });
  const close = async (): Promise<void> => {
    await reader.close();
    await db.close();
    await onClose();
  };
  return { writerUrl, readerUrl, database, db, runner: createQueryRunner(reader), close };
}
