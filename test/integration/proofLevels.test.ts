/**
 * Tests the stored level of proof of each block, over restarts, reorgs, crashes and repairs. The stored level must never
 * be stronger than the proof that the stored rows had. The simulation checks the same with random crashes.
 */
import type { Database } from '../../src/clickhouse/client/database';
import { migrate } from '../../src/clickhouse/schema/migrate';
import { SENDERS_CHECKED, writeOperation } from '../../src/clickhouse/schema/operations';
import type { BlockRef, ProofLevel } from '../../src/domain/block';
import type { Hex } from '../../src/domain/hex';
import { createGapStore } from '../../src/ingest/repair/gapStore';
import { setLevels } from '../../src/ingest/repair/reindex';
import { emptyRows, type BlockRows } from '../../src/ingest/rows/blockRows';
import { RowBatch } from '../../src/ingest/rows/rowBatch';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { HeadBook } from '../../src/ingest/store/headBook';
import { createLog } from '../../src/log';
import { readHead } from '../../src/query/head/headState';
import { readPools } from '../../src/ingest/store/storedState';
import { createProvenParts } from '../../src/query/head/provenParts';
import { askRows } from '../support/engine/askRows';
import { openTestStore, type TestStore } from '../support/engine/testStore';

let store: TestStore;
let chainId = 100;
let version = 0;
let commit = 0;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(async () => {
  await store?.close();
});

beforeEach(async () => {
  chainId += 1;
  version = 0;
  await writer().writeStart(refOf(0));
});

const hashOf = (number: number, branch = 0): Hex =>
  `0x${number.toString(16).padStart(32, '0')}${branch.toString(16).padStart(32, '0')}`;

const refOf = (number: number, branch = 0, parent = 0): BlockRef => ({
  number,
  hash: hashOf(number, branch),
  parentHash: hashOf(number - 1, parent),
  timestamp: number,
});

const rowsOf = (ref: BlockRef, proof: ProofLevel): BlockRows => ({ ...emptyRows(ref), proof });

const writer = (database: Database = store.db) => createClickHouseStore(database, chainId);

function batchOf(from: number, levels: readonly ProofLevel[]): RowBatch {
  const batch = new RowBatch();
  levels.forEach((level, index) => batch.add(rowsOf(refOf(from + index), level)));
  return batch;
}

const times = (count: number, level: ProofLevel): ProofLevel[] => Array.from({ length: count }, () => level);

/** A writer process that starts now. */
async function start() {
  const state = (await writer().loadState())!;
  const book = new HeadBook(state);
  return {
    state,
    book,
    async extend(all: readonly BlockRows[], replaces = false): Promise<void> {
      version += 1;
      const change = book.changeTo(all, all.at(-1)!.ref.number, replaces, () => (commit += 1))!;
      await writer().writeHead({ ...change, version, finalNumber: 0 });
      book.note(change);
    },
  };
}

async function proof() {
  return createProvenParts(store.runner, chainId).at((await readHead(store.runner, chainId))!);
}

const part = (level: ProofLevel, from: number, to: number, senders: number | null = null) => ({
  level,
  proven_from: from,
  proven_to: to,
  senders_proven_to: senders,
});

test('the proven part has the level of the newest block and reaches back to the last weaker block', async () => {
  await writer().writeRange(1, batchOf(1, times(5, 'bloom')), null);
  await writer().writeRange(2, batchOf(6, times(5, 'full')), null);
  expect(await proof()).toEqual(part('full', 6, 10));
  // Senders are checked in order from the first block on, and only blocks of the level full can be checked.
  for (const [checked, shown] of [
    [8, 8],
    [12, 10],
    [5, null],
    [0, null],
  ] as const) {
    await writeOperation(store.db, SENDERS_CHECKED, checked);
    expect(await proof()).toEqual(part('full', 6, 10, shown));
  }
  // A range of final blocks has the weakest level of its blocks.
  await writer().writeRange(3, batchOf(11, ['full', 'headers', 'full']), null);
  expect(await proof()).toEqual(part('headers', 6, 13));
  const { extend } = await start();
  await extend([rowsOf(refOf(14), 'full'), rowsOf(refOf(15), 'bloom'), rowsOf(refOf(16), 'full')]);
  expect(await proof()).toEqual(part('full', 16, 16));
  await extend([rowsOf(refOf(17), 'bloom')]);
  expect(await proof()).toEqual(part('bloom', 1, 17));
  const proven = createProvenParts(store.runner, chainId);
  expect(await proven.all(await readHead(store.runner, chainId))).toEqual([
    { level: 'bloom', from: 1, to: 17 },
    { level: 'headers', from: 16, to: 16 },
    { level: 'receipts', from: 16, to: 16 },
    { level: 'full', from: 16, to: 16 },
  ]);
});

