/**
 * Collects the encoded rows of consecutive blocks for one insert into the final tables. Each block is encoded
 * at once, so that its row objects can be freed. The buffers are reused.
 */
import { RowWriter } from '../../clickhouse/rows/rowWriter';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import type { EncodedRows } from '../../clickhouse/rows/inserter';
import { weakerOf, type BlockRef, type ProofLevel } from '../../domain/block';
import { AppError } from '../../errors';
import { countRows, noCounts, type BlockRows } from './blockRows';
import { TABLE_ENCODERS } from './encodeBlocks';

export class RowBatch {
  private first: BlockRef | null = null;
  private last: BlockRef | null = null;
  private readonly writers = TABLE_ENCODERS.map(() => new RowWriter());
  private readonly totals = noCounts();
  private readLogs = 0;
  private weakest: ProofLevel = 'full';

  get blocks(): number {
    return this.totals.blocks;
  }

  /** Number of logs in the blocks, with the logs that are not stored. */
  get logs(): number {
    return this.readLogs;
  }

  get counts(): Readonly<Record<EventTableName, number>> {
    return { ...this.totals };
  }

  /** First and last block of the batch. Throws if the batch is empty. */
  get range(): { readonly first: BlockRef; readonly last: BlockRef } {
    if (this.first === null || this.last === null)
      throw new AppError('broken_invariant', 'the batch has no blocks');
    return { first: this.first, last: this.last };
  }

  /** The weakest level of proof of the blocks. */
  get proof(): ProofLevel {
    return this.weakest;
  }

  add(rows: BlockRows): void {
    this.first ??= rows.ref;
    this.last = rows.ref;
    this.weakest = weakerOf(this.weakest, rows.proof);
    TABLE_ENCODERS.forEach((encoder, index) => {
      const writer = this.writers[index];
      if (writer !== undefined) encoder.write(writer, rows, null);
    });
    for (const { log_count: logs } of rows.blocks) this.readLogs += logs;
    const counts = countRows([rows]);
    for (const encoder of TABLE_ENCODERS) this.totals[encoder.name] += counts[encoder.name];
  }

  /** Returns the encoded rows of each table that has rows. The bytes are valid until `reset`. */
  encoded(): EncodedRows[] {
    return TABLE_ENCODERS.flatMap((encoder, index) => {
      const rows = this.totals[encoder.name];
      const body = this.writers[index]?.view();
      if (rows === 0 || body === undefined) return [];
      return [{ table: encoder.name, columns: encoder.columns, body, rows }];
    });
  }

  reset(): void {
    this.first = null;
    this.last = null;
    this.readLogs = 0;
    this.weakest = 'full';
    for (const writer of this.writers) writer.reset();
    for (const encoder of TABLE_ENCODERS) this.totals[encoder.name] = 0;
  }
}
