/**
 * Replaces src/clickhouse/client/database.ts under jest.cluster.config.js, so that databases use the cluster of
 * clusterSetup.ts.
 */
import { openClusterDatabase, type ClusterServers } from '../../../src/clickhouse/client/cluster';
import { localTable } from '../../../src/clickhouse/schema/clusterSchema';
// The extra `./` avoids jest's mapping of this module to the present file.
import * as single from '../../../src/clickhouse/client/database';

export * from '../../../src/clickhouse/client/database';

/** Opens a server of the cluster. Its tables are the Distributed tables, and a writer knows all servers. */
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

/** OPTIMIZE and ALTER run on the local table of every node, because a distributed table has no parts. */
async function command(
  database: single.Database,
  ...[name, sql, params, token]: Parameters<single.Database['command']>
): Promise<void> {
  const [, verb = '', table = ''] = /^\s*(OPTIMIZE|ALTER) TABLE (\w+)/.exec(sql) ?? [];
  if (table === '') return database.command(name, sql, params, token);
  const local = sql.replace(`${verb} TABLE ${table}`, `${verb} TABLE ${localTable(table)}`);
  for (const node of database.cluster?.nodes ?? []) await node.database.command(name, local, params);
}
