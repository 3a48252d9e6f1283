/**
 * Current state and counters of the ingester, for /readyz, /metrics and the log. Only the ingester writes
 * them.
 */
import type { BlockRef } from '../../domain/block';
import type { SkippedLogs } from '../decode/decodeTransfers';

type IngestPhase = 'starting' | 'recovering' | 'backfill' | 'follow' | 'waiting' | 'stopped';

/** Work on a range of blocks that is running or was interrupted. */
export interface RangeWork {
  /** `catch_up`: blocks up to the node's head. `refill`: missing blocks below the cursor. */
  readonly kind: 'catch_up' | 'refill' | 'promotion';
  readonly from: number;
  readonly to: number;
  /** First start of the work, ingester clock, ms. */
  readonly since: number;
}

/** Comparisons of balances with the node since the start of the process. */
interface BalanceCheckCounts {
  rounds: number;
  compared: number;
  mismatches: number;
  /** Checks without an answer. */
  failures: number;
  /** Tokens marked as rebasing, including those marked before the start. */
  rebasing: number;
}

export interface IngestStatus {
  phase: IngestPhase;
  /** Last block of the final tables. */
  finalTo: number | null;
  /** Newest block that readers can see. */
  indexed: number | null;
  /** Last final block, as last seen. */
  finalNumber: number | null;
  /** Newest block of the node, as last seen. */
  nodeHead: number | null;
  /** Timestamp of `nodeHead`, unix seconds. */
  nodeHeadTimestamp: number | null;
  /** When `nodeHead` last changed, ingester clock, ms. */
  nodeHeadAt: number | null;
  /** Moving average of the time between heads, ms. Null before the second head. */
  headSpacingMs: number | null;
  /** When the ingester began to wait for the next head, ingester clock, ms. Null: it is storing blocks. */
  idleSince: number | null;
  /** Running or interrupted work, by kind. */
  readonly work: Map<RangeWork['kind'], RangeWork>;
  /** The current problem in one sentence. */
  problem: string | null;
  /** When the problem began, ingester clock, ms. */
  problemSince: number | null;
  blocks: number;
  logs: number;
  swaps: number;
  malformedLogs: number;
  /** Skipped transfer and position logs, by reason. */
  skippedTransfers: Readonly<SkippedLogs>;
  readonly balanceChecks: BalanceCheckCounts;
  /** Incomplete ranges below the cursor that were stored again. */
  refills: number;
  /** How often aggregates lacked stored rows and were rebuilt. */
  mends: number;
  /** Reorgs by depth. */
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
    refills: 0,
    mends: 0,
    reorgs: new Map(),
  };
}

/** Records a new head of the node. `now`: ingester clock, ms. */
export function noteHead(
  status: IngestStatus,
  head: Pick<BlockRef, 'number' | 'timestamp'>,
  now: number,
): void {
  // The spacing is measured only if the ingester was waiting when the head arrived.
  if (status.nodeHeadAt !== null && status.idleSince !== null) {
    const gap = now - status.nodeHeadAt;
    status.headSpacingMs = status.headSpacingMs === null ? gap : 0.8 * status.headSpacingMs + 0.2 * gap;
  }
  status.nodeHead = head.number;
  status.nodeHeadTimestamp = head.timestamp;
  status.nodeHeadAt = now;
  status.idleSince = null;
}

/** Records the start of work. Resumed work keeps its first start time. */
export function beginWork(status: IngestStatus, work: Omit<RangeWork, 'since'>, now: number): void {
  const known = status.work.get(work.kind);
  const since = known !== undefined && known.from <= work.from && work.from <= known.to ? known.since : now;
  status.work.set(work.kind, { ...work, since });
}

export function endWork(status: IngestStatus, kind: RangeWork['kind']): void {
  status.work.delete(kind);
}
