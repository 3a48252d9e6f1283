/** Finds the block at a time and the time of a block, by key, over final blocks and the snapshot's head blocks. */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { lastOrdOfBlock } from '../../domain/ord';
import type { HeadSnapshot } from './headSnapshot';

const blockRowShape = z.object({ number: z.int(), timestamp: z.int() });
type BlockTime = z.infer<typeof blockRowShape>;

/** Largest time in the database, whose times are unix seconds of 32 bits. */
const TIME_MAX = 4_294_967_295;
/** Largest number of results per snapshot. A limit is needed because callers can choose the times. */
const FOUND_MAX = 256;

/** Results per snapshot by chain and time, because the snapshot's tables ask for the same few times. */
const found = new WeakMap<HeadSnapshot, Map<string, Promise<BlockTime | null>>>();

/**
 * Results for final blocks do not change with the head. They still expire, because lost blocks may be stored again
 * later.
 */
const FINAL_BLOCKS_MAX = 1_024;
const FINAL_BLOCKS_MS = 600_000;
const finalBlocks = new WeakMap<QueryRunner, LRUCache<string, BlockTime>>();

/** The newest final block of the snapshot at or before `time` (unix seconds), or null. */
export async function findFinalBlockAt(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  time: number,
): Promise<BlockTime | null> {
  const key = `${chainId} ${time}`;
  const ofHead = found.get(head) ?? new Map<string, Promise<BlockTime | null>>();
  found.set(head, ofHead);
  const known = ofHead.get(key);
  if (known !== undefined) return known;
  const asked = readFinalBlockAt(runner, chainId, head, time);
  if (ofHead.size < FOUND_MAX) ofHead.set(key, asked);
  asked.catch(() => ofHead.delete(key));
  return asked;
}

async function readFinalBlockAt(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  time: number,
): Promise<BlockTime | null> {
  if (time < 0) return null;
  const ofRunner =
    finalBlocks.get(runner) ??
    new LRUCache<string, BlockTime>({ max: FINAL_BLOCKS_MAX, ttl: FINAL_BLOCKS_MS });
  finalBlocks.set(runner, ofRunner);
  const key = `${chainId} ${time}`;
  const known = ofRunner.get(key);
  if (known !== undefined && known.number <= head.finalTo) return known;
  const params = { chain_id: chainId, final_to: head.finalTo, time: Math.min(time, TIME_MAX) };
  const [row] = await runner.run('overview/find_block_at', params, blockRowShape);
  if (row !== undefined && row.number < head.finalTo) ofRunner.set(key, row);
  return row ?? null;
}

/** The last block in the final tables, or null if they are empty. */
export async function findFinalTip(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
): Promise<BlockTime | null> {
  return findFinalBlockAt(runner, chainId, head, TIME_MAX);
}

/** The position (`ord`) below all final events that are later than `time`. */
export async function findOrdAt(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  time: number,
): Promise<number> {
  const block = await findFinalBlockAt(runner, chainId, head, time);
  return block === null ? 0 : lastOrdOfBlock(block.number);
}

/** Time of a block of the snapshot's chain, unix seconds; null for a block that is not indexed. */
export async function findBlockTime(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  number: number,
): Promise<number | null> {
  if (number === head.number) return head.timestamp;
  if (number > head.finalTo) return head.blocks.find((block) => block.number === number)?.timestamp ?? null;
  const [row] = await runner.run('overview/find_block', { chain_id: chainId, number }, blockRowShape);
  return row?.timestamp ?? null;
}
