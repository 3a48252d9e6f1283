/** A writer that starts waits for the inserts that an earlier writer began, and not for others. */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { createClickHouseStore } from '../../../src/ingest/store/clickhouseStore';
import { untilInsertsEnd } from '../../../src/ingest/store/earlierInserts';
import { WriterClaim } from '../../../src/ingest/store/writerClaim';
import { askRows } from '../../support/engine/askRows';
import { silent } from '../../support/engine/embedded';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { eventually } from '../../support/eventually';

const SECONDS = 3;

let places: TestDatabase[];
let databases: Database[];

beforeAll(async () => {
  places = [await createTestDatabase(), await createTestDatabase()];
  databases = places.map(({ writerUrl }) => openDatabase({ url: writerUrl }));
  for (const database of databases) {
    await migrate(database, silent);
    await database.command('create', 'CREATE TABLE slow (n UInt64) ENGINE = MergeTree ORDER BY n');
  }
});

afterAll(async () => {
  for (const database of databases ?? []) await database.close();
  for (const place of places ?? []) await place.drop();
});

/** Begins an insert that runs for SECONDS. Resolves when ClickHouse runs it. */
async function beginInsert(database: Database): Promise<{ readonly end: Promise<void> }> {
  const end = database.command(
    'insert slowly',
    `INSERT INTO slow SELECT number + sleepEachRow(1) FROM numbers(${SECONDS}) SETTINGS max_block_size = 1`,
  );
  const count = async (): Promise<unknown> =>
    askRows(database, `SELECT 1 FROM system.processes WHERE query LIKE 'INSERT INTO slow%'`);
  await eventually(count, (rows) => Array.isArray(rows) && rows.length > 0);
  return { end };
}

const countRows = (database: Database): Promise<unknown> =>
  askRows(database, 'SELECT toUInt32(count()) AS total FROM slow');

test('a claim waits until ClickHouse has stored what an earlier writer inserts', async () => {
  const [database] = databases as [Database];
  const { end } = await beginInsert(database);
  await expect(untilInsertsEnd(database, 0)).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
    message: expect.stringMatching(
      /^ClickHouse still runs inserts that earlier writers began, after 0 s; one has the query id /,
    ),
  });
  const store = createClickHouseStore(
    database,
    1,
    undefined,
    undefined,
    new WriterClaim(database, 1, 'next'),
  );
  await store.claim(1_700_000_000_000);
  expect(await countRows(database)).toEqual([{ total: SECONDS }]);
  await end;
});

test('an insert into another database delays no claim', async () => {
  const [database, other] = databases as [Database, Database];
  const { end } = await beginInsert(other);
  await untilInsertsEnd(database, 0);
  expect(await countRows(other)).toEqual([{ total: 0 }]);
  await end;
});
