/** Encodes the rows of blocks as RowBinary, one body per table. Each row of a head table begins with its commit. */
import { EVENT_TABLE_NAMES, EVENT_TABLES, type EventTableName } from '../../clickhouse/schema/eventTables';
import type { EncodedRows } from '../../clickhouse/rows/inserter';
import { RowWriter } from '../../clickhouse/rows/rowWriter';
import type { Table } from '../../clickhouse/schema/tables';
import type { BlockRows } from './blockRows';

/** The rows of a block, and the commit that marks these rows in the head tables. */
export interface HeadBlockRows {
  readonly rows: BlockRows;
  readonly commit: number;
}

interface TableEncoder {
  readonly name: EventTableName;
  readonly columns: readonly string[];
  /** Appends the block's rows of this table. If `commit` is null, the rows are for the final table. */
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

/** The tables in the order of promotion. */
export const TABLE_ENCODERS: readonly TableEncoder[] = EVENT_TABLE_NAMES.map((name) =>
  encoderOf(name, EVENT_TABLES[name].table),
);

/** Yields the encoded rows of each head table that has rows. Rows are encoded only when requested. */
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
