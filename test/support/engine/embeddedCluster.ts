/** Starts embedded engines (two by default) as the shards of one cluster, in temporary folders. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findCluster, openClusterDatabase } from '../../../src/clickhouse/client/cluster';
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { findFreePorts } from '../server/freePorts';
import { createOutlive, outliving, type Outlive } from './outliveRestarts';
import { startEmbeddedServer, type EmbeddedServer } from '../../../src/clickhouse/engine/server';
import { createLog } from '../../../src/log';

export const CLUSTER_NAME = 'two_shards';

export interface EmbeddedCluster {
  /** The nodes, in the order of their shards. */
  readonly servers: readonly EmbeddedServer[];
  /** Addresses of the first node. */
  readonly writerUrl: string;
  readonly readerUrl: string;
  readonly outlive: Outlive;
  stop(): Promise<void>;
}

/** Another process may take a port before the engine starts on the port. */
const START_ATTEMPTS_MAX = 5;

/** Starts the engines with a configuration that names all of them. */
export async function startEmbeddedCluster(shards = 2): Promise<EmbeddedCluster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnFreePorts(shards);
    } catch (error) {
      const isPortTaken = error instanceof Error && error.message.includes('Address already in use');
      if (!isPortTaken || attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}

async function startOnFreePorts(shards: number): Promise<EmbeddedCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-cluster-'));
  const secret = (): string => randomBytes(24).toString('hex');
  const tcpPorts = await findFreePorts(shards);
  const shared = {
    name: CLUSTER_NAME,
    secret: secret(),
    passwords: { writer: secret(), reader: secret() },
    tcpPorts,
  };
  const servers: EmbeddedServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const tcpPort of tcpPorts) {
      const dataDir = join(folder, `shard${servers.length + 1}`);
      const cluster = { ...shared, tcpPort };
      servers.push(await startEmbeddedServer({ dataDir, log: createLog('silent', false), cluster }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const { writerUrl, readerUrl } = servers[0]!;
  return { servers, writerUrl, readerUrl, outlive: createOutlive(servers), stop };
}

export interface ClusterDatabase {
  /** Repeats a statement during which an engine ended by itself. */
  readonly database: Database;
  /** Address of the first server, with the distributed tables. */
  readonly writerUrl: string;
  readonly readerUrl: string;
  drop(): Promise<void>;
}

/** Creates an empty database with a unique name on every server. */
export async function createClusterDatabase(cluster: EmbeddedCluster): Promise<ClusterDatabase> {
  const name = `candlehouse_test_${randomBytes(6).toString('hex')}`;
  const onEach = async (sql: string): Promise<void> => {
    for (const server of cluster.servers) {
      const nodeDatabase = openDatabase({ url: server.writerUrl });
      await nodeDatabase.command('each server', sql);
      await nodeDatabase.close();
    }
  };
  await onEach(`CREATE DATABASE ${name}`);
  const urlOfDatabase = (url: string): string => url.replace(/\/\w+$/, `/${name}`);
  const servers = await findCluster(cluster.writerUrl, CLUSTER_NAME);
  const database = openClusterDatabase(servers, { url: urlOfDatabase(cluster.writerUrl) });
  return {
    database: outliving(database, cluster.outlive),
    writerUrl: urlOfDatabase(cluster.writerUrl),
    readerUrl: urlOfDatabase(cluster.readerUrl),
    async drop() {
      await database.close();
      await onEach(`DROP DATABASE IF EXISTS ${name} SYNC`);
    },
  };
}
