/** Measures the disk space of a row over all parts of its table, against its size as RowBinary. */
import type { Database } from '../../../src/clickhouse/client/database';
import type { Figure } from '../figure';
import { askRows } from '../../../test/support/engine/askRows';

interface StorageAsk {
  readonly table: string;
  /** The content of one row, in words. */
  readonly row: string;
  /** Most bytes that one row may take. */
  readonly target: number;
}

export async function benchStorage(database: Database, asks: readonly StorageAsk[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { table, row, target } of asks) {
    const [found] = await askRows<{ rows: string; stored: string; plain: string }>(
      database,
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) AS stored, sum(data_uncompressed_bytes) AS plain
       FROM system.parts WHERE database = currentDatabase() AND active AND table = {table:String}`,
      { table },
    );
    const rows = Number(found?.rows ?? 0);
    const value = Number(found?.stored ?? 0) / rows;
    const limit = Number(found?.plain ?? 0) / rows;
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
