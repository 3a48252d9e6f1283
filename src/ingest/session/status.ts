/**
 * Current state and counters of the ingester, for /readyz, /metrics and the log. Only the ingester writes
 * them.
 */
import type { BlockRef } from '../../domain/block';
import type { SkippedLogs } from '../decode/decodeTransfers';

type IngestPhase = 'starting' | 'standby' | 'recovering' | 'backfill' | 'follow' | 'waiting' | 'stopped';

/** Work on a range of blocks: running, or interrupted by an error. */
export interface RangeWork {
  /** `catch_up` stores blocks up to the node's head. `refill` stores lost rows of final blocks again. */
  readonly kind: 'catch_up' | 'refill' | 'promotion';
  readonly from: number;
  readonly to: number;
  /** First start of the work, in ms of the ingester's clock. */
  readonly since: number;
}

/** Comparisons of balances with the node since the start of the process. */
interface BalanceCheckCounts {
  rounds: number;
  compared: number;
  mismatches: number;
  /** Number of checks for which the node gave no answer. */
  failures: number;
  /** Number of tokens marked as rebasing, including those that earlier runs of the process marked. */
  rebasing: number;
}

/** Progress of the search for facts from before the first ingested block. */
export interface HistoryStatus {
  /**
   * `incomplete`: the node has no old logs, so older pools are missing. `whole`: the index begins at the first block,
   * so there is nothing to search. `unknown`: before the first step.
   */
  state: 'unknown' | 'whole' | 'searching' | 'complete' | 'incomplete';
  startBlock: number;
  /** The creation events are read from this block up to the start block. */
  searchedFrom: number;
  /** Block at which the search ends. */
  searchTo: number;
  /** Number of older pools found. */
  pools: number;
  /** Whether the supply of every listed token was asked for. */
  suppliesRead: boolean;
  /** Number of calls since the start of the process. */
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
  /** Time when the ingester began to wait for the next head, in ms of its clock. Null while it stores
   * blocks. */
  idleSince: number | null;
  /** Running or interrupted work by its kind. */
  readonly work: Map<RangeWork['kind'], RangeWork>;
  /** The current problem in one sentence. */
  problem: string | null;
  /** Time when the problem began, in ms of the ingester's clock. */
  problemSince: number | null;
  blocks: number;
  logs: number;
  swaps: number;
  malformedLogs: number;
  /** Number of skipped transfer and position logs, by reason. */
  skippedTransfers: Readonly<SkippedLogs>;
  readonly balanceChecks: BalanceCheckCounts;
  readonly history: HistoryStatus;
  /** Number of ranges whose lost rows were stored again. */
  refills: number;
  /** Number of rebuilds of aggregates that lacked stored rows. */
  mends: number;
  /** Number of reorgs by depth. */
  readonly reorgs: Map<number, number>;
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
    problem: null,
    problemSince: null,
    blocks: 0,
    logs: 0,
    swaps: 0,
    malformedLogs: 0,
    skippedTransfers: { nft: 0, malformed: 0, unplaced: 0 },
    balanceChecks: { rounds: 0, compared: 0, mismatches: 0, failures: 0, rebasing: 0 },
    history: {
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

/** Records a new head of the node. `now` is the time in ms of the ingester's clock. */
export function noteHead(
  status: IngestStatus,
  head: Pick<BlockRef, 'number' | 'timestamp'>,
  now: number,
): void {
  // The time between heads is measured only if the ingester was already waiting when the head arrived.
  if (status.nodeHeadAt !== null && status.idleSince !== null) {
    const gap = now - status.nodeHeadAt;
    status.headSpacingMs = status.headSpacingMs === null ? gap : 0.8 * status.headSpacingMs + 0.2 * gap;
  }
  status.nodeHead = head.number;
  status.nodeHeadTimestamp = head.timestamp;
  status.nodeHeadAt = now;
  status.idleSince = null;
}

/** Records the start of work. Work that continues keeps its first start time. */
export function beginWork(status: IngestStatus, work: Omit<RangeWork, 'since'>, now: number): void {
  const known = status.work.get(work.kind);
  const since = known !== undefined && known.from <= work.from && work.from <= known.to ? known.since : now;
  status.work.set(work.kind, { ...work, since });
}

export function endWork(status: IngestStatus, kind: RangeWork['kind']): void {
  status.work.delete(kind);
}
