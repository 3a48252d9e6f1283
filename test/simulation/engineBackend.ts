/** Runs a seed on the real engine. A run of the process (life) may end before a statement, or after the
 * statement but before its acknowledgement. */
import { openDatabase, type ClusterNode, type Database } from '../../src/clickhouse/client/database';
import { migrate } from '../../src/clickhouse/schema/migrate';
import { createLog } from '../../src/log';
import { askRows } from '../support/engine/askRows';
import { createClusterDatabase, type EmbeddedCluster } from '../support/engine/embeddedCluster';
import { createTestDatabase } from '../support/engine/engine';
import { crashError, glitchError, type FaultPlan } from './faultPlan';
import type { Backend } from './runSeed';
import type { VirtualClock } from './virtualClock';

export interface EngineBackend extends Backend {
  readonly readerUrl: string;
  clear(): Promise<void>;
  drop(): Promise<void>;
}

const log = createLog('silent', false);

/** The database is on one engine, or on the shards of `cluster`. */
export async function createEngineBackend(cluster?: EmbeddedCluster): Promise<EngineBackend> {
  const { steady, readerUrl, drop } = await openTestDatabases(cluster);
  await migrate(steady, log);
  const databases = steady.cluster === null ? [steady] : steady.cluster.nodes.map(({ database }) => database);
  return {
    steady,
    readerUrl,
    isQuiet: () => true,
    connect: (faults, trace, clock) => makeMortal(steady, faults, trace, clock),
    async clear() {
      for (const database of databases) await clear(database);
    },
    drop,
  };
}

async function openTestDatabases(cluster: EmbeddedCluster | undefined) {
  if (cluster !== undefined) {
    const test = await createClusterDatabase(cluster);
    return { steady: test.database, readerUrl: test.readerUrl, drop: test.drop };
  }
  const test = await createTestDatabase();
  const steady = openDatabase({ url: test.writerUrl });
  const drop = async (): Promise<void> => {
    await steady.close();
    await test.drop();
  };
  return { steady, readerUrl: test.readerUrl, drop };
}

async function clear(server: Database): Promise<void> {
  const tables = await askRows<{ name: string }>(
    server,
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
       AND name != 'schema_migrations' ORDER BY name`,
  );
  for (const { name } of tables) await server.command('clear', `TRUNCATE TABLE ${name} SYNC`);
}

/** Virtual time stops while the engine works, so that the engine's speed has no effect. */
function makeMortal(
  steady: Database,
  faults: FaultPlan,
  trace: (event: string) => void,
  clock: VirtualClock,
): Database {
  const write = async (name: string, run: () => Promise<void>): Promise<void> => {
    if (faults.isLast()) throw crashError();
    if (faults.glitches()) throw glitchError();
    trace(name);
    await clock.hold(run());
    if (faults.isLast()) throw crashError();
    if (faults.glitches()) throw glitchError();
  };
  const read = <T>(run: () => Promise<T>): Promise<T> =>
    faults.death === null ? clock.hold(run()) : Promise.reject(crashError());
  const { cluster } = steady;
  const mortalNode = ({ name, database }: ClusterNode): ClusterNode => ({
    name,
    database: makeMortal(database, faults, trace, clock),
  });
  return {
    cluster: cluster === null ? null : { ...cluster, nodes: cluster.nodes.map(mortalNode) },
    rows: (...call) => read(() => steady.rows(...call)),
    select: (name, sql, params) => read(() => steady.select(name, sql, params)),
    selectBinary: (name, sql, params) => read(() => steady.selectBinary(name, sql, params)),
    command: (name, sql, params, token) => write(name, () => steady.command(name, sql, params, token)),
    insert: (table, columns, body, token) =>
      write(`insert ${table}`, () => steady.insert(table, columns, body, token)),
    ping: () => steady.ping(),
    close: () => Promise.resolve(),
  };
}
