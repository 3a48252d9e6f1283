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
import type { ChainChange, LiveEvent, Reorg } from './hub';
import { eventMessage, gapMessage, positionId } from './streamMessage';

/** A change with more events than this is sent as a gap, for example after a backfill or a long outage. */
const CHANGE_EVENTS_MAX = 10_000;

/** The change from `oldHead` to `next`. Both are snapshots of one chain, and the last final block did not go
 * back. */
export async function readChange(
  sources: NewEventSources,
  chainId: number,
  oldHead: HeadSnapshot,
  next: HeadSnapshot,
): Promise<ChainChange> {
  const { runner } = sources;
  const fork =
    diffHeads(oldHead, next).fork ??
    findFork(oldHead, next, await listHashesUnder(runner, chainId, oldHead, next));
  const reorg = fork < oldHead.number ? await readReorg(runner, oldHead, fork) : null;
  if (next.number <= fork) return { reorg, gap: null, events: [] };
  const toOrdInclusive = lastOrdOfBlock(next.number);
  const events = await listEventsAbove(sources, next, fork);
  if (events.length > CHANGE_EVENTS_MAX) {
    const gap = gapMessage(toOrd(fork + 1, 0), toOrdInclusive, positionId(toOrdInclusive, next.hash));
    return { reorg, gap, events: [] };
  }
  return { reorg, gap: null, events: await encodeEvents(runner, chainId, next, events) };
}

/** Lists at most one event more than the limit. The extra event shows that a gap is needed. */
function listEventsAbove(
  sources: NewEventSources,
  next: HeadSnapshot,
  fork: number,
): Promise<ActivityEvent[]> {
  const limit = CHANGE_EVENTS_MAX + 1;
  if (fork >= next.finalTo) {
    const newBlocks = next.blocks.filter((block) => block.number > fork);
    return listNewEvents(sources, next, newBlocks, limit);
  }
  const [afterOrd, toOrd] = [lastOrdOfBlock(fork), lastOrdOfBlock(next.number)];
  return listEventsBetween(sources.runner, next, ALL_ACTIVITY, afterOrd, toOrd, limit);
}

/** Hashes of blocks that were head blocks in `old` and are final now. */
async function listHashesUnder(
  runner: QueryRunner,
  chainId: number,
  old: HeadSnapshot,
  next: HeadSnapshot,
): Promise<Map<number, Hex>> {
  const newlyFinal = old.blocks.filter((block) => block.number <= next.finalTo);
  return listFinalHashes(
    runner,
    chainId,
    newlyFinal.map((block) => block.number),
  );
}

/** The newest block of `old` that `next` still contains. Blocks link by hash, so both contain all older
 * blocks too. */
function findFork(old: HeadSnapshot, next: HeadSnapshot, finalHashes: ReadonlyMap<number, Hex>): number {
  for (const block of [...old.blocks].reverse()) {
    const hash = hashAt(next, block.number, finalHashes);
    if (hash === block.hash) return block.number;
  }
  return old.finalTo;
}

function hashAt(head: HeadSnapshot, number: number, finalHashes: ReadonlyMap<number, Hex>): Hex | null {
  if (number > head.number) return null;
  if (number > head.finalTo) return head.blocks[number - head.finalTo - 1]?.hash ?? null;
  const hash = finalHashes.get(number);
  if (hash === undefined) throw new AppError('broken_invariant', `final block ${number} is not stored`);
  return hash;
}

async function readReorg(runner: QueryRunner, old: HeadSnapshot, fork: number): Promise<Reorg> {
  const orphans = old.blocks.filter((block) => block.number > fork);
  const removed = await listRemoved(runner, old, orphans, lastOrdOfBlock(old.number));
  const forkHash = orphans[0]?.parentHash ?? old.hash;
  return { fork: { number: fork, hash8: forkHash.slice(2, 10) }, toBlock: old.number, removed };
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

/** Encodes events of a snapshot, each with the hash of its block. */
export async function encodeEvents(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  events: readonly ActivityEvent[],
): Promise<LiveEvent[]> {
  const numbers = [...new Set(events.map((event) => blockOfOrd(event.ord)))];
  const finalNumbers = numbers.filter((number) => number <= head.finalTo);
  const hashes = await listFinalHashes(runner, chainId, finalNumbers);
  return events.map((event) => {
    const hash = hashAt(head, blockOfOrd(event.ord), hashes);
    if (hash === null)
      throw new AppError('broken_invariant', `event ${event.item.id} is in a block after the head`);
    return { ...event, message: eventMessage(event, hash) };
  });
}
