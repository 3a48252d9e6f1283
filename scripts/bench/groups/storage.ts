/** Measures the disk space of a row over all parts of its table, compared with its size as RowBinary. */
import type { Database } from '../../../src/clickhouse/client/database';
import type { Figure } from '../figure';
import { askRows } from '../../../test/support/engine/askRows';

interface StorageAsk {
  readonly table: string;
  /** The content of one row, in words. */
  readonly row: string;
  /** Largest allowed size of one row, in bytes. */
  readonly target: number;
}

export async function benchStorage(database: Database, asks: readonly StorageAsk[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { table, row, target } of asks) {
    const [tableSize] = await askRows<{ rows: string; stored: string; plain: string }>(
      database,
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) AS stored, sum(data_uncompressed_bytes) AS plain
       FROM system.parts WHERE database = currentDatabase() AND active AND table = {table:String}`,
      { table },
    );
    const rows = Number(tableSize?.rows ?? 0);
    const value = Number(tableSize?.stored ?? 0) / rows;
    const limit = Number(tableSize?.plain ?? 0) / rows;
    figures.push({
      name: `storage of ${rows} rows of ${table}: per ${row}`,
      value,
      unit: 'B',
      limitName: 'uncompressed',
      limit,
      ratio: value / limit,
      target: `<= ${target} B`,
      ok: value <= target,
    });
  }
  return figures;
}