test('a reorg replaces the levels of the removed blocks, and a reorg back to the stored branch restores them, also after a restart', async () => {
  await writer().writeRange(1, batchOf(1, ['full']), null);
  const a = [2, 3].map((number) => refOf(number));
  const first = await start();
  await first.extend(a.map((ref) => rowsOf(ref, 'bloom')));
  const b = [refOf(3, 1), refOf(4, 1, 1)];
  await first.extend(
    b.map((ref) => rowsOf(ref, 'full')),
    true,
  );
  expect(await proof()).toEqual(part('full', 3, 4));
  const second = await start();
  await second.extend([rowsOf(a[1]!, 'full'), rowsOf(refOf(4), 'full')], true);
  expect(await proof()).toEqual(part('full', 4, 4));
  await second.extend(
    b.map((ref) => rowsOf(ref, 'bloom')),
    true,
  );
  expect(await proof()).toEqual(part('full', 3, 4));
});

test('a promotion takes only blocks of one level, which their range keeps', async () => {
  const { book, extend } = await start();
  await extend([1, 2, 3].map((number) => rowsOf(refOf(number), number < 3 ? 'bloom' : 'full')));
  for (const [from, to, level] of [
    [1, 2, 'bloom'],
    [3, 3, 'full'],
  ] as const) {
    const { blocks, ...facts } = book.range(from, 3);
    expect({ last: blocks.at(-1)!.number, proof: facts.proof }).toEqual({ last: to, proof: level });
    const last = { toHash: hashOf(to), toTimestamp: to };
    await writer().promote({ seq: from, kind: 'promotion', from, to, ...last, ...facts }, [], false);
    expect(await proof()).toEqual(part('full', 3, 3));
  }
  expect((await readHead(store.runner, chainId))!.blocks).toEqual([]);
});

test('a range that crashes interrupted keeps the weakest level of all its reads', async () => {
  await writer().writeRange(1, batchOf(1, ['full']), null);
  const dying: Database = {
    ...store.db,
    command: (name, ...rest) =>
      name === 'write done' ? Promise.reject(new Error('crash')) : store.db.command(name, ...rest),
  };
  await expect(writer(dying).writeRange(2, batchOf(2, ['full', 'full']), null)).rejects.toThrow('crash');
  const { intent } = (await start()).state;
  expect(intent).toMatchObject({ seq: 2, proof: 'full' });
  await expect(writer(dying).writeRange(2, batchOf(2, ['full', 'receipts']), intent)).rejects.toThrow(
    'crash',
  );
  const later = (await start()).state.intent;
  expect(later).toMatchObject({ seq: 2, proof: 'receipts' });
  expect(await proof()).toEqual(part('full', 1, 1));
  await writer().writeRange(2, batchOf(2, ['full', 'full']), later);
  expect(await proof()).toEqual(part('receipts', 1, 3));
});

test('lost rows that are stored again lower the level of their range if the new read proves less, and never raise it', async () => {
  await writer().writeRange(1, batchOf(1, ['headers']), null);
  await writer().writeRange(2, batchOf(2, ['headers']), null);
  const gaps = createGapStore(store.db, chainId, () => Promise.resolve(new Map()));
  const ends = { from: 1, to: 1, toHash: hashOf(1), toTimestamp: 1 };
  const gap = {
    seq: 1,
    kind: 'backfill',
    ...ends,
    counts: {},
    proof: 'headers',
    missing: new Set<never>(),
  } as const;
  await gaps.refill(gap, batchOf(1, ['full']));
  expect(await proof()).toEqual(part('headers', 1, 2));
  await gaps.refill(gap, batchOf(1, ['bloom']));
  expect(await proof()).toEqual(part('headers', 2, 2));
  expect((await start()).state.cursor).toMatchObject({ seq: 2, number: 2 });
});

