/** Tests how aggregates that lost the rows of a range are rebuilt before the range is marked as done. */
import { lastOrdOfBlock, toOrd } from '../../../src/domain/ord';
import type { Database } from '../../../src/clickhouse/client/database';
import { createClickHouseStore } from '../../../src/ingest/store/clickhouseStore';
import { WriterClaim } from '../../../src/ingest/store/writerClaim';
import { TABLE_ENCODERS } from '../../../src/ingest/rows/encodeBlocks';
import type { Floors } from '../../../src/ingest/store/retention';
import type { OpenIntent } from '../../../src/ingest/store/store';
import type { RebuildProgress } from '../../../src/ingest/repair/viewRebuild';
import { askRows } from '../../support/engine/askRows';
import { CHAIN_ID } from '../../support/worlds/world';
import { makeMarketWorld, storeMarket, WALLETS_PLAN } from '../../support/server/marketServer';
import type { TestStore } from '../../support/engine/testStore';

const STEPS_MIN = 3;
const marketWorld = makeMarketWorld({ ...WALLETS_PLAN, finalTo: 80, storedTo: 80, headFrom: 81 });
const { world, storedTo: STORED } = marketWorld;
let store: TestStore;

beforeAll(async () => {
  store = await storeMarket(marketWorld);
  // Adds rows to tables that the test chain leaves empty, at the positions (ords) of its swaps.
  const one = "toFixedString(unhex(repeat('e1', 20)), 20)";
  for (const sql of [
    `INSERT INTO transfers (ord, timestamp, token, sender, recipient, amount)
     SELECT ord, timestamp, token0, ${one}, pair, 7 FROM swaps`,
    `INSERT INTO position_events (ord, timestamp, manager, token_id, kind, recipient)
     SELECT ord, timestamp, ${one}, ord, 'transfer', pair FROM swaps`,
    `INSERT INTO pool_states SELECT * REPLACE(${one} AS pair, ord + 500 AS ord, [1, 2, 3]::Array(UInt256) AS balances) FROM pool_states`,
  ])
    await store.db.command('more', sql);
});

afterAll(() => store?.close());

async function intentOf(from: number, to: number): Promise<OpenIntent> {
  const counts: Record<string, number> = {};
  for (const { name } of TABLE_ENCODERS) {
    const where =
      name === 'blocks'
        ? `number BETWEEN ${from} AND ${to}`
        : `ord BETWEEN ${toOrd(from, 0)} AND ${lastOrdOfBlock(to)}`;
    const [row] = await askRows<{ rows: string }>(
      store.db,
      `SELECT count() AS rows FROM ${name} WHERE ${where}`,
    );
    counts[name] = Number(row!.rows);
  }
  const { hash, timestamp } = world.blocks.find(({ number }) => number === to)!;
  return { seq: 1, kind: 'promotion', from, to, toHash: hash, toTimestamp: timestamp, counts, proof: 'full' };
}

const TARGETS: readonly (readonly [table: string, ord: string])[] = [
  ['bars', 'greatest(last.1, other_ord)'],
  ['dex_hours', 'last_ord'],
  ['pair_totals', 'last_ord'],
  ['token_bars', 'greatest(last.1, other_ord)'],
  ['token_balances', 'last_ord'],
  ['holder_balances', 'last_ord'],
  ['pool_latest', 'state.1'],
  ['pool_balances', 'state.1'],
  ['token_price_latest', 'price.1'],
  ['owner_positions', 'last_ord'],
];

/** A hash of each table's contents, independent of the order and the parts of its rows. */
async function contents(): Promise<Record<string, string>> {
  const each = TARGETS.map(
    ([table]) => `(SELECT toString(sum(sipHash64(tuple(*)))) FROM ${table} FINAL) AS ${table}`,
  );
  const [row] = await askRows<Record<string, string>>(store.db, `SELECT ${each.join(', ')}`);
  return row!;
}

const NAMES = TARGETS.map(([table]) => table);

/**
 * Tables that a case damages together. A group contains at most one aggregate per source table, because the program
 * rebuilds all aggregates of a source when one of them has lost rows.
 */
const GROUPS: readonly string[][] = [
  ['bars', 'token_balances', 'pool_latest', 'token_price_latest', 'owner_positions'],
  ['dex_hours', 'holder_balances', 'pool_balances'],
  ['pair_totals'],
  ['token_bars'],
];

test('the cases together damage every aggregate table', () => {
  expect(GROUPS.flat().sort()).toEqual([...NAMES].sort());
});

test.each(GROUPS.map((group) => [group]))(
  'the rebuild restores the rows lost in %j and changes no other rows',
  async (damaged) => {
    const intent = await intentOf(STORED - 20, STORED);
    const range = { fromOrd: toOrd(intent.from, 0), toOrd: lastOrdOfBlock(intent.to) };
    const lost: string[] = [];
    const steps: RebuildProgress[] = [];
    const ingested = createClickHouseStore(store.db, CHAIN_ID, undefined, {
      step: { rows: 10, groupBlocks: 4 },
      onProgress: (progress) => steps.push(progress),
      onMended: ({ name }) => lost.push(name.split(' ')[0]!),
    });
    const before = await contents();
    await ingested.checkRange(intent);
    expect(lost).toEqual([]);
    expect(steps).toEqual([]);
    for (const [table, ord] of TARGETS) {
      if (!damaged.includes(table)) continue;
      const [{ rows }] = (await askRows<{ rows: string }>(
        store.db,
        `SELECT count() AS rows FROM ${table} WHERE ${ord} >= ${range.fromOrd}`,
      )) as [{ rows: string }];
      expect([table, Number(rows)]).not.toEqual([table, 0]);
      await store.db.command(
        'lose rows',
        `ALTER TABLE ${table} DELETE WHERE ${ord} >= ${range.fromOrd} SETTINGS mutations_sync = 2`,
      );
    }
    const after = await contents();
    expect(NAMES.filter((table) => after[table] !== before[table]).sort()).toEqual([...damaged].sort());
    await ingested.checkRange(intent);
    expect([...lost].sort()).toEqual([...damaged].sort());
    for (const table of damaged) {
      const own = steps.filter(({ target }) => target === table);
      // Each target table is rebuilt in steps, from no rows of its source to all rows.
      expect([own[0]!.rows, own.at(-1)!.rows]).toEqual([0, own.at(-1)!.rowTotal]);
      expect(own.length).toBeGreaterThan(STEPS_MIN + 1);
    }
    expect(await contents()).toEqual(before);
  },
);

