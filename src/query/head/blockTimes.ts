/** Finds the block at a time and the time of a block, by key, over final blocks and the snapshot's head blocks. */
import { LRUCache } from 'lru-cache';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { blocksTable } from '../../clickhouse/schema/tables';
import { lastOrdOfBlock } from '../../domain/ord';
import type { HeadSnapshot } from './headSnapshot';

const blockTimeRow = rowType(pick(blocksTable.types, ['number', 'timestamp']));
type BlockTime = RowOf<typeof blockTimeRow>;

/** Largest time in the database, whose times are unix seconds of 32 bits. */
const TIME_MAX = 4_294_967_295;
/** Largest number of results per snapshot. A limit is needed because callers can choose the times. */
const TIMES_PER_HEAD_MAX = 256;
const TIPS_MAX = 16;

/** Results per snapshot by chain and time, because the snapshot's tables ask for the same few times. */
const timesByHead = new WeakMap<HeadSnapshot, Map<string, Promise<BlockTime | null>>>();

/** Consecutive final blocks, ascending. */
interface BlockRun {
  readonly chainId: number;
  /** The `startBlock` of the snapshot if the run begins with the first block, otherwise null. */
  readonly startBlock: number | null;
  readonly blocks: readonly BlockTime[];
}

/**
 * Runs of final blocks in memory. Tables ask for times such as a day before the head, and these times move on with each
 * head. So the blocks after a found block answer the next heads without a statement. Final blocks do not change, but runs
 * expire, because lost or older blocks may be stored later.
 */
const RUNS_MAX = 64;
const RUN_BLOCKS = 256;
const RUN_KEPT_MS = 600_000;
/** A run that begins with the first stored block is kept for a shorter time: older blocks may be stored before it. */
const FIRST_RUN_KEPT_MS = 60_000;
const runs = new WeakMap<QueryRunner, LRUCache<string, BlockRun>>();

/** The newest final block of the snapshot at or before `time` (unix seconds), or null. */
export async function findFinalBlockAt(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  time: number,
): Promise<BlockTime | null> {
  const key = `${chainId} ${time}`;
  const blocksByKey = timesByHead.get(head) ?? new Map<string, Promise<BlockTime | null>>();
  timesByHead.set(head, blocksByKey);
  const cachedBlock = blocksByKey.get(key);
  if (cachedBlock !== undefined) return cachedBlock;
  const blockRead = readFinalBlockAt(runner, chainId, head, time);
  if (blocksByKey.size < TIMES_PER_HEAD_MAX) blocksByKey.set(key, blockRead);
  blockRead.catch(() => blocksByKey.delete(key));
  return blockRead;
}

async function readFinalBlockAt(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  time: number,
): Promise<BlockTime | null> {
  if (time < 0) return null;
  if (time < TIME_MAX) {
    const tip = await findFinalTip(runner, chainId, head);
    if (tip === null || time >= tip.timestamp) return tip;
  }
  const runsOfRunner =
    runs.get(runner) ?? new LRUCache<string, BlockRun>({ max: RUNS_MAX, ttl: RUN_KEPT_MS });
  runs.set(runner, runsOfRunner);
  for (const run of runsOfRunner.values()) {
    const blockInRun = run.chainId === chainId ? findInRun(run, head, time) : undefined;
    if (blockInRun !== undefined) return blockInRun;
  }
  const params = {
    chain_id: chainId,
    final_to: head.finalTo,
    time: Math.min(time, TIME_MAX),
    limit: RUN_BLOCKS,
  };
  const blocks = await runner.run('overview/list_blocks_at', params, blockTimeRow);
  const [firstBlock] = blocks;
  if (firstBlock === undefined) return null;
  const isFirstLater = firstBlock.timestamp > time;
  const run = { chainId, startBlock: isFirstLater ? head.startBlock : null, blocks };
  // A run of the last block alone would answer nothing.
  if (blocks.length > 1)
    runsOfRunner.set(`${chainId} ${firstBlock.number}`, run, {
      ttl: isFirstLater ? FIRST_RUN_KEPT_MS : RUN_KEPT_MS,
    });
  return isFirstLater ? null : firstBlock;
}

/** Undefined if the run cannot answer: a block is the newest one before `time` only if the next one is later. */
function findInRun(
  { startBlock, blocks }: BlockRun,
  head: HeadSnapshot,
  time: number,
): BlockTime | null | undefined {
  const [firstBlock, lastBlock] = [blocks[0], blocks.at(-1)];
  if (firstBlock === undefined || lastBlock === undefined) return undefined;
  if (time < firstBlock.timestamp) return startBlock === head.startBlock ? null : undefined;
  if (time >= lastBlock.timestamp || lastBlock.number > head.finalTo) return undefined;
  return blocks.findLast(({ timestamp }) => timestamp <= time);
}

/** Last blocks of the final tables by chain and number. */
const tips = new WeakMap<QueryRunner, LRUCache<string, BlockTime>>();

/** The last block in the final tables, or null if they are empty. */
export async function findFinalTip(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
): Promise<BlockTime | null> {
  const tipsOfRunner =
    tips.get(runner) ?? new LRUCache<string, BlockTime>({ max: TIPS_MAX, ttl: RUN_KEPT_MS });
  tips.set(runner, tipsOfRunner);
  const key = `${chainId} ${head.finalTo}`;
  const cachedTip = tipsOfRunner.get(key);
  if (cachedTip !== undefined) return cachedTip;
  const tip = await findFinalBlockAt(runner, chainId, head, TIME_MAX);
  if (tip?.number === head.finalTo) tipsOfRunner.set(key, tip);
  return tip;
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
  const [row] = await runner.run('overview/find_block', { chain_id: chainId, number }, blockTimeRow);
  return row?.timestamp ?? null;
}