test('reindex lowers every range with a block that is proven less, and raises only ranges whose blocks are all proven more', async () => {
  for (const [seq, from] of [1, 3, 5].entries())
    await writer().writeRange(seq + 1, batchOf(from, ['headers', 'headers']), null);
  const deps = { database: store.db, chainId };
  await setLevels(deps, [{ from: 2, to: 3, level: 'full' }], 'raise');
  expect(await proof()).toEqual(part('headers', 1, 6));
  await setLevels(deps, [{ from: 1, to: 6, level: 'full' }], 'lower');
  expect(await proof()).toEqual(part('headers', 1, 6));
  await setLevels(deps, [{ from: 3, to: 6, level: 'receipts' }], 'raise');
  expect(await proof()).toEqual(part('receipts', 3, 6));
  await setLevels(deps, [{ from: 3, to: 6, level: 'full' }], 'raise');
  expect(await proof()).toEqual(part('full', 3, 6));
  await setLevels(deps, [{ from: 1, to: 6, level: 'receipts' }], 'raise');
  expect(await proof()).toEqual(part('full', 3, 6));
  await setLevels(deps, [{ from: 3, to: 3, level: 'receipts' }], 'lower');
  expect(await proof()).toEqual(part('full', 5, 6));
  await setLevels(deps, [{ from: 5, to: 5, level: 'none' }], 'lower');
  expect(await proof()).toEqual(part('none', 1, 6));
});

test('migrations move the levels of an older database into the rows of its ranges and its head, and keep its pools', async () => {
  const { db } = store;
  await writer().writeRange(1, batchOf(1, times(9, 'bloom')), null);
  await writer().writeRange(2, batchOf(10, times(10, 'bloom')), null);
  await writer().writeRange(3, batchOf(20, times(5, 'bloom')), null);
  const { extend } = await start();
  await extend([25, 26, 27].map((number) => rowsOf(refOf(number), 'bloom')));
  for (const table of ['promotions', 'head_blocks'])
    await db.command('drop', `ALTER TABLE ${table} DROP COLUMN proof SETTINGS mutations_sync = 2`);
  await db.command('old pool', `INSERT INTO pools (ord, address) VALUES (5, unhex('${'ab'.repeat(20)}'))`);
  for (const table of ['pools', 'pools_head', 'found_pools'])
    await db.command('drop', `ALTER TABLE ${table} DROP COLUMN scale_decimals SETTINGS mutations_sync = 2`);
  await db.command(
    'forget',
    'ALTER TABLE schema_migrations DELETE WHERE id >= 17 SETTINGS mutations_sync = 2',
  );
  await db.command(
    'old table',
    `CREATE TABLE proof_ranges (chain_id UInt32, from_block UInt32, to_block UInt32,
       level Enum8('bloom' = 1, 'headers' = 2, 'full' = 3), version UInt64)
     ENGINE = ReplacingMergeTree(version) ORDER BY (chain_id, from_block, to_block)`,
  );
  // The newest of several overlapping rows is valid.
  await db.command(
    'old rows',
    `INSERT INTO proof_ranges VALUES (${chainId}, 5, 4294967295, 'full', 1), (${chainId}, 15, 16, 'headers', 2),
       (${chainId}, 26, 4294967295, 'headers', 4), (${chainId}, 5, 9, 'bloom', 3), (${chainId + 1}, 1, 99, 'bloom', 9)`,
  );
  const log = createLog('silent', false);
  expect(await migrate(db, log)).toEqual([
    '0017_proof_levels.sql',
    '0018_receipts_level.sql',
    '0019_rows_of_pairs.sql',
    '0020_scale_decimals.sql',
    '0021_pool_params.sql',
    '0022_pool_ids.sql',
    '0023_hook_bits.sql',
  ]);
  const pools = await readPools(db, 9);
  expect(pools.map(({ address, scale_decimals }) => [address, scale_decimals])).toEqual([
    [`0x${'ab'.repeat(20)}`, []],
  ]);
  const ranges = await askRows(
    db,
    `SELECT from_block, toString(p.proof) AS level FROM promotions AS p WHERE chain_id = ${chainId} AND status = 'done'
     ORDER BY seq`,
  );
  expect(ranges.slice(1)).toEqual([
    { from_block: 1, level: 'bloom' },
    { from_block: 10, level: 'headers' },
    { from_block: 20, level: 'full' },
  ]);
  const proven = createProvenParts(store.runner, chainId);
  const head = await readHead(store.runner, chainId);
  expect(await proven.newest(head)).toEqual(part('headers', 10, 27));
  expect((await proven.all(head)).at(-1)).toEqual({ level: 'full', from: 20, to: 25 });
});
