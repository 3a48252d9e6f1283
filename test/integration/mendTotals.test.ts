/** Aggregates that lost what a view made of a range are made anew before the range counts as done. */
import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { lastOrdOfBlock, toOrd } from '../../src/domain/ord';
import { createClickHouseStore, findWrongTotal } from '../../src/ingest/clickhouseStore';
import { TABLE_ENCODERS } from '../../src/ingest/encodeBlocks';
import type { OpenIntent } from '../../src/ingest/store';
import { createLog } from '../../src/log';
import { createTestDatabase, type TestDatabase } from '../support/engine';
import { CHAIN_ID, FIRST_BLOCK, makeWorld, storeWorld, type World } from './api/world';

const STORED = FIRST_BLOCK + 60;

let test_: TestDatabase;
let db: Database;
let world: World;

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, createLog('silent', false));
  world = makeWorld({ seed: 5, blocks: 80, pools: 6, spacing: 30, events: 4 });
  await storeWorld(db, world, { storedTo: STORED, headFrom: STORED + 1, inserts: 3 });
}, 60_000);

afterAll(async () => {
  await db?.close();
  await test_?.drop();
});

async function intentOf(from: number, to: number): Promise<OpenIntent> {
  const counts: Record<string, number> = {};
  for (const { name } of TABLE_ENCODERS) {
    const where =
      name === 'blocks'
        ? `number BETWEEN ${from} AND ${to}`
        : `ord BETWEEN ${toOrd(from, 0)} AND ${lastOrdOfBlock(to)}`;
    const [row] = await db.select<{ rows: string }>(
      'count',
      `SELECT count() AS rows FROM ${name} WHERE ${where}`,
    );
    counts[name] = Number(row!.rows);
  }
  const { hash, timestamp } = world.blocks.find(({ number }) => number === to)!;
  return { seq: 1, kind: 'promotion', from, to, toHash: hash, toTimestamp: timestamp, counts };
}

const barsOf = async (): Promise<unknown[]> =>
  db.select('bars', 'SELECT * FROM bars FINAL ORDER BY timeframe, pair, leg, bucket');

test.each(['bars', 'dex_hours', 'pair_totals'])(
  'rows that %s lost come back, and no other changes',
  async (table) => {
    const store = createClickHouseStore(db, CHAIN_ID);
    const before = await barsOf();
    expect(before.length).toBeGreaterThan(50);
    const intent = await intentOf(STORED - 20, STORED);
    expect(intent.counts['swaps']).toBeGreaterThan(5);
    await store.auditRange(intent);
    await db.command(
      'lose rows',
      `ALTER TABLE ${table} DELETE WHERE last_ord >= ${toOrd(STORED - 20, 0)} SETTINGS mutations_sync = 2`,
    );
    expect(await findWrongTotal(db, new Map())).not.toBeNull();
    await store.auditRange(intent);
    expect(await findWrongTotal(db, new Map())).toBeNull();
    expect(await barsOf()).toEqual(before);
  },
);

test('a range of which rows are gone is refused, and is not done', async () => {
  const store = createClickHouseStore(db, CHAIN_ID);
  const intent = await intentOf(STORED - 20, STORED);
  const more = { ...intent, counts: { ...intent.counts, swaps: (intent.counts['swaps'] ?? 0) + 1 } };
  const done = async (): Promise<unknown[]> =>
    db.select(
      'done',
      `SELECT * FROM promotions WHERE status = 'done' AND seq = ${intent.seq} AND kind = 'promotion'`,
    );
  await expect(store.promote(more, [], true)).rejects.toThrow(/swaps holds \d+ rows where \d+ are expected/);
  expect(await done()).toEqual([]);
  await store.promote(intent, [], true);
  expect(await done()).toHaveLength(1);
});
