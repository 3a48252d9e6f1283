/** A process killed while it creates or migrates the schema leaves a database that the next start completes. */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { readMigrations } from '../../../src/clickhouse/schema/migrations';
import { createLog } from '../../../src/log';
import { askRows } from '../../support/engine/askRows';
import { createTestDatabase } from '../../support/engine/engine';
import { countStatements, killedAfter } from '../../support/engine/killedDatabase';
import { makeSmallSchema } from '../../support/engine/smallSchema';

const log = createLog('silent', false);
/** Number of databases that are created in parallel. */
const WORKERS = 4;

const small = makeSmallSchema();
afterAll(() => small.remove());

async function withDatabase<T>(use: (database: Database) => Promise<T>): Promise<T> {
  const test = await createTestDatabase();
  const database = openDatabase({ url: `${test.writerUrl}?ch_fsync_metadata=0` });
  try {
    return await use(database);
  } finally {
    await database.close();
    await test.drop();
  }
}

/** Every table and view as the engine prints it, without the database's name. */
async function dump(database: Database): Promise<string[]> {
  const tables = await askRows<{ sql: string }>(
    database,
    `SELECT replaceAll(create_table_query, concat(currentDatabase(), '.'), '') AS sql
     FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
  );
  return tables.map(({ sql }) => sql);
}

async function listRecorded(database: Database): Promise<number[]> {
  const rows = await askRows<{ id: number }>(
    database,
    'SELECT DISTINCT id FROM schema_migrations WHERE id < 10000 ORDER BY id',
  );
  return rows.map(({ id }) => id);
}

/** Runs `check` for 0 … count - 1, several at a time. Resolves to one line for each check that threw. */
async function listFailures(count: number, check: (index: number) => Promise<void>): Promise<string[]> {
  const failures: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++)
      await check(index).catch((error: unknown) => failures.push(`after ${index}: ${String(error)}`));
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return failures;
}

/** Kills `migrate` after `statements` statements, then runs it to the end. */
async function killThenMigrate(database: Database, statements: number, root?: string): Promise<string[]> {
  await expect(migrate(killedAfter(database, { left: statements }), log, root)).rejects.toThrow('killed');
  return migrate(database, log, root);
}

/** Kills the creation of a schema after the statements that `pick` chooses, each time in a new database. */
async function killCreation(root: string | undefined, pick: (statements: number) => number[]): Promise<void> {
  const [whole, statements] = await withDatabase(async (database): Promise<[string[], number]> => {
    const count = await countStatements(database, (counted) => migrate(counted, log, root));
    return [await dump(database), count];
  });
  const kills = pick(statements);
  const failures = await listFailures(kills.length, (index) =>
    withDatabase(async (database) => {
      expect(await killThenMigrate(database, kills[index]!, root)).toEqual([]);
      expect(await dump(database)).toEqual(whole);
      expect(await listRecorded(database)).toEqual([0, ...readMigrations(root).map(({ id }) => id)]);
      expect(await countStatements(database, (counted) => migrate(counted, log, root))).toBe(0);
    }),
  );
  expect(failures).toEqual([]);
}

test('a creation of a small schema killed after any statement is finished by the next start', () =>
  killCreation(small.after, (statements) => Array.from({ length: statements }, (_, killed) => killed)));

test('a creation of the whole schema killed at its begin, in its middle and before its end is finished by the next start', () =>
  killCreation(undefined, (statements) => {
    expect(statements).toBeGreaterThan(60);
    return [1, Math.floor(statements / 2), statements - 1];
  }));

/** The row with which a creation begins. It stays when the creation is finished. */
const BEGUN = [2 ** 32 - 1, 'being created 0123456789abcdef'] as const;

test('a database with other recorded migrations is refused as older than the first release, and left unchanged', async () => {
  await withDatabase(async (database) => {
    await migrate(database, log);
    const whole = await dump(database);
    for (const recorded of [
      [],
      [[0, 'created']],
      [BEGUN, [0, 'created 1']],
      [[14, '0014_v4_pools.sql']],
    ] as const) {
      await database.command('forget', 'TRUNCATE TABLE schema_migrations');
      for (const [id, name] of recorded)
        await database.command('record', `INSERT INTO schema_migrations (id, name) SELECT ${id}, '${name}'`);
      await expect(migrate(database, log)).rejects.toThrow(
        'created this database, and it cannot be upgraded',
      );
      expect(await dump(database)).toEqual(whole);
    }
  });
});

test('an unfinished creation by another build is finished with the schema of this build', async () => {
  const whole = await withDatabase(async (database) => {
    await migrate(database, log, small.after);
    return dump(database);
  });
  const statements = await withDatabase((database) =>
    countStatements(database, (counted) => migrate(counted, log, small.before)),
  );
  for (let killed = 2; killed < statements; killed += 1) {
    await withDatabase(async (database) => {
      await expect(migrate(killedAfter(database, { left: killed }), log, small.before)).rejects.toThrow(
        'killed',
      );
      expect(await killThenMigrate(database, 3, small.after)).toEqual([]);
      expect(await dump(database)).toEqual(whole);
      expect(await listRecorded(database)).toEqual([0, 1, 2]);
    });
  }
});

/** Fills a database of the first version with rows of that version. */
async function fillBefore(database: Database): Promise<void> {
  await migrate(database, log, small.before);
  await database.command(
    'rows',
    "INSERT INTO swaps (ord, pair, price) SELECT number, toFixedString('a', 20), number FROM numbers(5000)",
  );
}

const readRows = (database: Database): Promise<unknown[]> =>
  database.select(
    'read rows',
    `SELECT count() AS swaps, sum(price) AS prices, sum(fee) AS swap_fees,
       (SELECT (max(high), sum(fees)) FROM bars) AS bars FROM swaps`,
  );

test('a migration killed after any statement is continued by the next start', async () => {
  const fresh = await withDatabase(async (database) => {
    await migrate(database, log, small.after);
    return dump(database);
  });
  const statements = await withDatabase(async (database) => {
    await fillBefore(database);
    return countStatements(database, (counted) => migrate(counted, log, small.after));
  });
  expect(statements).toBe(11);
  const failures = await listFailures(statements, (killed) =>
    withDatabase(async (database) => {
      await fillBefore(database);
      await killThenMigrate(database, killed, small.after);
      expect(await dump(database)).toEqual(fresh);
      expect(await listRecorded(database)).toEqual([0, 1, 2]);
      expect(await readRows(database)).toEqual([
        { swaps: '5000', prices: 12497500, swap_fees: 0, bars: [4999, 0] },
      ]);
      await database.command(
        'row',
        "INSERT INTO swaps (ord, pair, price, fee) SELECT 1, toFixedString('b', 20), 1, 2",
      );
      expect(await readRows(database)).toMatchObject([{ swap_fees: 2, bars: [4999, 2] }]);
      expect(await countStatements(database, (counted) => migrate(counted, log, small.after))).toBe(0);
    }),
  );
  expect(failures).toEqual([]);
});
