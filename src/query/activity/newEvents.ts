/**
 * Reads the events of new canonical blocks: from the ingester's rows in memory, or else from the tables by
 * block, all kinds in parallel.
 */
import type { HeadBlock } from '../../domain/head/foldHead';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { lastOrdOfBlock } from '../../domain/ord';
import type { ActivityEvent } from './activity';
import { toActivityItem } from './activityItem';
import {
  eventsOfRows,
  listMintsAndBurns,
  listSwaps,
  listSyncs,
  type FreshRows,
  type StoredEvent,
} from './eventRows';
import type { Directory } from '../tokens/directory';
import type { HeadSnapshot } from '../head/headSnapshot';

export interface NewEventSources {
  readonly runner: QueryRunner;
  readonly directory: Directory;
  /** Rows of blocks in memory, by commit. */
  readonly fresh: ReadonlyMap<number, FreshRows>;
}

/** All events of the snapshot's newest blocks, which are above its last final block; ascending, at most
 * `limit`. */
export async function listNewEvents(
  { runner, directory, fresh }: NewEventSources,
  head: HeadSnapshot,
  blocks: readonly HeadBlock[],
  limit: number,
): Promise<ActivityEvent[]> {
  const rowsInMemory = blocks.flatMap(({ commit }) => fresh.get(commit) ?? []);
  const events =
    rowsInMemory.length === blocks.length
      ? rowsInMemory.flatMap(eventsOfRows)
      : await readRows(runner, blocks, limit);
  const sorted = events.sort((a, b) => a.row.ord - b.row.ord).slice(0, limit);
  const tokens = await directory.listTokens(sorted.flatMap(({ row }) => [row.token0, row.token1]));
  return sorted.map((storedEvent) => ({
    ord: storedEvent.row.ord,
    item: toActivityItem(storedEvent, tokens, head.finalNumber),
  }));
}

async function readRows(
  runner: QueryRunner,
  blocks: readonly HeadBlock[],
  limit: number,
): Promise<StoredEvent[]> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return [];
  const params = {
    commits: blocks.map(({ commit }) => commit),
    final_ord: lastOrdOfBlock(first.number - 1),
    first_ord: lastOrdOfBlock(first.number - 1) + 1,
    last_ord: lastOrdOfBlock(last.number),
    limit,
  };
  const eventLists = await Promise.all([
    listSwaps(runner, params),
    listMintsAndBurns(runner, params),
    listSyncs(runner, params),
  ]);
  return eventLists.flat();
}
