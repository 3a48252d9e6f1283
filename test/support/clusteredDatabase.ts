/** Stands for src/clickhouse/client/database.ts under jest.cluster.config.js: databases lie on the servers of clusterSetup.ts. */
import { openClusterDatabase, type ClusterServers } from '../../src/clickhouse/client/cluster';
import { localTable } from '../../src/clickhouse/schema/clusterSchema';
// Not the address that is mapped to this file.
import * as single from '../../src/clickhouse/client/./database';

export * from '../../src/clickhouse/client/./database';

/** Of a server of the cluster: its tables are those of all, and a writer knows the servers. */
export function openDatabase(options: single.DatabaseOptions): single.Database {
  const cluster = JSON.parse(process.env['CANDLEHOUSE_TEST_CLUSTER'] ?? '{}') as ClusterServers;
  const { host, username } = new URL(options.url);
  const server = cluster.servers.find(({ url }) => new URL(url).host === host);
  if (server === undefined) return single.openDatabase(options);
  if (new URL(server.url).username !== username)
    return single.openDatabase({ ...options, distributed: true });
  const database = openClusterDatabase(cluster, options);
  return { ...database, command: (...statement) => command(database, ...statement) };
}

/** Parts are merged, and changed by tests that do damage, where they lie. */
async function command(
  database: single.Database,
  ...[name, sql, params, token]: Parameters<single.Database['command']>
): Promise<void> {
  const [, verb = '', table = ''] = /^\s*(OPTIMIZE|ALTER) TABLE (\w+)/.exec(sql) ?? [];
  if (table === '') return database.command(name, sql, params, token);
  const local = sql.replace(`${verb} TABLE ${table}`, `${verb} TABLE ${localTable(table)}`);
  for (const node of database.cluster?.nodes ?? []) await node.database.command(name, local, params);
}
