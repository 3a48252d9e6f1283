/**
 * Adds found pools at the end of the session's newest block. A found pool had no event since the start block,
 * so its state is the same at the end of every stored block. Its state may therefore come from any block of
 * this chain. The newest block is decoded again together with the pools, and its rows get a new commit. Its
 * block, logs and events stay the same.
 */
import type { BlockSource } from '../../node/blocks/blockSource';
import type { HeadFollower } from '../../node/head/follower';
import type { BlockReader } from '../decode/blockReader';
import type { FoundPools } from '../pools/foundPools';
import type { BlockRows } from '../rows/blockRows';
import type { Promoter } from '../store/promoter';
import type { Cursor, StoredState } from '../store/store';

/**
 * Returns whether pools or findings wait, and the newest block is in the head tables and is not being promoted.
 * `now` is a time in ms.
 */
export function canTakeFound(
  found: FoundPools | undefined,
  { tip, base }: HeadFollower,
  cursor: Cursor,
  promoter: Promoter,
  now: number,
): boolean {
  if (found?.isWaiting(now) !== true || tip.number <= cursor.number) return false;
  return tip.number > base.number || !promoter.isBusy;
}

/**
 * Returns the rows of the newest block together with the waiting pools. Null if no pool can be added, or if
 * the node has another block at this height.
 */
export async function takeFoundPools(
  found: FoundPools,
  reader: BlockReader,
  source: BlockSource,
  follower: HeadFollower,
  signal: AbortSignal,
): Promise<BlockRows | null> {
  const { tip } = follower;
  if (!found.hasPools) return null;
  const [block] = await source.fetchRange(tip.number, tip.number, { signal });
  if (block?.hash !== tip.hash) return null;
  const pools = found.take({
    isKnown: (pool) => reader.isKnown(pool),
    isCanonical: ({ number, hash }) => follower.blockAt(number)?.hash === hash,
  });
  if (pools.length === 0) {
    found.settle();
    return null;
  }
  await found.record(tip, pools);
  reader.rewindTo(tip.number - 1);
  const blockRows: BlockRows[] = [];
  const parent = { number: tip.number - 1, hash: block.parentHash };
  await reader.read([block], parent, true, signal, (rows) => blockRows.push(rows));
  return blockRows[0] ?? null;
}

/**
 * Marks the head blocks that add found pools as not stored, so that the session writes them again. Such a
 * block is written in two steps, and the program may have ended between them.
 */
export async function withoutAdding(
  found: FoundPools | undefined,
  stored: StoredState,
): Promise<StoredState> {
  if (found === undefined) return stored;
  await found.load(stored.cursor.number, () => false);
  const first = stored.head.find(({ hash }) => found.addedBy(hash).length > 0);
  if (first === undefined) return stored;
  const commits = new Map(stored.commits);
  for (const hash of stored.commits.keys()) if (found.addedBy(hash).length > 0) commits.delete(hash);
  return { ...stored, commits, head: stored.head.filter(({ number }) => number < first.number) };
}
