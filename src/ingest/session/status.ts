/**
 * Current state and counters of the ingester, for /readyz, /metrics and the log. Only the ingester writes
 * them.
 */
import type { Hex } from '../../domain/hex';
import type { BlockRef } from '../../domain/block';
import { errorText, keepText } from '../../errors';
import type { SkippedLogs } from '../decode/decodeTransfers';

type IngestPhase = 'starting' | 'standby' | 'recovering' | 'backfill' | 'follow' | 'waiting' | 'stopped';

/** Work on a range of blocks that is running, or that an error interrupted. */
export interface RangeWork {
  /**
   * `catch_up` stores blocks up to the node's head. `refill` stores lost rows of final blocks again.
   * `promotion` copies final blocks from the head tables to the final tables.
   */
  readonly kind: 'catch_up' | 'refill' | 'promotion';
  readonly from: number;
  readonly to: number;
  /** Time when the work first started, in ms of the ingester's clock. */
  readonly since: number;
}

/** Counts of comparisons of balances with the node, since the start of the process. */
interface BalanceCheckCounts {
  rounds: number;
  compared: number;
  mismatches: number;
  /** Number of checks for which the node gave no answer. */
  failures: number;
  /** Number of tokens marked as rebasing, including marks from earlier runs of the program. */
  rebasing: number;
}

/** Progress of the pool search, which finds pools and supplies from before the first stored block. */
export interface PoolSearchStatus {
  /**
   * `unknown`: before the first step. `whole`: the stored history starts at block 1, so nothing is missing.
   * `incomplete`: the node has no old logs, so older pools may be missing.
   */
  state: 'unknown' | 'whole' | 'searching' | 'complete' | 'incomplete';
  startBlock: number;
  /** Creation events are read for the blocks from here up to the start block. */
  searchedFrom: number;
  /** Lowest block to search. The search ends there. */
  searchTo: number;
  /** Number of older pools found. */
  pools: number;
  /** Whether the supplies of all known tokens have been read. */
  suppliesRead: boolean;
  /** Number of calls that the search has sent to the node since the start of the process. */
  calls: number;
}

export interface IngestStatus {
  phase: IngestPhase;
  /** Number of the last block in the final tables. */
  finalTo: number | null;
  /** Number of the newest block that readers can see. */
  indexed: number | null;
  /** Number of the last final block that the ingester has seen. */
  finalNumber: number | null;
  /** Number of the node's newest block that the ingester has seen. */
  nodeHead: number | null;
  /** Timestamp of the block `nodeHead`, unix seconds. */
  nodeHeadTimestamp: number | null;
  /** Time of the last change of `nodeHead`, in ms of the ingester's clock. */
  nodeHeadAt: number | null;
  /** Moving average of the time between two heads, in ms. Null before the second head. */
  headSpacingMs: number | null;
  /**
   * Time when the ingester began to wait for the next head, in ms of its clock. Null while the ingester
   * stores blocks.
   */
  idleSince: number | null;
  /** Tokens without metadata that clients of the API in this process asked for, until the next block. */
  readonly askedTokens: Set<Hex>;
  /** Running or interrupted work by its kind. */
  readonly work: Map<RangeWork['kind'], RangeWork>;
  /** The current problem in one sentence, which stays the same if later attempts fail in the same way. */
  problem: string | null;
  /** The error of the newest attempt. */
  problemDetail: string | null;
  /** Time when the problem began, in ms of the ingester's clock. */
  problemSince: number | null;
  /** Numbers of blocks, logs and swaps that were stored since the start of the process. */
  blocks: number;
  logs: number;
  swaps: number;
  /** Number of stored pools whose creation was read since the start of the process. */
  pools: number;
  malformedLogs: number;
  /** Number of pools that were refused because their id ends like that of another pool, since the start of the process. */
  refusedPools: number;
  /** A final block whose logs the endpoints disagree about. Null if there is none. */
  disputed: { readonly block: number } | null;
  /** A final block with a stored sender that differs from the signature, and could not be corrected. Null if there is none. */
  falseSenders: { readonly block: number } | null;
  /** Blocks that were accepted with a weaker proof than others, since the start of the process, and the newest one. */
  lessProven: { readonly blocks: number; readonly block: number; readonly reason: string } | null;
  /** Number of logs without a transaction that no receipt proves, since the start of the process. */
  blockLogs: number;
  /** Number of skipped transfer and position logs, by reason. */
  skippedTransfers: Readonly<SkippedLogs>;
  readonly balanceChecks: BalanceCheckCounts;
  readonly poolSearch: PoolSearchStatus;
  /** Number of ranges whose lost rows were stored again. */
  refills: number;
  /** Number of rebuilds of aggregates that lacked stored rows. */
  mends: number;
  /** Number of reorgs by depth. */
  readonly reorgs: Map<number, number>;
}

