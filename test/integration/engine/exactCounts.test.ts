/** Row counts of logs are exact. ClickHouse's own count() by position counts some rows twice (decision 148). */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { createGapStore } from '../../../src/ingest/repair/gapStore';
import { createClickHouseStore } from '../../../src/ingest/store/clickhouseStore';
import { ZERO_HASH } from '../../../src/domain/hex';
import { TABLE_ENCODERS } from '../../../src/ingest/rows/encodeBlocks';
import { askRows } from '../../support/engine/askRows';
import { silent } from '../../support/engine/embedded';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';

const CHAIN_ID = 369;
const BLOCKS = 720;
const LOGS_PER_BLOCK = 42;

let place: TestDatabase;
let database: Database;

beforeAll(async () => {
  place = await createTestDatabase();
  database = openDatabase({ url: place.writerUrl });
  await migrate(database, silent);
  // A few contracts have most logs, so some granules hold logs of one event only.
  await database.command(
    'insert logs',
    `INSERT INTO logs (chain_id, ord, timestamp, address, topic0)
     SELECT ${CHAIN_ID}, (1 + intDiv(number, ${LOGS_PER_BLOCK})) * 1048576 + number % ${LOGS_PER_BLOCK}, 1,
            unhex(leftPad(hex(toUInt32(45 * pow((cityHash64(number) % 1000) / 1000, 4))), 40, '0')),
            unhex(leftPad(hex(if(cityHash64(number, 3) % 4 < 3, 1, 2)), 64, '0'))
     FROM numbers(${BLOCKS * LOGS_PER_BLOCK})`,
  );
});

afterAll(async () => {
  await database.close();
  await place.drop();
});

test('the ingester counts each log once, whichever block it counts up to', async () => {
  const gaps = createGapStore(database, CHAIN_ID, () => Promise.resolve(new Map()));
  const wrong: unknown[] = [];
  for (let block = 24; block < BLOCKS; block += 24) {
    const counted = (await gaps.readStored(block)).get('logs');
    if (counted !== block * LOGS_PER_BLOCK) wrong.push([block, counted]);
  }
  expect(wrong).toEqual([]);
});

test('the check of a replayed range counts each log once', async () => {
  const store = createClickHouseStore(database, CHAIN_ID);
  const counts = Object.fromEntries(TABLE_ENCODERS.map(({ name }) => [name, 0]));
  for (let from = 24; from < BLOCKS; from += 24)
    await store.checkRange({
      ...{ seq: 1, kind: 'backfill', from, to: BLOCKS, toHash: ZERO_HASH, toTimestamp: 1, proof: 'bloom' },
      counts: { ...counts, logs: (BLOCKS + 1 - from) * LOGS_PER_BLOCK },
    });
});

test('a statement of the API or of an analyst counts each log once', async () => {
  const reader = openDatabase({ url: place.readerUrl });
  const wrong: unknown[] = [];
  for (let block = 24; block < BLOCKS; block += 24) {
    const sql = `SELECT toUInt32(count()) AS logs FROM logs WHERE ord > ${block * 1_048_576 + 1_048_575}`;
    const [row] = await askRows<{ logs: number }>(reader, sql);
    if (row?.logs !== (BLOCKS - block) * LOGS_PER_BLOCK) wrong.push([block, row]);
  }
  await reader.close();
  expect(wrong).toEqual([]);
});
