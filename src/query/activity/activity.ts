/**
 * Reads DEX events (swaps, mints, burns, syncs) as of a snapshot: pages of /activity and ranges for the
 * stream. A first query finds the positions (`ord`) of matching events. Then the rows are read by position.
 */
import { LRUCache } from 'lru-cache';

import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u64 } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { eventsTable } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { EVENT_KINDS, isDecoded, type ActivityEntry, type EventKind } from '../../wire/activity';
import { toActivityItem } from './activityItem';
import { listMintsAndBurns, listSwaps, listSyncs, type StoredEvent } from './eventRows';
import { Directory } from '../tokens/directory';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** Largest number of positions (`ord`) per query. */
const ORDS_PER_QUERY = 1_000;
/** A page with more swaps than this is read by two queries in parallel, half of the swaps each. */
const SCATTERED_MIN = 10;
/** Largest number of filters for which the number of final events stays in memory. */
const COUNTS_KEPT = 1_000;

/** Null accepts every pair, token or maker. */
export interface ActivityFilter {
  readonly kinds: readonly EventKind[];
  readonly pair: Hex | null;
  readonly token: Hex | null;
  readonly maker: Hex | null;
}

export const ALL_ACTIVITY: ActivityFilter = { kinds: EVENT_KINDS, pair: null, token: null, maker: null };

export interface ActivityEvent {
  readonly ord: number;
  readonly item: ActivityEntry;
}

const positionRow = rowType(pick(eventsTable.types, ['ord', 'kind']));
type EventPosition = RowOf<typeof positionRow>;
const countRow = rowType({ events: u64 });

/**
 * Whether an item passes a filter, by the same rule as the SQL. An item whose row cannot be read is judged by
 * its kind alone.
 */
export function matchesActivity(filter: ActivityFilter, item: ActivityEntry): boolean {
  if (!isDecoded(item)) return filter.kinds.includes(item.stored_as);
  return (
    filter.kinds.includes(item.event_type) &&
    (filter.pair === null || filter.pair === item.pair_address) &&
    (filter.token === null || filter.token === item.token0.address || filter.token === item.token1.address) &&
    (filter.maker === null || filter.maker === item.maker)
  );
}

/** Events with afterOrd < ord ≤ toOrd of the snapshot's chain, ascending, at most `limit`. */
export async function listEventsBetween(
  runner: QueryRunner,
  head: HeadSnapshot,
  filter: ActivityFilter,
  afterOrd: number,
  toOrd: number,
  limit: number,
): Promise<ActivityEvent[]> {
  const positions = await findEvents(runner, head, filter, {
    afterOrd,
    toOrd,
    newestFirst: false,
    skip: 0,
    limit,
  });
  return readEvents(runner, head, filter, positions);
}

/** Events with ord < beforeOrd (null: all), newest first, without the first `skip`; at most `limit`. */
export async function listNewestEvents(
  runner: QueryRunner,
  head: HeadSnapshot,
  filter: ActivityFilter,
  page: { readonly beforeOrd: number | null; readonly skip: number; readonly limit: number },
  directory?: Directory,
): Promise<ActivityEvent[]> {
  const toOrd = page.beforeOrd === null ? lastOrdOfBlock(head.number) : page.beforeOrd - 1;
  const { skip, limit } = page;
  const positions = await findEvents(runner, head, filter, {
    afterOrd: 0,
    toOrd,
    newestFirst: true,
    skip,
    limit,
  });
  return readEvents(runner, head, filter, positions, directory);
}

/**
 * The position (`ord`) after which a replay of at most `keepEvents` events begins. It is the newest event with
 * afterOrd < ord ≤ toOrd that has `keepEvents` newer events. Null if there are at most `keepEvents` events.
 */
