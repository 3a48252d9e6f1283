/**
 * A writer's claim: ClickHouse refuses statements of an older writer, even statements that the older writer prepared
 * before the newer claim.
 */
import { systemClock, type Clock } from '../../src/node/rpc/clock';
import { openDatabase, type Database } from '../../src/clickhouse/client/database';
import { createQueryRunner } from '../../src/clickhouse/client/namedQueries';
import { migrate } from '../../src/clickhouse/schema/migrate';
import { TABLE_ENCODERS } from '../../src/ingest/rows/encodeBlocks';
import { readColumnTypes, readSchema } from '../../src/clickhouse/schema/schema';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { WriterBeat } from '../../src/ingest/session/standby';
import { findNewestWriter, WriterClaim } from '../../src/ingest/store/writerClaim';
import { createLog } from '../../src/log';
import { encodeWriterState } from '../../src/stream/writerState';
import { createWriterWatch } from '../../src/stream/writerWatch';
import { createTestDatabase, type TestDatabase } from '../support/engine/engine';
import { askRows } from '../support/engine/askRows';

const CHAIN_ID = 369;
const NOW = 1_700_000_000_000;
const HASH = `0x${'ab'.repeat(32)}` as const;
const BASE = { number: 4, hash: HASH, parentHash: HASH, timestamp: 1_700_000_000 };
const FENCED = { code: 'fenced', retryable: false };

let place: TestDatabase;
let database: Database;

beforeAll(async () => {
  place = await createTestDatabase();
  database = openDatabase({ url: place.writerUrl });
  await migrate(database, createLog('silent', false));
});

afterAll(async () => {
  await database.close();
  await place.drop();
});

const claimOf = (name: string): WriterClaim => new WriterClaim(database, CHAIN_ID, name);
const storeOf = (claim: WriterClaim) =>
  createClickHouseStore(database, CHAIN_ID, undefined, undefined, claim);

test('the schema names a type for every column of every event table', () => {
  const schema = readSchema();
  for (const { name, columns } of [
    ...TABLE_ENCODERS,
    { name: 'head_blocks', columns: ['number', 'commit'] },
  ]) {
    const types = readColumnTypes(schema, name);
    for (const column of columns)
      expect([name, column, types.get(column)]).toEqual([name, column, expect.any(String)]);
  }
});

test('a newer claim refuses every statement of an older writer, even if the clock of the older writer is ahead', async () => {
  const [older, newer] = [claimOf('older'), claimOf('newer')];
  const olderStore = storeOf(older);
  const floor = await olderStore.claim(NOW + 3_600_000);
  await olderStore.writeStart(BASE);
  const flip = {
    fresh: [],
    canonical: [{ ...BASE, number: 5, commit: 7 }],
    voided: [],
    version: floor + 1,
    finalNumber: 4,
  };
  await olderStore.writeHead(flip);
  expect(await storeOf(newer).claim(NOW)).toBeGreaterThan(floor);
  await expect(olderStore.writeHead({ ...flip, version: floor + 2 })).rejects.toMatchObject(FENCED);
  await expect(olderStore.writeStart(BASE)).rejects.toMatchObject(FENCED);
  const intent = {
    seq: floor + 1,
    kind: 'promotion',
    from: 5,
    to: 5,
    toHash: HASH,
    toTimestamp: 1,
    counts: {},
    proof: 'full',
  } as const;
  await expect(olderStore.promote(intent, [7], false)).rejects.toMatchObject(FENCED);
  await expect(older.beat('{}')).rejects.toMatchObject(FENCED);
  await expect(olderStore.claim(NOW)).rejects.toMatchObject(FENCED);
  const [row] = await askRows<{ flips: string; ranges: string }>(
    database,
    'SELECT (SELECT toString(count()) FROM head_blocks) AS flips, (SELECT toString(count()) FROM promotions) AS ranges',
  );
  expect(row).toEqual({ flips: '1', ranges: '1' });
});

test('bytes that an older writer sends after a newer claim are not stored', async () => {
  const writer = claimOf('first');
  await writer.take(NOW);
  await database.command('create', 'CREATE TABLE IF NOT EXISTS guarded AS head_blocks');
  const columns = ['number', 'commit'];
  const guard = { condition: writer.condition(), types: ['UInt32', 'UInt64'] };
  const body = Buffer.alloc(12, 1);
  await database.insert('guarded', columns, body, 'token', guard);
  await claimOf('second').take(NOW);
  await expect(database.insert('guarded', columns, body, 'other', guard)).rejects.toMatchObject(FENCED);
  const [row] = await askRows<{ rows: string }>(database, 'SELECT toString(count()) AS rows FROM guarded');
  expect(row).toEqual({ rows: '1' });
});

