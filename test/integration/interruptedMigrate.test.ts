/** A process that is killed while it creates the schema leaves a database that the next one finishes. */
import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { createLog } from '../../src/log';
import { createTestDatabase, type TestDatabase } from '../support/engine';

const log = createLog('silent', false);

/** Dies at its n-th statement. */
function dyingAt(database: Database, statement: number): Database {
  let left = statement;
  return {
    ...database,
    command: (name, sql, params, token) => {
      left -= 1;
      if (left < 0) return Promise.reject(new Error('killed'));
      return database.command(name, sql, params, token);
    },
  };
}

async function listTables(database: Database): Promise<string[]> {
  const rows = await database.select<{ name: string }>(
    'tables',
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  return rows.map(({ name }) => name);
}

test.each([1, 2, 3, 9, 10, 11, 20, 30])(
  'killed at statement %i of its creation, a schema is finished by the next start',
  async (statement) => {
    const tests: TestDatabase[] = [await createTestDatabase(), await createTestDatabase()];
    const [whole, broken] = tests.map(({ writerUrl }) => openDatabase({ url: writerUrl }));
    try {
      await migrate(whole!, log);
      await expect(migrate(dyingAt(broken!, statement), log)).rejects.toThrow('killed');
      expect(await migrate(broken!, log)).toEqual([]);
      expect(await listTables(broken!)).toEqual(await listTables(whole!));
      expect(await migrate(broken!, log)).toEqual([]);
    } finally {
      await whole?.close();
      await broken?.close();
      for (const test of tests) await test.drop();
    }
  },
);