export async function findEventFloor(
  runner: QueryRunner,
  head: HeadSnapshot,
  filter: ActivityFilter,
  range: OrdRange,
  keepEvents: number,
): Promise<number | null> {
  const [firstAbove] = await findEvents(runner, head, filter, {
    ...range,
    newestFirst: true,
    skip: keepEvents,
    limit: 1,
  });
  return firstAbove?.ord ?? null;
}

/** Counts matching events. No reorg removes final events, so each final range is counted once. */
export class ActivityCounter {
  private readonly countByFilter = new LRUCache<string, { readonly ord: number; readonly events: number }>({
    max: COUNTS_KEPT,
  });

  constructor(private readonly runner: QueryRunner) {}

  /** All matching events of the snapshot's chain. */
  async count(head: HeadSnapshot, filter: ActivityFilter): Promise<number> {
    const finalOrd = lastOrdOfBlock(head.finalTo);
    const key = JSON.stringify([filter.kinds, filter.pair, filter.token, filter.maker]);
    const lastCount = this.countByFilter.get(key);
    const base = lastCount !== undefined && lastCount.ord <= finalOrd ? lastCount : { ord: 0, events: 0 };
    const [newFinal, aboveFinal] = await Promise.all([
      base.ord === finalOrd ? 0 : this.countFinal(head, filter, base.ord, finalOrd),
      head.blocks.length === 0 ? 0 : this.countRange(head, filter, finalOrd, lastOrdOfBlock(head.number)),
    ]);
    this.countByFilter.set(key, { ord: finalOrd, events: base.events + newFinal });
    return base.events + newFinal + aboveFinal;
  }

  /** The first count of all events or of one pair comes from sums that ClickHouse keeps. */
  private async countFinal(
    head: HeadSnapshot,
    filter: ActivityFilter,
    afterOrd: number,
    finalOrd: number,
  ): Promise<number> {
    if (afterOrd > 0 || filter.token !== null || filter.maker !== null)
      return this.countRange(head, filter, afterOrd, finalOrd);
    const params = { final_ord: finalOrd, kinds: filter.kinds, pair: filter.pair?.slice(2) ?? '' };
    const [row] = await this.runner.run('activity/count_final_events', params, countRow);
    return row?.events ?? 0;
  }

  private async countRange(
    head: HeadSnapshot,
    filter: ActivityFilter,
    afterOrd: number,
    toOrd: number,
  ): Promise<number> {
    const params = lookUpParams(head, filter, { afterOrd, toOrd });
    const [row] = await this.runner.run('activity/count_events', params, countRow);
    return row?.events ?? 0;
  }
}

/** Events with afterOrd < ord ≤ toOrd. */
interface OrdRange {
  readonly afterOrd: number;
  readonly toOrd: number;
}

interface EventsPage extends OrdRange {
  readonly newestFirst: boolean;
  readonly skip: number;
  readonly limit: number;
}

/** The positions (`ord`) of matching events in the requested order, without the first `skip`; at most
 * `limit`. */
async function findEvents(
  runner: QueryRunner,
  head: HeadSnapshot,
  filter: ActivityFilter,
  { newestFirst, skip, limit, ...range }: EventsPage,
): Promise<EventPosition[]> {
  const params = lookUpParams(head, filter, range);
  const positions = await runner.run(
    'activity/list_events',
    {
      ...params,
      backward: newestFirst,
      forward: !newestFirst,
      merged: skip > 0 || params['other_key'] !== '',
      skip,
      limit,
    },
    positionRow,
  );
  const sign = newestFirst ? -1 : 1;
  return positions.toSorted((a, b) => sign * (a.ord - b.ord)).slice(0, limit);
}

type EventKey = 'ord' | 'pair' | 'token0' | 'token1';

/**
 * The sort keys by which the engine finds the filter's events. A token has two keys, for its events as token0 and as
 * token1. A maker has no key: the engine reads all events in order, and an index lets it skip rows.
 */
