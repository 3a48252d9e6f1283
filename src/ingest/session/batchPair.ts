/** Two batches of rows: while one is being written, the other is filled. */
import { RowBatch } from '../rows/rowBatch';
import type { BlockRows } from '../rows/blockRows';
import type { SessionLimits } from './sessionLimits';

export class BatchPair {
  private batch = new RowBatch();
  private spare = new RowBatch();
  private writing: Promise<void> = Promise.resolve();
  private fillStartedAt: number;

  /** `write` must have taken the rows of its batch when it resolves, and must empty the batch. */
  constructor(
    private readonly limits: Pick<SessionLimits, 'batchLogs' | 'batchBlocks' | 'batchMs'>,
    private readonly now: () => number,
    private readonly write: (batch: RowBatch) => Promise<void>,
  ) {
    this.fillStartedAt = now();
  }

  add(rows: BlockRows): void {
    this.batch.add(rows);
  }

  /** Whether the filled batch has reached one of the limits. */
  get isFull(): boolean {
    const { batchLogs, batchBlocks, batchMs } = this.limits;
    const { logs, blocks } = this.batch;
    return logs >= batchLogs || blocks >= batchBlocks || this.now() - this.fillStartedAt > batchMs;
  }

  /** Waits for the batch before, runs `check`, and begins to write the filled batch. Does nothing if it is empty. */
  async flush(check: () => Promise<void>): Promise<void> {
    await this.writing;
    if (this.batch.blocks === 0) return;
    await check();
    const fullBatch = this.batch;
    this.batch = this.spare;
    this.spare = fullBatch;
    this.fillStartedAt = this.now();
    this.writing = this.write(fullBatch);
    this.writing.catch(() => undefined);
  }

  /** Resolves when no batch is being written. Rejects if a write failed. */
  idle(): Promise<void> {
    return this.writing;
  }
}
