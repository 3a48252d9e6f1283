/** Rows of a statement that only a test runs. Nothing checks their shape: the test says what it expects. */
import type { Database, QueryParams } from '../../src/clickhouse/client/database';

export async function askRows<Row>(
  database: Pick<Database, 'select'>,
  sql: string,
  params: QueryParams = {},
): Promise<Row[]> {
  return (await database.select('test', sql, params)) as Row[];
}
