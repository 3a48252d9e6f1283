/**
 * Replays missed events from the tables to a client that reconnects: from its position to the snapshot at
 * which it joined. Reads in pages, to limit the load on database and memory.
 */
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { ZERO_HASH } from '../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../domain/ord';
import { findEventFloor, listEventsBetween, type ActivityFilter } from '../query/activity/activity';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { PoolNameReader } from '../query/pairs/poolNames';
import { findBlockHash } from '../query/head/headState';
import { encodeEvents } from './chainChange';
import { findResumePoint } from './resumePoint';
import { gapMessage, positionId, type StreamMessage, type StreamPosition } from './streamMessage';

/** Largest number of events in one replay. Older events are replaced by one gap message. */
const REPLAY_EVENTS_MAX = 10_000;
const PAGE_EVENTS = 250;

export interface ReplayQuery {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly poolNames: PoolNameReader;
  /** The replay ends at this snapshot, and live events follow. */
  readonly head: HeadSnapshot;
  readonly filter: ActivityFilter;
}

export interface ReplayPlan {
  /** Messages that are sent first: a reorg, a gap, or both. */
  readonly opening: readonly StreamMessage[];
  /** The replay begins after this position (`ord`). */
  readonly afterOrd: number;
}

/** Computes where the replay begins for a client with this last id, and the messages that come before it. */
export async function planReplay(query: ReplayQuery, position: StreamPosition): Promise<ReplayPlan> {
  const { runner, head, filter } = query;
  const { afterOrd, reorg } = await findResumePoint(query, position);
  const openingMessages = reorg === null ? [] : [reorg];
  const range = { afterOrd, toOrd: lastOrdOfBlock(head.number) };
  if (range.afterOrd >= range.toOrd) return { opening: openingMessages, afterOrd };
  const floorOrd = await findEventFloor(runner, head, filter, range, REPLAY_EVENTS_MAX);
  if (floorOrd === null) return { opening: openingMessages, afterOrd };
  const [firstSkipped] = await listEventsBetween(runner, head, filter, afterOrd, floorOrd, 1);
  const hash = await findBlockHash(runner, query.chainId, head, blockOfOrd(floorOrd));
  const id = positionId(floorOrd, hash ?? ZERO_HASH);
  return {
    opening: [...openingMessages, gapMessage(firstSkipped?.ord ?? afterOrd + 1, floorOrd, id)],
    afterOrd: floorOrd,
  };
}

/** Pages of encoded events after the position `afterOrd` up to the snapshot, ascending. */
export async function* replayPages(query: ReplayQuery, afterOrd: number): AsyncGenerator<Buffer> {
  const { runner, head, filter } = query;
  const toOrd = lastOrdOfBlock(head.number);
  for (let lastOrd = afterOrd, sentEvents = 0; lastOrd < toOrd && sentEvents < REPLAY_EVENTS_MAX;) {
    const events = await listEventsBetween(runner, head, filter, lastOrd, toOrd, PAGE_EVENTS);
    const lastEvent = events.at(-1);
    if (lastEvent === undefined) return;
    const encoded = await encodeEvents(query, events);
    yield Buffer.concat(encoded.map((event) => event.message.bytes));
    if (events.length < PAGE_EVENTS) return;
    lastOrd = lastEvent.ord;
    sentEvents += events.length;
  }
}
