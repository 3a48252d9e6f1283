/**
 * Encodes rows of a table descriptor as RowBinary and inserts them as one block, into the final table or its
 * head table.
 */
import type { Database, InsertGuard } from '../client/database';
import { RowWriter } from './rowWriter';
import type { Table } from '../schema/tables';

export interface EncodedRows {
  /** The target table: the head table if a commit was given. */
  readonly table: string;
  readonly columns: readonly string[];
  readonly body: Buffer;
  readonly rows: number;
}

/** Encodes rows. With `commit`, the rows are for the table's head table. Each call returns its own buffer. */
export function encodeRows<Row>(table: Table<Row>, rows: readonly Row[], commit?: number): EncodedRows {
  const writer = new RowWriter();
  for (const row of rows) {
    if (commit !== undefined) writer.u64(commit);
    table.writeRow(writer, row);
  }
  return {
    table: commit === undefined ? table.name : `${table.name}_head`,
    columns: commit === undefined ? table.columns : ['commit', ...table.columns],
    body: writer.view(),
    rows: rows.length,
  };
}

/** Encodes and inserts rows. Sends no statement for an empty list. */
export async function insertRows<Row>(
  database: Database,
  table: Table<Row>,
  rows: readonly Row[],
  options: {
    readonly commit?: number;
    readonly token?: string;
    readonly guard?: InsertGuard | undefined;
  } = {},
): Promise<void> {
  if (rows.length === 0) return;
  const encoded = encodeRows(table, rows, options.commit);
  const { token, guard } = options;
  await database.insert(encoded.table, encoded.columns, encoded.body, token, guard);
}
