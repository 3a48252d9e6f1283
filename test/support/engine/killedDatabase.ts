/** A database connection that fails midway, as after a kill. The statements before the kill have run. */
import type { Database } from '../../../src/clickhouse/client/database';

interface StatementCount {
  left: number;
}

/** Runs `count.left` statements on any server of the cluster. Rejects each later statement with "killed". */
export function killedAfter(database: Database, count: StatementCount): Database {
  const { cluster } = database;
  return {
    ...database,
    cluster:
      cluster === null
        ? null
        : {
            ...cluster,
            nodes: cluster.nodes.map((node) => ({ ...node, database: killedAfter(node.database, count) })),
          },
    command: (name, sql, params, token) => {
      if (count.left <= 0) return Promise.reject(new Error('killed'));
      count.left -= 1;
      return database.command(name, sql, params, token);
    },
  };
}

/** Counts the statements of `run` when no kill interrupts them. */
export async function countStatements(
  database: Database,
  run: (database: Database) => Promise<unknown>,
): Promise<number> {
  const count = { left: Number.MAX_SAFE_INTEGER };
  await run(killedAfter(database, count));
  return Number.MAX_SAFE_INTEGER - count.left;
}
