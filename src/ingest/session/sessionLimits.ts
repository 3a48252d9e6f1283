/** How much an ingest session does at a time. A deployment has the defaults; tests make small worlds meet every limit. */

export interface SessionLimits {
  /** Final blocks wait in the head tables until there are this many: fewer, larger inserts. */
  readonly promoteMinBlocks: number;
  readonly promoteMaxBlocks: number;
  /** Heights kept in the head tables below the final cursor, for readers with an older snapshot. */
  readonly headKeptBlocks: number;
  /** A batch of a backfill ends at whichever comes first. */
  readonly batchLogs: number;
  readonly batchBlocks: number;
  readonly batchMs: number;
  /** How far finality must be beyond our tip before blocks go straight to the final tables. */
  readonly backfillMinBlocks: number;
}

export const SESSION_LIMITS: SessionLimits = {
  promoteMinBlocks: 32,
  promoteMaxBlocks: 256,
  headKeptBlocks: 1_024,
  batchLogs: 40_000,
  batchBlocks: 5_000,
  batchMs: 5_000,
  backfillMinBlocks: 32,
};
