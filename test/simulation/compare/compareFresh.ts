/** Compares events streamed from the ingester's own rows with the same events read back from the tables. */
import type { Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { StoredFlip } from '../../../src/ingest/store/store';
import type { FreshRows } from '../../../src/query/activity/eventRows';
import type { HeadBlock } from '../../../src/domain/head/foldHead';
import { readHead } from '../../../src/query/head/headState';
import { listNewEvents } from '../../../src/query/activity/newEvents';
import { Directory } from '../../../src/query/tokens/directory';
import { SIM_CHAIN_ID } from '../chain/simChain';
import { askRows } from '../../support/engine/askRows';

const EVENTS_MAX = 1_000_000;

/**
 * Compares the blocks of each head change whose rows are still in the head tables, on any branch. `compared`
 * is the number of events.
 */
export async function compareFresh(
  database: Database,
  flips: readonly StoredFlip[],
): Promise<{ wrong: string[]; compared: number }> {
  const runner = createQueryRunner(database);
  const head = await readHead(runner, SIM_CHAIN_ID);
  const commitRows = await askRows<{ commit: string }>(database, 'SELECT DISTINCT commit FROM blocks_head');
  const keptCommits = new Set(commitRows.map(({ commit }) => Number(commit)));
  const blocks: HeadBlock[] = [];
  const freshRows = new Map<number, FreshRows>();
  for (const { rows, commit } of flips.flatMap((flip) => flip.fresh)) {
    if (!keptCommits.has(commit)) continue;
    blocks.push({ ...rows.ref, commit });
    freshRows.set(commit, rows);
  }
  if (head === null || blocks.length === 0) return { wrong: [], compared: 0 };
  blocks.sort((a, b) => a.number - b.number);
  const directory = new Directory(runner);
  const linesOf = async (fresh: ReadonlyMap<number, FreshRows>): Promise<string[]> => {
    const events = await listNewEvents({ runner, directory, fresh }, head, blocks, EVENTS_MAX);
    // Sorts the events as text, because events of different branches may have the same position (`ord`).
    return events.map((event) => JSON.stringify(event)).sort();
  };
  const [reportedLines, readLines] = [await linesOf(freshRows), await linesOf(new Map())];
  const firstDifference = reportedLines.findIndex((line, index) => line !== readLines[index]);
  const wrong =
    firstDifference < 0 && reportedLines.length === readLines.length
      ? []
      : [
          `event from the writer’s rows: ${reportedLines[firstDifference]}, from the tables: ${readLines[firstDifference]}`,
        ];
  return { wrong, compared: reportedLines.length };
}
