/**
 * Lists pools of the search at the end of the session's newest block. A pool without an event since the start block has
 * the same state at the end of every indexed block, so its state may come from any block of this chain. The newest
 * block is decoded again with the pools, and its rows get a new commit; blocks, logs and events stay the same.
 */
import type { BlockSource } from '../../chain/blocks/blockSource';
import type { HeadFollower } from '../../chain/head/follower';
import type { BlockReader } from '../decode/blockReader';
import type { FoundPools } from '../pools/foundPools';
import type { BlockRows } from '../rows/blockRows';
import type { Promoter } from '../store/promoter';
import type { Cursor, StoredState } from '../store/store';

/** Whether pools wait, and the newest block is in the head tables and is not being promoted. */
export function canList(
  found: FoundPools | undefined,
  { tip, base }: HeadFollower,
  cursor: Cursor,
  promoter: Promoter,
): boolean {
  if (found === undefined || !found.isWaiting || tip.number <= cursor.number) return false;
  return tip.number > base.number || !promoter.isBusy;
}

/** The rows of the newest block with the pools that wait. Null if there is none, or if the node has another block. */
export async function listFoundPools(
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
  const all: BlockRows[] = [];
  const parent = { number: tip.number - 1, hash: block.parentHash };
  await reader.read([block], parent, true, signal, (rows) => all.push(rows));
  return all[0] ?? null;
}

/**
 * Marks the head blocks that list pools as not stored, because the program may have ended between the two writes of
 * such a block. The session writes them again.
 */
export async function relist(found: FoundPools | undefined, stored: StoredState): Promise<StoredState> {
  if (found === undefined) return stored;
  await found.load(stored.cursor.number, () => false);
  const first = stored.head.find(({ hash }) => found.listedBy(hash).length > 0);
  if (first === undefined) return stored;
  const commits = new Map(stored.commits);
  for (const hash of stored.commits.keys()) if (found.listedBy(hash).length > 0) commits.delete(hash);
  return { ...stored, commits, head: stored.head.filter(({ number }) => number < first.number) };
}
