/** Runs a SQL statement that only a test needs and returns its rows. The shape of the rows is not checked. */
import type { Database, QueryParams } from '../../../src/clickhouse/client/database';

export async function askRows<Row>(
  database: Pick<Database, 'select'>,
  sql: string,
  params: QueryParams = {},
): Promise<Row[]> {
  return (await database.select('test', sql, params)) as Row[];
}