/** Notes why the ingester failed. The time and the text of a problem that lasts stay the same. */
export function noteFailure(status: IngestStatus, error: unknown, now: number): void {
  status.problemDetail = errorText(error);
  status.problem = keepText(status.problem, status.problemDetail);
  status.problemSince ??= now;
}

export function clearFailure(status: IngestStatus): void {
  status.problem = null;
  status.problemDetail = null;
  status.problemSince = null;
}

export function newIngestStatus(): IngestStatus {
  return {
    phase: 'starting',
    finalTo: null,
    indexed: null,
    finalNumber: null,
    nodeHead: null,
    nodeHeadTimestamp: null,
    nodeHeadAt: null,
    headSpacingMs: null,
    idleSince: null,
    work: new Map(),
    askedTokens: new Set(),
    problem: null,
    problemDetail: null,
    problemSince: null,
    blocks: 0,
    logs: 0,
    swaps: 0,
    pools: 0,
    malformedLogs: 0,
    refusedPools: 0,
    disputed: null,
    falseSenders: null,
    lessProven: null,
    blockLogs: 0,
    skippedTransfers: { nft: 0, malformed: 0, unplaced: 0 },
    balanceChecks: { rounds: 0, compared: 0, mismatches: 0, failures: 0, rebasing: 0 },
    poolSearch: {
      state: 'unknown',
      startBlock: 0,
      searchedFrom: 0,
      searchTo: 0,
      pools: 0,
      suppliesRead: false,
      calls: 0,
    },
    refills: 0,
    mends: 0,
    reorgs: new Map(),
  };
}

/** Largest number of asked tokens that wait for the next block. */
const ASKED_MAX = 1_000;

/** Notes that a client asked for a token without metadata. */
export function noteAsked({ askedTokens }: IngestStatus, token: Hex): void {
  if (askedTokens.size < ASKED_MAX) askedTokens.add(token);
}

/** Records a new head of the node. `now` is the time in ms of the ingester's clock. */
export function noteHead(
  status: IngestStatus,
  head: Pick<BlockRef, 'number' | 'timestamp'>,
  now: number,
): void {
  // The time between two heads counts only if the ingester was already waiting when the second head arrived.
  if (status.nodeHeadAt !== null && status.idleSince !== null) {
    const gap = now - status.nodeHeadAt;
    status.headSpacingMs = status.headSpacingMs === null ? gap : 0.8 * status.headSpacingMs + 0.2 * gap;
  }
  status.nodeHead = head.number;
  status.nodeHeadTimestamp = head.timestamp;
  status.nodeHeadAt = now;
  status.idleSince = null;
}

/** Records the start of work. If the same kind of work is already recorded, its first start time is kept. */
export function beginWork(status: IngestStatus, work: Omit<RangeWork, 'since'>, now: number): void {
  const earlier = status.work.get(work.kind);
  const since =
    earlier !== undefined && earlier.from <= work.from && work.from <= earlier.to ? earlier.since : now;
  status.work.set(work.kind, { ...work, since });
}

export function endWork(status: IngestStatus, kind: RangeWork['kind']): void {
  status.work.delete(kind);
}

interface BackfillProgress {
  /** First and last block of the range that is being stored. */
  readonly from_block: number;
  readonly to_block: number;
  /** Stored part of the range, 0 to 100. */
  readonly done_pct: number;
  /** Time until the end at the pace so far; null before the first stored block. */
  readonly seconds_left: number | null;
}

/** A shorter range is no backfill: an ingester that follows the head stores it within moments. */
const BLOCKS_MIN = 100;

/** The backfill that is running; null if there is none. `now` is the time in ms of the ingester's clock. */
export function backfillProgress({ work, indexed }: IngestStatus, now: number): BackfillProgress | null {
  const range = work.get('catch_up');
  if (range === undefined) return null;
  const { from, to, since } = range;
  const blocks = to - from + 1;
  if (blocks < BLOCKS_MIN) return null;
  const doneBlocks = Math.min(blocks, Math.max(0, (indexed ?? 0) - from + 1));
  const secondsLeft =
    doneBlocks === 0 ? null : Math.ceil(((now - since) / 1000) * ((blocks - doneBlocks) / doneBlocks));
  return {
    from_block: from,
    to_block: to,
    done_pct: Math.floor((doneBlocks / blocks) * 1000) / 10,
    seconds_left: secondsLeft,
  };
}

export function noteLessProven(
  status: IngestStatus,
  { number, reason }: { readonly number: number; readonly reason: string },
): void {
  status.lessProven = { blocks: (status.lessProven?.blocks ?? 0) + 1, block: number, reason };
}
