/**
 * Batch sizes and thresholds of an ingest session. Deployments use the defaults; tests lower them to reach
 * every limit.
 */

export interface SessionLimits {
  /**
   * A promotion (copy into the final tables) waits until this many blocks are final, so that inserts are few
   * and large.
   */
  readonly promoteMinBlocks: number;
  readonly promoteMaxBlocks: number;
  /**
   * Number of blocks below the last final block whose rows stay in the head tables, for readers with an older
   * snapshot.
   */
  readonly headKeptBlocks: number;
  /** A batch of the backfill is written when it reaches one of these three limits. */
  readonly batchLogs: number;
  readonly batchBlocks: number;
  readonly batchMs: number;
  /**
   * A backfill starts only if the chain's last final block is more than this many blocks above the newest
   * stored block.
   */
  readonly backfillMinBlocks: number;
  /**
   * Largest number of blocks above the last final block. If the final block does not advance, the oldest of them become
   * final by this depth, so that memory stays limited.
   */
  readonly unfinalisedMax: number;
}

export const SESSION_LIMITS: SessionLimits = {
  promoteMinBlocks: 32,
  promoteMaxBlocks: 256,
  headKeptBlocks: 1_024,
  batchLogs: 80_000,
  batchBlocks: 5_000,
  batchMs: 5_000,
  backfillMinBlocks: 32,
  unfinalisedMax: 20_000,
};
