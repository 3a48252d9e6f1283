/**
 * Measures the insert path and the cost of views. Sends the insert requests of a recorded backfill again, to tables
 * with and without views. Sends them once more after ClickHouse has converted their rows to the Native format.
 */
import { INSERT_SETTINGS, type Database } from '../../../../src/clickhouse/client/database';
import type { RecordedInsert } from './backfill';
import { median, type Figure } from '../../figure';

const ROUNDS = 3;

interface InsertBench {
  /** A database that has the tables without views. */
  readonly raw: Database;
  readonly rawUrl: string;
  /** A database that has the tables and the views. */
  readonly full: Database;
}

/** Runs the benchmark. It empties both databases. */
export async function benchInserts(
  inserts: readonly RecordedInsert[],
  { raw, rawUrl, full }: InsertBench,
): Promise<Figure[]> {
  const nativeInserts = await encodeNative(inserts, raw);
  const postNative = createPost(rawUrl);
  const seconds = { asSent: [] as number[], native: [] as number[], withViews: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    seconds.native.push(await timeInserts(raw, nativeInserts, postNative));
    seconds.asSent.push(await timeInserts(raw, inserts, insertInto(raw)));
    seconds.withViews.push(await timeInserts(full, inserts, insertInto(full)));
  }
  const megabytes = inserts.reduce((sum, { body }) => sum + body.length, 0) / 1e6;
  const megabytesPerSecond = (times: readonly number[]): number => megabytes / median(times);
  const makeFigure = (
    key: string,
    name: string,
    value: number,
    limitName: string,
    limit: number,
    target: number,
  ): Figure => ({
    key,
    name,
    value,
    unit: 'MB/s',
    limitName,
    limit,
    ratio: value / limit,
    target: `>= ${target}x`,
    ok: value >= target * limit,
  });
  return [
    makeFigure(
      'insert',
      'insert of the rows as the ingester sends them, no views',
      megabytesPerSecond(seconds.asSent),
      'the same rows as Native bodies',
      megabytesPerSecond(seconds.native),
      0.65,
    ),
    makeFigure(
      'insert_with_views',
      'insert with bars, rollups and balances',
      megabytesPerSecond(seconds.withViews),
      'the same bodies without views',
      megabytesPerSecond(seconds.asSent),
      0.4,
    ),
  ];
}

/** Converts each body to the Native format, in ClickHouse. */
async function encodeNative(inserts: readonly RecordedInsert[], raw: Database): Promise<RecordedInsert[]> {
  const bodies: RecordedInsert[] = [];
  for (const [index, { table, columns, body }] of inserts.entries()) {
    await raw.command('empty', `TRUNCATE TABLE ${table}`);
    await raw.insert(table, columns, body, `encode ${index}`);
    const columnList = columns.join(', ');
    const nativeBody = await raw.selectBinary(
      'encode',
      `SELECT ${columnList} FROM ${table} SETTINGS max_block_size = 10000000, preferred_block_size_bytes = 0`,
      {},
      'Native',
    );
    bodies.push({ table, columns, body: Buffer.from(nativeBody) });
  }
  return bodies;
}

type Insert = (insert: RecordedInsert, token: string) => Promise<void>;

const insertInto =
  (database: Database): Insert =>
  ({ table, columns, body }, token) =>
    database.insert(table, columns, body, token);

/** Inserts Native bodies, with the settings of every insert. */
function createPost(url: string): Insert {
  const { origin, username, password, pathname } = new URL(url);
  return async ({ table, columns, body }, token) => {
    const query = new URLSearchParams({
      database: pathname.slice(1),
      query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Native`,
      insert_deduplication_token: token,
    });
    for (const [name, value] of Object.entries(INSERT_SETTINGS)) query.set(name, String(value));
    const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password };
    const answer = await fetch(`${origin}/?${query.toString()}`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
  };
}

/** Number of inserts so far. Each insert has another token, because ClickHouse ignores an insert with a known token. */
let insertCount = 0;

/** Seconds for all inserts, one after the other, into empty tables. */
async function timeInserts(
  database: Database,
  inserts: readonly RecordedInsert[],
  insert: Insert,
): Promise<number> {
  for (const table of new Set(inserts.map((recorded) => recorded.table)))
    await database.command('empty', `TRUNCATE TABLE ${table}`);
  const startedAt = performance.now();
  for (const recorded of inserts) await insert(recorded, `bench ${(insertCount += 1)}`);
  return (performance.now() - startedAt) / 1000;
}
