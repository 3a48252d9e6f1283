/**
 * Inserts that an earlier writer sent, and that ClickHouse still runs. ClickHouse goes on with an insert if the program
 * that sent it is killed, and fills the views after the table. Until it ends, row counts of tables and views differ.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '../../clickhouse/client/database';
import { selectAll } from '../../clickhouse/client/namedQueries';
import { text } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { AppError } from '../../errors';

const POLL_MS = 50;
/** Longer than any insert of a writer. */
const WAIT_MAX_MS = 120_000;
/** Safety limit. A writer sends one insert for each of its tables at the same time, and workers one each. */
const INSERTS_MAX = 10_000;

const insertRow = rowType({ id: text });

/**
 * Waits until each insert that now runs in the database has ended. Later inserts are not waited for: the claim of the
 * caller refuses those of earlier writers. Throws `unavailable` if an insert runs longer than `limitMs`.
 */
export async function untilInsertsEnd(database: Database, limitMs = WAIT_MAX_MS): Promise<void> {
  const nodes = database.cluster?.nodes.map((node) => node.database) ?? [database];
  await Promise.all(nodes.map((node) => untilEnded(node, limitMs)));
}

async function untilEnded(database: Database, limitMs: number): Promise<void> {
  const list = async (ids: readonly string[]): Promise<string[]> => {
    const query = 'ingest/store/list_running_inserts';
    return (await selectAll(database, query, { ids }, insertRow, INSERTS_MAX)).map(({ id }) => id);
  };
  let running = await list([]);
  for (let waitedMs = 0; running.length > 0; waitedMs += POLL_MS) {
    if (waitedMs >= limitMs)
      throw new AppError(
        'unavailable',
        `ClickHouse still runs inserts that earlier writers began, after ${limitMs / 1_000} s; one has the query id ` +
          `${running[0] ?? ''}; the writer waits for their end`,
      );
    await delay(POLL_MS);
    running = await list(running);
  }
}
