/**
 * Finds the servers of a ClickHouse cluster and opens its database. Reads and writes go through the
 * Distributed tables of one server. Statements on local tables are sent to each server.
 */
import { z } from 'zod';

import { AppError, errorText } from '../../errors';
import { openDatabase, type Cluster, type Database, type DatabaseOptions } from './database';
import { selectNamed } from './namedQueries';

export interface ClusterServers {
  readonly name: string;
  /** Number of replicas of the shard that has the fewest. */
  readonly replicas: number;
  readonly servers: readonly ClusterServer[];
}

interface ClusterServer {
  /** `host:port` of the server's native protocol, as in the cluster's configuration. */
  readonly name: string;
  /** HTTP URL of the server. It has the user, password and database of the configured server. */
  readonly url: string;
}

// These rows are read as JSON, because migrate.ts checks the server's version later, and servers before 25.11 answer no
// other read (see byteReader.ts).
const nodeShape = z.object({
  shard: z.int(),
  replica: z.int(),
  host: z.string(),
  port: z.int(),
  internal: z.int(),
});
type NodeRow = z.infer<typeof nodeShape>;
const portShape = z.object({ shard_index: z.int(), port: z.int() });

/**
 * Returns the cluster's servers, as the server at `url` reports them. Throws `bad_config` with the known
 * clusters if that server does not know this cluster. Throws `unavailable` with the name of a server that
 * does not answer.
 */
export async function findCluster(url: string, cluster: string): Promise<ClusterServers> {
  const database = openDatabase({ url: atDatabase(url, 'default') });
  try {
    const nodes = await listNodes(database, cluster);
    const replicas = countReplicas(nodes);
    if (replicas > 1 && nodes.some(({ internal }) => internal === 0)) {
      const message = `CLICKHOUSE_CLUSTER: the cluster ${cluster} needs <internal_replication>true</internal_replication>, because Replicated tables copy their rows themselves`;
      throw new AppError('bad_config', message);
    }
    const portByIndex = await listPorts(database, cluster, new URL(url).protocol);
    const servers = nodes.map((node, index) => {
      const name = `${node.host}:${node.port}`;
      const httpPort = portByIndex.get(index + 1);
      if (httpPort === undefined)
        throw new AppError('unavailable', `the server ${name} of the cluster ${cluster} cannot be reached`);
      return { name, url: atServer(url, node.host, httpPort) };
    });
    for (const server of servers) await checkServer(server, cluster, replicas > 1);
    return { name: cluster, replicas, servers };
  } finally {
    await database.close();
  }
}

async function listNodes(database: Database, cluster: string): Promise<NodeRow[]> {
  const nodes = await selectNamed(database, 'engine/list_nodes', { cluster }, nodeShape);
  if (nodes.length > 0) return nodes;
  const clusters = await selectNamed(database, 'engine/list_clusters', {}, z.object({ name: z.string() }));
  const knownNames = clusters.map(({ name }) => name).join(', ') || 'none';
  throw new AppError(
    'bad_config',
    `CLICKHOUSE_CLUSTER: got "${cluster}"; allowed: ${knownNames}, the clusters of this server`,
  );
}

function countReplicas(nodes: readonly NodeRow[]): number {
  const countByShard = new Map<number, number>();
  for (const { shard } of nodes) countByShard.set(shard, (countByShard.get(shard) ?? 0) + 1);
  return Math.min(...countByShard.values());
}

/**
 * Returns HTTP ports by the server's position in the cluster's configuration, from 1. Unreachable servers are
 * missing.
 */
async function listPorts(
  database: Database,
  cluster: string,
  protocol: string,
): Promise<ReadonlyMap<number, number>> {
  const portName = protocol === 'https:' ? 'https_port' : 'http_port';
  const rows = await selectNamed(database, 'engine/list_ports', { cluster, kind: portName }, portShape);
  return new Map(rows.map((row) => [row.shard_index, row.port]));
}

/** Checks that the server accepts our user, and with replicas also that its macros are set. */
async function checkServer(
  { name, url }: ClusterServer,
  cluster: string,
  replicated: boolean,
): Promise<void> {
  const database = openDatabase({ url: atDatabase(url, 'default') });
  try {
    if (replicated) await selectNamed(database, 'engine/check_node', {}, z.unknown());
    else await selectNamed(database, 'engine/read_version', {}, z.unknown());
  } catch (cause) {
    const macroHint = /macro/i.test(errorText(cause))
      ? ' (its configuration must define the macros shard and replica)'
      : '';
    const message = `the server ${name} of the cluster ${cluster} cannot be used${macroHint}: ${errorText(cause)}`;
    throw new AppError('unavailable', message, { cause });
  } finally {
    await database.close();
  }
}

/** Opens the database of `url` on all servers of the cluster. */
export function openClusterDatabase(cluster: ClusterServers, options: DatabaseOptions): Database {
  const database = new URL(options.url).pathname.slice(1);
  const nodes = cluster.servers.map((server) => ({
    name: server.name,
    database: openDatabase({
      url: atDatabase(server.url, database),
      maxConnections: 1,
      ...(options.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: options.requestTimeoutMs }),
    }),
  }));
  const distributedDatabase = openDatabase({
    ...options,
    url: withQuorum(options.url, cluster.replicas),
    distributed: true,
  });
  const clusterFacts: Cluster = { name: cluster.name, replicated: cluster.replicas > 1, nodes };
  return {
    ...distributedDatabase,
    cluster: clusterFacts,
    close: async () => {
      await Promise.all(
        [distributedDatabase, ...nodes.map((node) => node.database)].map((opened) => opened.close()),
      );
    },
  };
}

/**
 * Returns the URL for writing. With it, an insert is acknowledged only when every replica has the rows, so a
 * read from any replica sees them.
 */
function withQuorum(url: string, replicas: number): string {
  if (replicas === 1) return url;
  const changedUrl = new URL(url);
  changedUrl.searchParams.set('ch_insert_quorum', String(replicas));
  return changedUrl.toString();
}

function atDatabase(url: string, name: string): string {
  const changedUrl = new URL(url);
  changedUrl.pathname = `/${name}`;
  return changedUrl.toString();
}

function atServer(url: string, host: string, port: number): string {
  const changedUrl = new URL(url);
  changedUrl.hostname = host.includes(':') ? `[${host}]` : host;
  changedUrl.port = String(port);
  return changedUrl.toString();
}
