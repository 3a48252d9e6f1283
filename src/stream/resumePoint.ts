/**
 * Finds where a reconnecting client resumes: after its last event if that event's block is canonical,
 * otherwise after the fork of its branch. The fork is found through the old rows of head_blocks.
 */
import type { HeadBlock } from '../domain/head/foldHead';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import type { Hex } from '../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../domain/ord';
import type { ActivityFilter } from '../query/activity/activity';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import { findBlockHash, listFinalHashes, listKeptBlocks, type KeptBlock } from '../query/head/headState';
import { listRemoved } from './chainChange';
import { reorgMessage, type StreamMessage, type StreamPosition } from './streamMessage';

/**
 * Number of blocks back to the assumed fork, if a client's branch is unknown. No reorg is deeper than finality
 * allows.
 */
const REORG_DEPTH_MAX = 1_024;
const NO_HASH8 = '00000000';

interface ResumePoint {
  /** Events after this position (`ord`) are new to the client. */
  readonly afterOrd: number;
  /** A message that is sent first if a reorg removed the client's last event. */
  readonly reorg: StreamMessage | null;
}

interface Query {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly head: HeadSnapshot;
  readonly filter: ActivityFilter;
}

/** Where a client with the last id `position` resumes, in this snapshot. */
export async function findResumePoint(query: Query, position: StreamPosition): Promise<ResumePoint> {
  const { runner, chainId, head } = query;
  const block = blockOfOrd(position.ord);
  if (position.hash8 === null) {
    if (block <= head.number) return { afterOrd: position.ord, reorg: null };
    // The position is above the head. All events above the head are treated as removed until they are sent again.
    return {
      afterOrd: lastOrdOfBlock(head.number),
      reorg: reorgTo(head.number, hash8(head.hash), block, null),
    };
  }
  if (block < head.startBlock) return { afterOrd: position.ord, reorg: null };
  const hash = await findBlockHash(runner, chainId, head, block);
  if (hash?.startsWith(`0x${position.hash8}`)) return { afterOrd: position.ord, reorg: null };
  return resumeAtFork(query, position);
}

/** Stored hashes of the canonical chain, from REORG_DEPTH_MAX blocks below the given block up to this
 * block. */
async function listCanonical(query: Query, block: number): Promise<Map<number, Hex>> {
  const { runner, chainId, head } = query;
  const fromBlock = Math.max(head.startBlock, block - REORG_DEPTH_MAX);
  const finalNumbers: number[] = [];
  for (let number = fromBlock; number <= Math.min(block, head.finalTo); number += 1)
    finalNumbers.push(number);
  const hashes = await listFinalHashes(runner, chainId, finalNumbers);
  for (const { number, hash } of head.blocks) if (number <= block) hashes.set(number, hash);
  return hashes;
}

async function resumeAtFork(query: Query, position: StreamPosition): Promise<ResumePoint> {
  const { runner, chainId, head, filter } = query;
  const block = blockOfOrd(position.ord);
  const lowestBlock = Math.max(head.startBlock, block - REORG_DEPTH_MAX);
  const canonicalHashes = await listCanonical(query, block);
  const keptBlocks = await listKeptBlocks(runner, chainId, lowestBlock, block);
  const branch = followBranch(keptBlocks, canonicalHashes, block, position.hash8 ?? '');
  const firstRemoved = branch?.[0];
  if (branch === null || firstRemoved === undefined) {
    const fork = Math.max(head.startBlock - 1, Math.min(block - 1, head.number) - REORG_DEPTH_MAX);
    const forkHash8 = hash8(await findBlockHash(runner, chainId, head, fork));
    return { afterOrd: lastOrdOfBlock(fork), reorg: reorgTo(fork, forkHash8, block, null) };
  }
  const branchView: HeadSnapshot = {
    ...head,
    finalTo: firstRemoved.number - 1,
    number: block,
    blocks: branch,
  };
  const removed = await listRemoved(runner, branchView, branch, position.ord, filter);
  const removedIds = removed?.map((event) => event.item.id) ?? null;
  const fork = firstRemoved.number - 1;
  return {
    afterOrd: lastOrdOfBlock(fork),
    reorg: reorgTo(fork, hash8(firstRemoved.parentHash), block, removedIds),
  };
}

/**
 * The removed blocks of the branch, from the named block down to the fork. Null if a block's row is no longer stored.
 * The loop ends, because each step goes one block down.
 */
function followBranch(
  keptBlocks: readonly KeptBlock[],
  canonicalHashes: ReadonlyMap<number, Hex>,
  block: number,
  hash8OfBlock: string,
): HeadBlock[] | null {
  const blockByHash = new Map(keptBlocks.map((row) => [row.hash, row]));
  const namedBlock = keptBlocks.find(
    (row) => row.number === block && row.hash.startsWith(`0x${hash8OfBlock}`),
  );
  const branch: HeadBlock[] = [];
  for (let current = namedBlock; current !== undefined; current = blockByHash.get(current.parentHash)) {
    branch.unshift({ ...current, timestamp: 0 });
    if (canonicalHashes.get(current.number - 1) === current.parentHash) return branch;
  }
  return null;
}

function hash8(hash: Hex | null): string {
  return hash?.slice(2, 10) ?? NO_HASH8;
}

function reorgTo(
  fork: number,
  forkHash8: string,
  toBlock: number,
  removedIds: readonly string[] | null,
): StreamMessage {
  return reorgMessage({ number: fork, hash8: forkHash8 }, toBlock, removedIds);
}
