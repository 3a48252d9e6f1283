/**
 * Encodes the rows of blocks as RowBinary, one request body per table. In a head table, the first column of
 * each row is the commit.
 */
import { EVENT_TABLE_NAMES, EVENT_TABLES, type EventTableName } from '../../clickhouse/schema/eventTables';
import type { EncodedRows } from '../../clickhouse/rows/inserter';
import { RowWriter } from '../../clickhouse/rows/rowWriter';
import type { Table } from '../../clickhouse/schema/tables';
import type { BlockRows } from './blockRows';

/**
 * The rows of a block, and the commit (number of the write attempt) that their rows carry in the head tables.
 */
export interface HeadBlockRows {
  readonly rows: BlockRows;
  readonly commit: number;
}

interface TableEncoder {
  readonly name: EventTableName;
  readonly columns: readonly string[];
  /**
   * Appends the block's rows of this table. A null `commit` means the final table, which has no commit
   * column.
   */
  write(writer: RowWriter, rows: BlockRows, commit: number | null): void;
}

function encoderOf<K extends EventTableName>(key: K, table: Table<BlockRows[K][number]>): TableEncoder {
  return {
    name: key,
    columns: table.columns,
    write(writer, rows, commit) {
      const list: readonly BlockRows[K][number][] = rows[key];
      for (const row of list) {
        if (commit !== null) writer.u64(commit);
        table.writeRow(writer, row);
      }
    },
  };
}

/** The encoders of all tables, in the order in which a promotion copies the tables. */
export const TABLE_ENCODERS: readonly TableEncoder[] = EVENT_TABLE_NAMES.map((name) =>
  encoderOf(name, EVENT_TABLES[name].table),
);

/**
 * Yields the encoded rows of each head table that has rows. A table is encoded only when the caller asks for
 * the next item.
 */
export function* encodeHeadBlocks(blocks: readonly HeadBlockRows[]): Generator<EncodedRows, void, void> {
  for (const encoder of TABLE_ENCODERS) {
    const rows = blocks.reduce((sum, block) => sum + block.rows[encoder.name].length, 0);
    if (rows === 0) continue;
    const writer = new RowWriter();
    for (const block of blocks) encoder.write(writer, block.rows, block.commit);
    const columns = ['commit', ...encoder.columns];
    yield { table: `${encoder.name}_head`, columns, body: writer.view(), rows };
  }
}