test('the same process keeps its claim, and its next session gets a claim above all row versions that it used', async () => {
  const writer = claimOf('again');
  const first = await writer.take(NOW);
  writer.note(first + 5_000);
  expect(await writer.take(NOW)).toBe(first + 5_000);
  await writer.beat('{}');
  expect(await findNewestWriter(database, CHAIN_ID)).toMatchObject({ name: 'again', ended: false });
  await writer.end();
  expect(await findNewestWriter(database, CHAIN_ID)).toMatchObject({ name: 'again', ended: true });
});

test('a writer gives a sign of life every 10 s, and at once when its claim or its problems change', async () => {
  const chainId = 8;
  const claim = new WriterClaim(database, chainId, 'beating');
  const stop = new AbortController();
  const beats: number[] = [];
  let now = 0;
  let version: number | null = null;
  const clock: Clock = {
    ...systemClock(),
    now: () => now,
    async sleep(ms) {
      const row = await findNewestWriter(database, chainId);
      if (row !== null && row.version !== version) beats.push(now);
      version = row?.version ?? null;
      now += ms;
      if (now === 4_000)
        version = (await claim.take(NOW), (await findNewestWriter(database, chainId))!.version);
      if (now === 60_000) stop.abort();
    },
  };
  const beat = new WriterBeat({
    ...{ claim, clock, log: createLog('silent', false), state: () => '{}' },
    news: () => (now < 20_000 ? '' : 'node_slow'),
    onFenced: () => undefined,
  });
  await beat.run(stop.signal);
  expect(beats).toEqual([4_000, 14_000, 20_000, 30_000, 40_000, 50_000]);
  expect(await findNewestWriter(database, chainId)).toMatchObject({ ended: true });
});

test('readers see the state of the newest writer, by the clock of ClickHouse, from before its start to its end', async () => {
  const chainId = 5;
  let now = 0;
  const runner = createQueryRunner(database);
  const open = () => createWriterWatch({ runner, chainId, log: createLog('silent', false), now: () => now });
  const [early, other] = [open(), open()];
  expect(early.view()).toBeNull();
  const seen = async (): Promise<string[]> => {
    await Promise.all([early.read(), other.read()]);
    const views = [early, other].map((watch) => watch.view());
    const texts = views.map((view) =>
      [...(view?.problems ?? []), ...(view?.facts?.problems ?? [])].map(({ message }) => message),
    );
    expect(texts[1]).toEqual(texts[0]);
    return texts[0] ?? [];
  };
  expect(await seen()).toEqual(['No ingester has written this database yet']);
  const [first, second] = ['first', 'second'].map((name) => new WriterClaim(database, chainId, name));
  const tell = (text: string) =>
    encodeWriterState({ nodeHead: 7, nodeAnswers: true, problems: [{ code: 'node_slow', message: text }] });
  await first!.take(NOW);
  expect(await seen()).toEqual([]);
  await first!.beat(tell('the node of the first is slow'));
  expect(await seen()).toEqual(['the node of the first is slow']);
  await second!.take(NOW);
  expect(await seen()).toEqual([]);
  await expect(first!.beat(tell('a late state'))).rejects.toMatchObject(FENCED);
  expect(await seen()).toEqual([]);
  await second!.beat(tell('the node of the second is slow'));
  expect(await seen()).toEqual(['the node of the second is slow']);
  expect(early.databaseNow()).toBeGreaterThan(NOW);
  now += 7_999;
  expect(early.view()?.facts?.nodeHead).toBe(7);
  now += 1;
  expect([early.view(), early.databaseNow()]).toEqual([null, null]);
  await second!.end();
  expect(await seen()).toEqual(['The ingester has ended, so no new blocks are stored']);
});

test('a writer whose last sign of life is old by the clock of ClickHouse is away for a reader that starts later', async () => {
  const chainId = 6;
  await database.command(
    'write an old sign of life',
    `INSERT INTO writers SELECT ${chainId}, 9, 9, 'dead', false, toUnixTimestamp64Micro(now64(6)) - 60000000`,
  );
  const runner = createQueryRunner(database);
  const late = createWriterWatch({ runner, chainId, log: createLog('silent', false), now: () => 0 });
  await late.read();
  const [away, ...others] = late.view()?.problems ?? [];
  expect(others).toEqual([]);
  expect(away?.message).toBe('The ingester gives no sign of life, so no new blocks are stored');
  expect(away?.age_seconds).toBeGreaterThanOrEqual(60);
});
