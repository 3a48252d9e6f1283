/** What the ingester says of itself: for /readyz, /metrics and the log. Written by the ingester alone. */
import type { BlockRef } from '../../domain/block';
import type { SkippedLogs } from '../decode/decodeTransfers';

export type IngestPhase = 'starting' | 'recovering' | 'backfill' | 'follow' | 'waiting' | 'stopped';

/** Work on a range of blocks that was begun and not seen to end. */
export interface RangeWork {
  /** `catch_up`: blocks up to the node's head; `refill`: blocks that are missing below the cursor. */
  readonly kind: 'catch_up' | 'refill' | 'promotion';
  readonly from: number;
  readonly to: number;
  /** When it was begun for the first time, ms of the ingester's clock. */
  readonly since: number;
}

/** Comparisons of balances with the node, since the start. */
export interface BalanceCheckCounts {
  rounds: number;
  compared: number;
  mismatches: number;
  /** Checks that ended without an answer. */
  failures: number;
  /** Tokens that are marked, from before the start too. */
  rebasing: number;
}

export interface IngestStatus {
  phase: IngestPhase;
  /** Last block of the final tables. */
  finalTo: number | null;
  /** Newest block that readers can see. */
  indexed: number | null;
  /** Last block that is final by the chain's rule, as last seen. */
  finalNumber: number | null;
  /** Newest block of the node, as last seen. */
  nodeHead: number | null;
  /** Time of that block, unix seconds. */
  nodeHeadTimestamp: number | null;
  /** When the node's head changed last, ms of the ingester's clock. */
  nodeHeadAt: number | null;
  /** Mean time between two heads, ms; null before the second one. */
  headSpacingMs: number | null;
  /** Since when all that the node has shown is stored and the next head is awaited; null while it is not. */
  idleSince: number | null;
  /** What is under way or was interrupted, by kind. */
  readonly work: Map<RangeWork['kind'], RangeWork>;
  /** What is wrong right now, in one sentence. */
  problem: string | null;
  /** When the problem began, ms of the ingester's clock. */
  problemSince: number | null;
  blocks: number;
  logs: number;
  swaps: number;
  malformedLogs: number;
  /** Logs of transfers and positions that were left out, by why. */
  skippedTransfers: Readonly<SkippedLogs>;
  readonly balanceChecks: BalanceCheckCounts;
  /** Ranges below the cursor that were found incomplete and stored again. */
  refills: number;
  /** How often aggregates were found to hold less than what was stored, and were made anew. */
  mends: number;
  /** Reorgs by depth. */
  readonly reorgs: Map<number, number>;
  /** When a block was last committed, ms of the ingester's clock. */
  lastCommitAt: number | null;
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
    lastCommitAt: null,
  };
}

/** The node has shown another head. `now`: ms of the ingester's clock. */
export function noteHead(
  status: IngestStatus,
  head: Pick<BlockRef, 'number' | 'timestamp'>,
  now: number,
): void {
  // Only a head that was waited for tells how far apart they come.
  if (status.nodeHeadAt !== null && status.idleSince !== null) {
    const gap = now - status.nodeHeadAt;
    status.headSpacingMs = status.headSpacingMs === null ? gap : 0.8 * status.headSpacingMs + 0.2 * gap;
  }
  status.nodeHead = head.number;
  status.nodeHeadTimestamp = head.timestamp;
  status.nodeHeadAt = now;
  status.idleSince = null;
}

/** Work begins, or is begun again after a failure: then it goes on from when it was first begun. */
export function beginWork(status: IngestStatus, work: Omit<RangeWork, 'since'>, now: number): void {
  const known = status.work.get(work.kind);
  const since = known !== undefined && known.from <= work.from && work.from <= known.to ? known.since : now;
  status.work.set(work.kind, { ...work, since });
}

export function endWork(status: IngestStatus, kind: RangeWork['kind']): void {
  status.work.delete(kind);
}
