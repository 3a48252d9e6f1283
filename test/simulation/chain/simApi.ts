/** Starts the whole API as the program does, over a simulated chain in a separate database. */
import { readFileSync } from 'node:fs';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { startApi, type ApiServer } from '../../../src/commands/api';
import { loadConfig } from '../../../src/config';
import { createLog } from '../../../src/log';
import { createMetrics } from '../../../src/metrics';
import { storeChain } from '../harness';
import { SimChain, type Wilderness } from './simChain';
import {
  CLUSTER_NAME,
  createClusterDatabase,
  type ClusterDatabase,
  type EmbeddedCluster,
} from '../../support/engine/embeddedCluster';
import { createTestDatabase } from '../../support/engine/engine';
import { SIM_DESCRIPTION } from './simDescription';

export interface SimApi {
  readonly url: string;
  /** Address of ClickHouse, for tests that read exported files back. */
  readonly writerUrl: string;
  readonly chain: SimChain;
  readonly db: Database;
  /** Lines of the program's log, from level debug on. */
  readonly log: readonly string[];
  stop(): Promise<void>;
}

interface SimExtras {
  /** Adds more transactions and additional kinds of logs to the simulated chain. */
  readonly wild?: Wilderness;
  /** Prepares the database, after the chain is stored and before the API starts. */
  prepare?(database: Database, chain: SimChain): Promise<void>;
}

/**
 * `env` holds the settings of the program. `cluster` places the database on the shards of this cluster
 * instead of one engine.
 */
export async function startSimApi(
  seed: number,
  blocks: number,
  env: Readonly<Record<string, string>> = {},
  cluster?: EmbeddedCluster,
  { wild, prepare }: SimExtras = {},
): Promise<SimApi> {
  const testDatabase = await (cluster === undefined ? openTestDatabase() : createClusterDatabase(cluster));
  const db = testDatabase.database;
  await migrate(db, createLog('silent', false));
  const chain = new SimChain(seed, wild ?? null);
  chain.mine(blocks);
  await storeChain(chain, db);
  await prepare?.(db, chain);
  const logLines: string[] = [];
  const log = createLog('debug', false, { write: (line: string) => void logLines.push(line) });
  const clusterEnv = cluster === undefined ? {} : { CLICKHOUSE_CLUSTER: CLUSTER_NAME };
  const unlimited = { RATE_LIMIT_PER_MINUTE: '0', SHED_LOOP_DELAY_MS: '0' };
  const config = loadConfig({ PORT: '0', ...unlimited, ...clusterEnv, ...env }, (path) =>
    readFileSync(path, 'utf8'),
  );
  const { anchors, wrappedNative } = SIM_DESCRIPTION;
  const api: ApiServer = await startApi({
    config: { ...config, chain: { ...config.chain, anchors, wrappedNative } },
    log,
    metrics: createMetrics(),
  });
  api.connect(testDatabase.readerUrl, null);
  for (;;) {
    const answer = await fetch(`${api.url}/readyz`);
    await answer.arrayBuffer();
    if (Number(answer.headers.get('x-indexed-block') ?? -1) === chain.head.number) break;
  }
  return {
    url: api.url,
    writerUrl: testDatabase.writerUrl,
    chain,
    db,
    log: logLines,
    async stop() {
      await api.close();
      await testDatabase.drop();
    },
  };
}

async function openTestDatabase(): Promise<ClusterDatabase> {
  const test = await createTestDatabase();
  const database = openDatabase({ url: test.writerUrl });
  const drop = async (): Promise<void> => {
    await database.close();
    await test.drop();
  };
  return { ...test, database, drop };
}
