/** A database that its program stops using in the middle, as after a kill: the statements up to then have run. */
import type { Database } from '../../src/clickhouse/client/database';

export interface StatementCount {
  left: number;
}

/** Runs `count.left` statements, on whichever server of the cluster; rejects every later one with "killed". */
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

/** Statements that `run` makes when nothing stops it. */
export async function countStatements(
  database: Database,
  run: (database: Database) => Promise<unknown>,
): Promise<number> {
  const count = { left: Number.MAX_SAFE_INTEGER };
  await run(killedAfter(database, count));
  return Number.MAX_SAFE_INTEGER - count.left;
}
