/** Like interruptedMigrate.test.ts, but on a cluster: the local tables of two servers, then the distributed tables. */
import type { Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { createLog } from '../../../src/log';
import { askRows } from '../../support/engine/askRows';
import {
  createClusterDatabase,
  startEmbeddedCluster,
  type EmbeddedCluster,
} from '../../support/engine/embeddedCluster';
import { countStatements, killedAfter } from '../../support/engine/killedDatabase';
import { makeSmallSchema } from '../../support/engine/smallSchema';

const log = createLog('silent', false);
const small = makeSmallSchema();
let cluster: EmbeddedCluster;

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
});

afterAll(async () => {
  await cluster?.stop();
  small.remove();
});

async function withCluster<T>(use: (database: Database) => Promise<T>): Promise<T> {
  const one = await createClusterDatabase(cluster);
  try {
    return await use(one.database);
  } finally {
    await one.drop();
  }
}

/** Every table and view of each server as the engine prints it, and the migrations that each server has recorded. */
async function dump(database: Database): Promise<string[][]> {
  const servers: string[][] = [];
  for (const node of database.cluster?.nodes ?? []) {
    const tables = await askRows<{ text: string }>(
      node.database,
      `SELECT replaceAll(create_table_query, currentDatabase(), '') AS text
       FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
    );
    const recorded = await askRows<{ text: string }>(
      node.database,
      'SELECT DISTINCT toString(id) AS text FROM schema_migrations WHERE id < 10000 ORDER BY id',
    );
    servers.push([...tables, ...recorded].map(({ text }) => text));
  }
  expect(servers).toHaveLength(2);
  return servers;
}

/** Kills `migrate` with the schema of `root` after each of its statements in turn, each time on a new
 * database from `prepare`. */
async function killEach(root: string, prepare: (database: Database) => Promise<void>): Promise<void> {
  const [whole, statements] = await withCluster(async (database): Promise<[string[][], number]> => {
    await prepare(database);
    const count = await countStatements(database, (counted) => migrate(counted, log, root));
    return [await dump(database), count];
  });
  expect(statements).toBeGreaterThan(20);
  await forEachOf(statements, (killed) =>
    withCluster(async (database) => {
      await prepare(database);
      const dying = killedAfter(database, { left: killed });
      await expect(migrate(dying, log, root)).rejects.toThrow('killed');
      await migrate(database, log, root);
      expect({ killed, servers: await dump(database) }).toEqual({ killed, servers: whole });
      expect(await countStatements(database, (counted) => migrate(counted, log, root))).toBe(0);
    }),
  );
}

/** Number of databases that are created in parallel. */
const WORKERS = 4;

async function forEachOf(count: number, check: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await check(index);
  };
  const ended = await Promise.allSettled(Array.from({ length: WORKERS }, work));
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
}

test('a creation of a cluster schema killed after any statement is finished by the next start', async () => {
  await killEach(small.after, async () => undefined);
});

test('a migration of a cluster killed after any statement is continued by the next start', async () => {
  await killEach(small.after, async (database) => void (await migrate(database, log, small.before)));
});
