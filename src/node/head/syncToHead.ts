/**
 * Brings the follower to the node's head: finds the fork (last common block), then fetches the blocks after
 * it in steps. The caller stores each step as a whole.
 */
import type { BlockRef, ChainBlock } from '../../domain/block';
import { AppError } from '../../errors';
import { backoffMs, systemClock, type Clock } from '../rpc/clock';
import type { BlockHeader } from '../blocks/parseBlock';
import type { BlockSource } from '../blocks/blockSource';
import { type HeadFollower, BeyondFinality } from './follower';
import { RpcError } from '../rpc/rpcError';

/**
 * Blocks that are stored together. Each is the parent of the next. The first follows block `forkNumber`, or
 * the newest stored block if `forkNumber` is null.
 */
export interface Extension {
  readonly kind: 'extend';
  /** The last common block of a reorg. Null if no block is removed. */
  readonly forkNumber: number | null;
  /** The removed blocks, ascending. */
  readonly removed: readonly BlockRef[];
  readonly blocks: readonly ChainBlock[];
}

interface SyncOptions {
  readonly signal?: AbortSignal;
  /** Blocks per step while catching up (default 64). */
  readonly chunk?: number;
  readonly clock?: Clock | undefined;
}

const CHUNK_BLOCKS = 64;
/**
 * The number of headers per request grows by this factor while the fork is searched: 1, then 16, then 256.
 * Most reorgs are one or two blocks deep.
 */
const SPAN_GROWTH = 16;
const SPAN_MAX = 256;
/**
 * If the chain changes during the search, the search starts again, at most this many times. Then an error is
 * thrown.
 */
const RESTARTS_MAX = 8;
const RESTART_BASE_MS = 20;
const RESTART_MAX_MS = 1_000;

/**
 * Yields the steps from the follower's newest block to `head`. The caller must store each step before it asks
 * for the next one. Only then the follower moves, so after a failed write it still matches the database. The
 * first step of a reorg reaches the height of the old newest block, or the new head if that is lower. So the
 * database never holds a mix of two branches, or a shorter branch than needed. Yields no step for a head that
 * is already canonical or below the last final block.
 *
 * @throws AppError `broken_invariant` for a reorg beyond finality, `node_failed` if the chain changes too
 * fast or the node fails.
 */
export async function* syncToHead(
  source: BlockSource,
  follower: HeadFollower,
  head: BlockRef,
  options: SyncOptions = {},
): AsyncGenerator<Extension, void, void> {
  const clock = options.clock ?? systemClock();
  let target = head;
  let restarts = 0;
  while (needsSync(follower, target)) {
    const step = await nextStep(source, follower, target, options);
    if (step !== null) {
      yield step;
      for (const block of step.blocks) follower.advance(block);
      continue;
    }
    if (restarts >= RESTARTS_MAX) {
      throw new AppError(
        'node_failed',
        `the chain changed ${restarts} times while the blocks up to ${target.number} were fetched`,
      );
    }
    await clock.sleep(backoffMs(clock, restarts, RESTART_BASE_MS, RESTART_MAX_MS), options.signal);
    restarts += 1;
    target = await source.fetchHeader('latest', signalOf(options));
  }
}

/** Returns true if the head is not canonical here and not below the last final block. */
export function needsSync(follower: HeadFollower, head: BlockRef): boolean {
  return head.number >= follower.base.number && follower.blockAt(head.number)?.hash !== head.hash;
}

/** Returns the next step, or null if the chain changed during the search. */
async function nextStep(
  source: BlockSource,
  follower: HeadFollower,
  head: BlockRef,
  options: SyncOptions,
): Promise<Extension | null> {
  try {
    const fork = await findFork(source, follower, head, options);
    if (fork === 'changed') return null;
    if (fork === 'none') {
      // A single node on a wrong fork must not stop the writer. The writer stops only if no node has our last
      // final block.
      if (await source.confirmCanonical(follower.base, options.signal)) return null;
      throw new BeyondFinality(follower.base, head);
    }
    const { tip } = follower;
    const isReorg = fork.number < tip.number;
    const lastNumber = Math.min(
      head.number,
      Math.max(isReorg ? tip.number : 0, fork.number + (options.chunk ?? CHUNK_BLOCKS)),
    );
    const blocks = await source.fetchRange(fork.number + 1, lastNumber, {
      notBefore: fork.timestamp,
      // The first step of a reorg must not be shorter than the old chain.
      partial: !isReorg,
      ...signalOf(options),
    });
    const isLinked = blocks[0]?.parentHash === fork.hash;
    const isWhole = fork.number + blocks.length === lastNumber;
    const hasReachedTarget = lastNumber < head.number || !isWhole || blocks.at(-1)?.hash === head.hash;
    if (!isLinked || !hasReachedTarget) return null;
    if (!isReorg) return { kind: 'extend', forkNumber: null, removed: [], blocks };
    const removed = follower.unfinalised.slice(fork.number - follower.base.number);
    return { kind: 'extend', forkNumber: fork.number, removed, blocks };
  } catch (error) {
    // A reorg removed this head meanwhile, or the node does not have it yet.
    if (error instanceof RpcError && error.kind === 'unknown_block') return null;
    throw error;
  }
}

/** Finds the last block that both chains share. Returns `none` if even the last final block differs. */
async function findFork(
  source: BlockSource,
  follower: HeadFollower,
  head: BlockRef,
  options: SyncOptions,
): Promise<BlockRef | 'none' | 'changed'> {
  const { base, tip } = follower;
  if (head.number === tip.number + 1 && head.parentHash === tip.hash) return tip;
  if (head.number === base.number) return 'none';
  let childHeader = head.number <= tip.number ? head : null;
  let upper = Math.min(tip.number, head.number - 1);
  for (let span = 1; upper >= base.number; span = Math.min(span * SPAN_GROWTH, SPAN_MAX)) {
    const lower = Math.max(base.number, upper - span + 1);
    const headers = await source.fetchHeaders(lower, upper, signalOf(options));
    const topHeader = headers.at(-1);
    // The search must stay on one branch. Otherwise headers of two branches could be mixed.
    if (topHeader === undefined || (childHeader !== null && childHeader.parentHash !== topHeader.hash))
      return 'changed';
    const lastCommon = findLastCommon(headers, follower);
    if (lastCommon !== null) return lastCommon;
    childHeader = headers[0] ?? null;
    upper = lower - 1;
  }
  return 'none';
}

function findLastCommon(headers: readonly BlockHeader[], follower: HeadFollower): BlockRef | null {
  for (const header of headers.toReversed()) {
    const stored = follower.blockAt(header.number);
    if (stored?.hash === header.hash) return stored;
  }
  return null;
}

function signalOf(options: SyncOptions): { signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}
