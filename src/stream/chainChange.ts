/**
 * Computes the difference between two head snapshots: the fork, the removed events, and the new events. The
 * same snapshots always give the same result, so a failed publication can be repeated. Writes nothing.
 */
import { diffHeads } from '../domain/head/diffHeads';
import type { HeadBlock } from '../domain/head/foldHead';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import type { Hex } from '../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../domain/ord';
import { AppError } from '../errors';
import { ALL_ACTIVITY, listEventsBetween, type ActivityEvent } from '../query/activity/activity';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import { areRowsKept, listFinalHashes } from '../query/head/headState';
import { listNewEvents, type NewEventSources } from '../query/activity/newEvents';
import type { PoolNameReader } from '../query/pairs/poolNames';
import type { ChainChange, LiveEvent, Reorg } from './hub';
import { eventMessage, gapMessage, positionId } from './streamMessage';

/** A change with more events than this is sent as a gap, for example after a backfill or a long outage. */
const CHANGE_EVENTS_MAX = 10_000;

/** The change from `oldHead` to `newHead`. Both are snapshots of one chain, and the last final block did not go
 * back. */
export async function readChange(
  sources: NewEventSources & { readonly poolNames: PoolNameReader },
  chainId: number,
  oldHead: HeadSnapshot,
  newHead: HeadSnapshot,
): Promise<ChainChange> {
  const { runner, poolNames } = sources;
  const fork =
    diffHeads(oldHead, newHead).fork ??
    findFork(oldHead, newHead, await listHashesUnder(runner, chainId, oldHead, newHead));
  const reorg = fork < oldHead.number ? await readReorg(runner, oldHead, fork) : null;
  if (newHead.number <= fork) return { reorg, gap: null, events: [] };
  const toOrdInclusive = lastOrdOfBlock(newHead.number);
  const events = await listEventsAbove(sources, newHead, fork);
  if (events.length > CHANGE_EVENTS_MAX) {
    const gap = gapMessage(toOrd(fork + 1, 0), toOrdInclusive, positionId(toOrdInclusive, newHead.hash));
    return { reorg, gap, events: [] };
  }
  return {
    reorg,
    gap: null,
    events: await encodeEvents({ runner, chainId, poolNames, head: newHead }, events),
  };
}

/** Lists at most one event more than the limit. The extra event shows that a gap is needed. */
function listEventsAbove(
  sources: NewEventSources,
  newHead: HeadSnapshot,
  fork: number,
): Promise<ActivityEvent[]> {
  const limit = CHANGE_EVENTS_MAX + 1;
  if (fork >= newHead.finalTo) {
    const newBlocks = newHead.blocks.filter((block) => block.number > fork);
    return listNewEvents(sources, newHead, newBlocks, limit);
  }
  const [afterOrd, toOrd] = [lastOrdOfBlock(fork), lastOrdOfBlock(newHead.number)];
  return listEventsBetween(sources.runner, newHead, ALL_ACTIVITY, afterOrd, toOrd, limit);
}

/** Hashes of blocks that were head blocks in `oldHead` and are final now. */
async function listHashesUnder(
  runner: QueryRunner,
  chainId: number,
  oldHead: HeadSnapshot,
  newHead: HeadSnapshot,
): Promise<Map<number, Hex>> {
  const newlyFinal = oldHead.blocks.filter((block) => block.number <= newHead.finalTo);
  return listFinalHashes(
    runner,
    chainId,
    newlyFinal.map((block) => block.number),
  );
}

/** The newest block of `oldHead` that `newHead` still contains. Blocks link by hash, so both contain all older
 * blocks too. */
function findFork(
  oldHead: HeadSnapshot,
  newHead: HeadSnapshot,
  finalHashes: ReadonlyMap<number, Hex>,
): number {
  for (const block of [...oldHead.blocks].reverse()) {
    const hash = hashAt(newHead, block.number, finalHashes);
    if (hash === block.hash) return block.number;
  }
  return oldHead.finalTo;
}

function hashAt(head: HeadSnapshot, number: number, finalHashes: ReadonlyMap<number, Hex>): Hex | null {
  if (number > head.number) return null;
  if (number > head.finalTo) return head.blocks[number - head.finalTo - 1]?.hash ?? null;
  const hash = finalHashes.get(number);
  if (hash === undefined) throw new AppError('broken_invariant', `final block ${number} is not stored`);
  return hash;
}

async function readReorg(runner: QueryRunner, oldHead: HeadSnapshot, fork: number): Promise<Reorg> {
  const orphans = oldHead.blocks.filter((block) => block.number > fork);
  const removed = await listRemoved(runner, oldHead, orphans, lastOrdOfBlock(oldHead.number));
  const forkHash = orphans[0]?.parentHash ?? oldHead.hash;
  return { fork: { number: fork, hash8: forkHash.slice(2, 10) }, toBlock: oldHead.number, removed };
}

/**
 * Removed events up to the position `toOrdInclusive`. In the snapshot `view`, the blocks that a reorg removed are
 * still canonical. Null if their rows are gone, or if there are too many events.
 */
export async function listRemoved(
  runner: QueryRunner,
  view: HeadSnapshot,
  orphans: readonly HeadBlock[],
  toOrdInclusive: number,
  filter = ALL_ACTIVITY,
): Promise<readonly ActivityEvent[] | null> {
  const firstOrphan = orphans[0];
  if (firstOrphan === undefined) return [];
  if (!(await areRowsKept(runner, orphans))) return null;
  const afterOrd = lastOrdOfBlock(firstOrphan.number - 1);
  const limit = CHANGE_EVENTS_MAX + 1;
  const events = await listEventsBetween(runner, view, filter, afterOrd, toOrdInclusive, limit);
  return events.length > CHANGE_EVENTS_MAX ? null : events;
}

interface EventQuery {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly poolNames: PoolNameReader;
  readonly head: HeadSnapshot;
}

/** Encodes events of a snapshot, each with the hash of its block. */
export async function encodeEvents(
  { runner, chainId, poolNames, head }: EventQuery,
  events: readonly ActivityEvent[],
): Promise<LiveEvent[]> {
  const names = await poolNames.at(head);
  const numbers = [...new Set(events.map((event) => blockOfOrd(event.ord)))];
  const finalNumbers = numbers.filter((number) => number <= head.finalTo);
  const hashes = await listFinalHashes(runner, chainId, finalNumbers);
  return events.map((event) => {
    const hash = hashAt(head, blockOfOrd(event.ord), hashes);
    if (hash === null)
      throw new AppError('broken_invariant', `event ${event.item.id} is in a block after the head`);
    return { ...event, message: eventMessage({ ...event, item: names.show(event.item) }, hash) };
  });
}
