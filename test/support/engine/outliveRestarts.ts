/**
 * Repeats a call that failed because an engine of a cluster ended by itself. When a server breaks off a distributed
 * statement, for example because one shard refuses a row, it resets its connection to the other shard. ClickHouse as a
 * library does not catch the exception of that connection, so the process of the other shard ends, and its supervisor
 * starts it again. Tests of rows and answers do not test these restarts.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '../../../src/clickhouse/client/database';
import type { EmbeddedServer } from '../../../src/clickhouse/engine/server';
import { AppError } from '../../../src/errors';
import { until } from '../eventually';

/** Number of repeats of one cluster. More of them are a defect. */
const REPEATS_MAX = 5;
/** A broken connection is seen this much earlier than the end of the process, in ms, at most. */
const NOTICE_MS = 1_000;

/** Runs the work, and again if it throws a retryable error, or returns a lost value, while an engine restarts. */
export type Outlive = <T>(run: () => Promise<T>, isLost?: (value: T) => boolean) => Promise<T>;

export function createOutlive(servers: readonly EmbeddedServer[]): Outlive {
  let repeats = 0;
  const restarts = (): number => servers.reduce((sum, server) => sum + server.status().restarts, 0);
  const areUp = (): boolean => servers.every((server) => server.pid() > 0 && server.status().state === 'up');
  /** Whether an engine has ended since it counted `restartsBefore` restarts. Resolves when all engines are up again. */
  const hasRestarted = async (restartsBefore: number): Promise<boolean> => {
    if (areUp() && restarts() === restartsBefore) await delay(NOTICE_MS);
    if (servers.some((server) => ['failed', 'stopped'].includes(server.status().state))) return false;
    await until(areUp);
    return restarts() > restartsBefore;
  };
  const mayRepeat = async (restartsBefore: number): Promise<boolean> => {
    if (repeats === REPEATS_MAX || !(await hasRestarted(restartsBefore))) return false;
    repeats += 1;
    process.stderr.write(`an engine of the cluster ended by itself; repeat ${repeats} of ${REPEATS_MAX}\n`);
    return true;
  };
  return async (run, isLost = () => false) => {
    for (;;) {
      const restartsBefore = restarts();
      try {
        const value = await run();
        if (!isLost(value) || !(await mayRepeat(restartsBefore))) return value;
      } catch (error) {
        const isRetryable = error instanceof AppError && error.retryable;
        if (!isRetryable || !(await mayRepeat(restartsBefore))) throw error;
      }
    }
  };
}

/** A database whose statements outlive restarts of its engines. */
export function outliving(database: Database, outlive: Outlive): Database {
  const { cluster } = database;
  const nodes = cluster?.nodes.map((node) => ({ ...node, database: outliving(node.database, outlive) }));
  return {
    ...database,
    cluster: cluster === null ? null : { ...cluster, nodes: nodes ?? [] },
    rows: (...statement) => outlive(() => database.rows(...statement)),
    select: (...statement) => outlive(() => database.select(...statement)),
    selectBinary: (...statement) => outlive(() => database.selectBinary(...statement)),
    command: (...statement) => outlive(() => database.command(...statement)),
    insert: (...statement) => outlive(() => database.insert(...statement)),
  };
}