function keysOf({ pair, token, maker }: ActivityFilter): readonly [key: EventKey, otherKey: EventKey | ''] {
  if (maker !== null) return ['ord', ''];
  if (pair !== null) return ['pair', ''];
  return token === null ? ['ord', ''] : ['token0', 'token1'];
}

function lookUpParams(
  head: HeadSnapshot,
  filter: ActivityFilter,
  { afterOrd, toOrd }: OrdRange,
): QueryParams {
  const [key, otherKey] = keysOf(filter);
  return {
    ...snapshotParams(head),
    kinds: filter.kinds,
    some_kinds: EVENT_KINDS.some((kind) => !filter.kinds.includes(kind)),
    key,
    other_key: otherKey,
    either_side: filter.token !== null && otherKey === '',
    pair: filter.pair?.slice(2) ?? '',
    token: filter.token?.slice(2) ?? '',
    maker: filter.maker?.slice(2) ?? '',
    after_ord: Math.max(0, afterOrd),
    to_ord: Math.max(0, toOrd),
  };
}

/** The items of events, in the order given. */
async function readEvents(
  runner: QueryRunner,
  head: HeadSnapshot,
  filter: ActivityFilter,
  positions: readonly EventPosition[],
  directory = new Directory(runner),
): Promise<ActivityEvent[]> {
  const byOrd = new Map<number, StoredEvent>();
  for (let from = 0; from < positions.length; from += ORDS_PER_QUERY) {
    const rows = await readRows(runner, head, filter, positions.slice(from, from + ORDS_PER_QUERY));
    for (const storedEvent of rows) byOrd.set(storedEvent.row.ord, storedEvent);
  }
  const events = positions.flatMap(({ ord }) => byOrd.get(ord) ?? []);
  const tokenAddresses = events.flatMap(({ row }) => [row.token0, row.token1]);
  const tokens = await directory.listTokens(tokenAddresses);
  return events.map((storedEvent) => ({
    ord: storedEvent.row.ord,
    item: toActivityItem(storedEvent, tokens, head.finalNumber),
  }));
}

async function readRows(
  runner: QueryRunner,
  head: HeadSnapshot,
  { pair, maker }: ActivityFilter,
  positions: readonly EventPosition[],
): Promise<StoredEvent[]> {
  const ordsOf = (kinds: readonly EventKind[]): number[] =>
    positions.filter(({ kind }) => kinds.includes(kind)).map(({ ord }) => ord);
  const readEvents = async (
    list: typeof listSwaps,
    ords: readonly number[],
    inRange = false,
  ): Promise<StoredEvent[]> => {
    if (ords.length === 0) return [];
    const lastOrd = Math.max(...ords);
    return list(runner, {
      ...snapshotParams(head),
      // Without head events, the head table is not read.
      ...(lastOrd <= lastOrdOfBlock(head.finalTo) ? { commits: [] } : {}),
      first_ord: Math.min(...ords),
      last_ord: lastOrd,
      ords: inRange ? [] : ords,
      pair: pair?.slice(2) ?? '',
      limit: ORDS_PER_QUERY,
    });
  };
  // Without a maker, all swaps of the pair from the oldest to the newest one of the page are on the page.
  const hasAll = pair !== null && maker === null;
  const swaps = ordsOf(['swap']);
  // ClickHouse reads scattered rows with many columns in one thread, so a long list of swaps is read by two queries
  // in parallel. In the projection of_pair, the swaps of one pair follow each other.
  const isScattered = pair === null && swaps.length > SCATTERED_MIN;
  const middle = isScattered ? Math.ceil(swaps.length / 2) : swaps.length;
  const eventLists = await Promise.all([
    readEvents(listSwaps, swaps.slice(0, middle), hasAll),
    readEvents(listSwaps, swaps.slice(middle), hasAll),
    readEvents(listSyncs, ordsOf(['sync']), hasAll),
    readEvents(listMintsAndBurns, ordsOf(['mint', 'burn'])),
  ]);
  return eventLists.flat();
}
