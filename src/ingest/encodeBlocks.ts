/** Block rows as RowBinary bodies, one per table: for the final tables, or with a commit in front for the head tables. */
import type { EncodedRows } from '../clickhouse/inserter';
import { RowWriter } from '../clickhouse/rowWriter';
import {
  blocksTable,
  liquidityEventsTable,
  logsTable,
  poolsTable,
  poolStatesTable,
  swapsTable,
  type EventTableName,
  type Table,
} from '../clickhouse/tables';
import type { BlockRows } from './blockRows';

/** One block's rows; with a commit they go to the head tables. */
export interface BlockToEncode {
  readonly rows: BlockRows;
  readonly commit?: number;
}

interface TableEncoder {
  readonly name: EventTableName;
  readonly columns: readonly string[];
  encode(all: readonly BlockToEncode[], head: boolean): EncodedRows;
}

function encoderOf<K extends EventTableName>(key: K, table: Table<BlockRows[K][number]>): TableEncoder {
  return {
    name: key,
    columns: table.columns,
    encode(all, head) {
      const writer = new RowWriter();
      let count = 0;
      for (const { rows, commit } of all) {
        const list: readonly BlockRows[K][number][] = rows[key];
        for (const row of list) {
          if (head) writer.u64(commit ?? 0);
          table.writeRow(writer, row);
        }
        count += list.length;
      }
      const columns = head ? ['commit', ...table.columns] : table.columns;
      return { table: head ? `${key}_head` : key, columns, body: writer.view(), rows: count };
    },
  };
}

/** In the order in which a range is promoted: what others refer to comes first. */
export const TABLE_ENCODERS: readonly TableEncoder[] = [
  encoderOf('blocks', blocksTable),
  encoderOf('pools', poolsTable),
  encoderOf('logs', logsTable),
  encoderOf('pool_states', poolStatesTable),
  encoderOf('liquidity_events', liquidityEventsTable),
  encoderOf('swaps', swapsTable),
];
