/** What the ingester says of itself: for /readyz, /metrics and the log. Written by the ingester alone. */

export type IngestPhase = 'starting' | 'recovering' | 'backfill' | 'follow' | 'waiting' | 'stopped';

export interface IngestStatus {
  phase: IngestPhase;
  /** Last block of the final tables. */
  finalTo: number | null;
  /** Newest block that readers can see. */
  indexed: number | null;
  /** Newest block of the node, as last seen. */
  nodeHead: number | null;
  /** What is wrong right now, in one sentence. */
  problem: string | null;
  /** When the problem began, unix ms. */
  problemSince: number | null;
  blocks: number;
  logs: number;
  swaps: number;
  malformedLogs: number;
  /** Reorgs by depth. */
  readonly reorgs: Map<number, number>;
  /** When a block was last committed, unix ms. */
  lastCommitAt: number | null;
}

export function newIngestStatus(): IngestStatus {
  return {
    phase: 'starting',
    finalTo: null,
    indexed: null,
    nodeHead: null,
    problem: null,
    problemSince: null,
    blocks: 0,
    logs: 0,
    swaps: 0,
    malformedLogs: 0,
    reorgs: new Map(),
    lastCommitAt: null,
  };
}
