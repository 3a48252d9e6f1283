/** Reads a CSV, Parquet or Arrow file with the engine, by columns that the test declares. */
import type { Database } from '../../../src/clickhouse/client/database';
import { askRows } from './askRows';

export type ReadRow = Readonly<Record<string, unknown>>;

/** Number of tables so far, so that each has another name. */
let tableCount = 0;

/** `columns`: names and types as in CREATE TABLE. `writerUrl`: the database that holds the rows temporarily. */
export async function readBack(
  writerUrl: string,
  database: Database,
  bytes: Buffer,
  format: string,
  columns: string,
): Promise<ReadRow[]> {
  tableCount += 1;
  const table = `back_${tableCount}`;
  await database.command('create', `CREATE TABLE ${table} (${columns}) ENGINE = Memory`);
  if (bytes.length > 0) {
    const url = new URL(writerUrl);
    const query = new URLSearchParams({
      database: url.pathname.slice(1),
      // In exported CSV, an empty field is an unknown value.
      format_csv_null_representation: '',
      query: `INSERT INTO ${table} FORMAT ${format}`,
    });
    const answer = await fetch(`${url.origin}/?${query.toString()}`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`,
      },
      body: new Uint8Array(bytes),
    });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  }
  const rows = await askRows<ReadRow>(database, `SELECT * FROM ${table}`);
  await database.command('drop', `DROP TABLE ${table}`);
  return rows;
}