/** The views that make bars, as ClickHouse stores them. */
const barViews = (): Promise<{ name: string; as_select: string }[]> =>
  askRows(
    store.db,
    `SELECT name, as_select FROM system.tables
     WHERE database = currentDatabase() AND name IN ('mv_bars', 'mv_token_bars') ORDER BY name`,
  );

test('a writer whose version has a new timeframe computes its bars when it claims the database', async () => {
  const [before, views] = [await contents(), await barViews()];
  for (const { name, as_select } of views)
    await store.db.command(
      'older view',
      `ALTER TABLE ${name} MODIFY QUERY ${as_select.replace(' 14400,', '')}`,
    );
  for (const table of ['bars', 'token_bars'])
    await store.db.command(
      'older bars',
      `ALTER TABLE ${table} DELETE WHERE timeframe = 14400 SETTINGS mutations_sync = 2`,
    );
  expect([await contents(), await barViews()]).not.toEqual([before, views]);
  const lost: string[] = [];
  const claim = (name: string, floors: Floors): Promise<number> =>
    createClickHouseStore(
      store.db,
      CHAIN_ID,
      () => Promise.resolve(floors),
      { onLost: (one) => lost.push(one.name) },
      new WriterClaim(store.db, CHAIN_ID, name),
    ).claim(Date.now());
  // Older bars cannot be computed from swaps that retention deleted.
  await expect(claim('pruned', new Map([['swaps', 1]]))).rejects.toMatchObject({ code: 'bad_config' });
  for (const name of ['first', 'second']) {
    await claim(name, new Map());
    expect(lost).toEqual(['bars 14400']);
    expect([await contents(), await barViews()]).toEqual([before, views]);
  }
});

test('a range with missing rows is refused and is not marked as done', async () => {
  const ingested = createClickHouseStore(store.db, CHAIN_ID);
  const intent = await intentOf(STORED - 20, STORED);
  const more = { ...intent, counts: { ...intent.counts, swaps: (intent.counts['swaps'] ?? 0) + 1 } };
  const done = async (): Promise<unknown[]> =>
    store.db.select(
      'done',
      `SELECT * FROM promotions WHERE status = 'done' AND seq = ${intent.seq} AND kind = 'promotion'`,
    );
  await expect(ingested.promote(more, [], true)).rejects.toThrow(/swaps has \d+ rows, expected \d+/);
  expect(await done()).toEqual([]);
  await ingested.promote(intent, [], true);
  expect(await done()).toHaveLength(1);
});

test('a writer that is fenced off rebuilds and exchanges no table', async () => {
  const [older, newer] = ['older', 'newer'].map((name) => new WriterClaim(store.db, CHAIN_ID, name));
  const mended: string[] = [];
  const onMended = ({ name }: { readonly name: string }): number => mended.push(name);
  const ingested = createClickHouseStore(store.db, CHAIN_ID, undefined, { onMended }, older);
  const now = Date.now();
  await ingested.claim(now);
  await newer!.take(now);
  await store.db.command('damage', 'TRUNCATE TABLE owner_positions');
  const before = await contents();
  const intent = await intentOf(STORED - 20, STORED);
  await expect(ingested.checkRange(intent)).rejects.toMatchObject({ code: 'fenced' });
  expect(mended).toEqual([]);
  expect(await contents()).toEqual(before);
});

test('a writer that is suspended just before it exchanges rebuilt tables exchanges nothing after a newer claim', async () => {
  await store.db.command('repair', 'TRUNCATE TABLE writers');
  const [older, newer] = ['older', 'newer'].map((name) => new WriterClaim(store.db, CHAIN_ID, name));
  const newerStore = createClickHouseStore(store.db, CHAIN_ID, undefined, {}, newer);
  let exchanges = 0;
  const suspended: Database = {
    ...store.db,
    async command(name, ...rest) {
      if (name.startsWith('exchange ') && exchanges === 0) {
        exchanges += 1;
        await newerStore.claim(Date.now());
      }
      return store.db.command(name, ...rest);
    },
  };
  const ingested = createClickHouseStore(suspended, CHAIN_ID, undefined, {}, older);
  await ingested.claim(Date.now());
  const before = await contents();
  const intent = await intentOf(STORED - 20, STORED);
  await expect(ingested.checkRange(intent)).rejects.toThrow(/mended_\d+_/);
  expect(exchanges).toBe(1);
  expect(await contents()).toEqual(before);
  const left = await askRows(store.db, "SELECT name FROM system.tables WHERE startsWith(name, 'mended_')");
  expect(left).toEqual([]);
});
