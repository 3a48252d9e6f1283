/** What a table says of itself in a moment, by which whoever keeps it in memory knows that it is another one. */
import type { QueryRunner } from '../clickhouse/namedQueries';

/** Differs after every write, and at times after a merge. */
export interface TableMark {
  readonly rows: number;
  readonly newestVersion: number;
}

/** `query`: its one row is both numbers. */
export async function readMark(runner: QueryRunner, query: string): Promise<TableMark> {
  const rows = await runner.read(query, {}, (row) => ({ rows: row.u64(), newestVersion: row.u64() }));
  return rows[0] ?? { rows: 0, newestVersion: 0 };
}

export function isSameMark(one: TableMark, other: TableMark): boolean {
  return one.rows === other.rows && one.newestVersion === other.newestVersion;
}
