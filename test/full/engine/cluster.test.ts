/** Tests the schema on two shards: placement of rows, deduplication, repair of a shard by replay, and refused
 * statements. */
import { openClusterDatabase, findCluster } from '../../../src/clickhouse/client/cluster';
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { attach } from '../../../src/commands/attach';
import { openStorage } from '../../../src/commands/storage';
import { loadConfig } from '../../../src/config';
import { createClickHouseStore } from '../../../src/ingest/store/clickhouseStore';
import type { OpenIntent } from '../../../src/ingest/store/store';
import { createLog } from '../../../src/log';
import { askRows } from '../../support/engine/askRows';
import { killEngine } from '../../support/engine/embedded';
import {
  CLUSTER_NAME,
  createClusterDatabase,
  startEmbeddedCluster,
  type ClusterDatabase,
  type EmbeddedCluster,
} from '../../support/engine/embeddedCluster';
import { until } from '../../support/eventually';

const log = createLog('silent', false);
const PAIRS = 40;
const CHAIN_ID = 369;
const BLOCK = 2 ** 20;

let cluster: EmbeddedCluster;
const opened: ClusterDatabase[] = [];

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
});

afterAll(async () => {
  // The test need not drop the database, because the cluster's folder contains it and is removed later.
  for (const one of opened) await one.database.close();
  await cluster?.stop();
});

/** Empty tables that an earlier test handed on. */
let left: ClusterDatabase | null = null;

/** Creates a database with empty tables. A passing test hands them on with `leave`, because creating tables
 * takes seconds. */
async function openTables(): Promise<ClusterDatabase> {
  const known = left;
  left = null;
  if (known !== null) return known;
  const one = await createClusterDatabase(cluster);
  opened.push(one);
  await migrate(one.database, log);
  seeded = new Set(await listFilled(one.database.cluster!.nodes[0]!.database));
  return one;
}

async function open(): Promise<Database> {
  return (await openTables()).database;
}

/** Tables that migrations write to. */
let seeded: ReadonlySet<string> = new Set();

async function listFilled(node: Database): Promise<string[]> {
  const rows = await askRows<{ name: string }>(
    node,
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0",
  );
  return rows.map(({ name }) => name);
}

async function leave(database: Database): Promise<void> {
  for (const node of database.cluster!.nodes)
    for (const table of await listFilled(node.database))
      if (!seeded.has(table)) await node.database.command('empty', `TRUNCATE TABLE ${table}`);
  left = opened.find((one) => one.database === database)!;
}

/** Swaps 0 … count - 1 in RowBinary, spread over the pairs. The head table also needs the commit. */
function encodeSwaps(count: number, commit: number | null): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, index) => {
      const row = Buffer.alloc(48);
      row.writeBigUInt64LE(BigInt(commit ?? 0), 0);
      row.writeBigUInt64LE(BigInt(BLOCK + index), 8);
      row.writeUInt32LE(1_700_000_000 + index, 16);
      row.writeUInt8(1 + (index % PAIRS), 39);
      row.writeDoubleLE(1 + index, 40);
      return commit === null ? row.subarray(8) : row;
    }),
  );
}

const COLUMNS = ['ord', 'timestamp', 'pair', 'price'];

async function numberOf(database: Database, sql: string): Promise<number> {
  const [row] = await askRows<{ n: string | number }>(database, sql);
  return Number(row?.n);
}

/** The number of rows on each shard. */
function numbersOf(database: Database, sql: string): Promise<number[]> {
  return Promise.all(database.cluster!.nodes.map((node) => numberOf(node.database, sql)));
}

async function expectSwaps(database: Database, count: number): Promise<void> {
  expect(await numberOf(database, 'SELECT count() AS n FROM swaps')).toBe(count);
  // One swap makes a bar in each of the six timeframes.
  expect(await numberOf(database, 'SELECT sum(trades) AS n FROM bars')).toBe(6 * count);
  expect(await numberOf(database, 'SELECT sum(trades) AS n FROM pair_totals')).toBe(count);
}

async function onNodes(database: Database, sql: string): Promise<void> {
  for (const node of database.cluster!.nodes) await node.database.command('on each node', sql);
}

test('rows are spread over both shards, and the rows of one pair and their view rows are on one shard', async () => {
  const database = await open();
  await database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'a');
  await expectSwaps(database, 1_000);
  for (const rows of await numbersOf(database, 'SELECT count() AS n FROM swaps_local'))
    expect(rows).toBeGreaterThan(200);
  for (const table of ['swaps_local', 'bars_local', 'pair_totals_local']) {
    const pairs = await numbersOf(database, `SELECT uniqExact(pair) AS n FROM ${table}`);
    expect([table, pairs[0]! + pairs[1]!]).toEqual([table, PAIRS]);
  }
  await leave(database);
});

test('an insert repeated with its deduplication token is stored once, in both shards and in the views', async () => {
  const database = await open();
  for (let time = 0; time < 3; time += 1)
    await database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'a');
  await expectSwaps(database, 1_000);
  await database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'b');
  await expectSwaps(database, 2_000);
  await leave(database);
});

const intentOf = (count: number): OpenIntent => ({
  seq: 1,
  proof: 'full',
  kind: 'promotion',
  from: 1,
  to: 1,
  toHash: `0x${'01'.repeat(32)}`,
  toTimestamp: 1,
  counts: { swaps: count },
});

test('a repeated promotion moves each row once, and only the rows of its commits', async () => {
  const database = await open();
  const store = createClickHouseStore(database, CHAIN_ID);
  await database.insert('swaps_head', ['commit', ...COLUMNS], encodeSwaps(1_000, 7));
  await database.insert('swaps_head', ['commit', ...COLUMNS], encodeSwaps(500, 8));
  for (let time = 0; time < 3; time += 1) await store.promote(intentOf(1_000), [7], false);
  await expectSwaps(database, 1_000);
  await store.checkRange(intentOf(1_000));
  await expect(store.checkRange(intentOf(999))).rejects.toThrow('swaps has 1000 rows, expected 999');
  await leave(database);
});

test.each(['swaps_local', 'bars_local', 'pair_totals_local'])(
  'rows that one shard refused because of %s are stored by the replay, in a backfill and in a promotion',
  async (table) => {
    const database = await open();
    const second = database.cluster!.nodes[1]!.database;
    const store = createClickHouseStore(database, CHAIN_ID);
    const never = `ALTER TABLE ${table} ADD CONSTRAINT never CHECK reinterpretAsUInt8(pair) = 1`;
    const insert = (): Promise<void> =>
      database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'backfill');
    await second.command('refuse', never);
    await expect(insert()).rejects.toThrow('is violated');
    // The failed insert stored rows on the first shard. On the second shard the target of at least one view is empty.
    const stored = await numbersOf(database, 'SELECT sum(trades) AS n FROM pair_totals_local');
    const bars = await numbersOf(database, 'SELECT sum(trades) AS n FROM bars_local');
    expect(stored[0]! + bars[0]!).toBeGreaterThan(0);
    expect(stored[1]! === 0 || bars[1]! === 0).toBe(true);
    await second.command('take', `ALTER TABLE ${table} DROP CONSTRAINT never`);
    await insert();
    await expectSwaps(database, 1_000);

    await database.insert('swaps_head', ['commit', ...COLUMNS], encodeSwaps(1_000, 7));
    await second.command('refuse', never);
    await expect(store.promote(intentOf(1_000), [7], false)).rejects.toThrow('is violated');
    await second.command('take', `ALTER TABLE ${table} DROP CONSTRAINT never`);
    await store.promote(intentOf(1_000), [7], false);
    await expectSwaps(database, 2_000);
    await leave(database);
  },
);

test('a dead shard is a retryable error, and repeating the insert after its restart stores every row once', async () => {
  const { database: outliving, writerUrl } = await openTables();
  const database = openClusterDatabase(await findCluster(writerUrl, CLUSTER_NAME), { url: writerUrl });
  await database.insert('swaps', COLUMNS, encodeSwaps(100, null), 'before');
  killEngine(cluster.servers[1]!);
  await expect(database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'a')).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
  });
  await expect(database.select('read', 'SELECT count() FROM swaps')).rejects.toMatchObject({
    code: 'unavailable',
  });
  await until(() => cluster.servers[1]!.status().state === 'up');
  await until(() => database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'a').then(() => true));
  await expectSwaps(database, 1_100);
  await database.close();
  await leave(outliving);
});

test('old partitions of a head table are dropped on every shard, and newer partitions stay', async () => {
  const database = await open();
  const store = createClickHouseStore(database, CHAIN_ID);
  await database.insert('swaps_head', ['commit', ...COLUMNS], encodeSwaps(1_000, 7));
  const newer = `INSERT INTO swaps_head (commit, ord, pair)
    SELECT 8, 300 * ${BLOCK} + number, unhex(leftPad(hex(number % 100), 40, '0')) FROM numbers(500)`;
  await database.command('newer', newer);
  await store.dropHeadBelow(255);
  expect(await numberOf(database, 'SELECT count() AS n FROM swaps_head')).toBe(1_500);
  await store.dropHeadBelow(256);
  expect(await numberOf(database, 'SELECT count() AS n FROM swaps_head')).toBe(500);
  for (const rows of await numbersOf(database, 'SELECT count() AS n FROM swaps_head_local'))
    expect(rows).toBeGreaterThan(50);
  await leave(database);
});

test('migrating again changes nothing, and both servers have the same tables', async () => {
  const database = await open();
  const dump = (node: Database): Promise<unknown[]> =>
    node.select(
      'dump',
      'SELECT create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    );
  const nodes = database.cluster!.nodes.map((node) => node.database);
  const before = await dump(nodes[0]!);
  expect(before.length).toBeGreaterThan(100);
  expect(await dump(nodes[1]!)).toEqual(before);
  expect(await migrate(database, log)).toEqual([]);
  expect(await dump(nodes[0]!)).toEqual(before);
  await leave(database);
});

test('the error for an unknown cluster or an unreachable server names the cluster or server', async () => {
  await expect(findCluster(cluster.writerUrl, 'no_such')).rejects.toThrow(
    `got "no_such"; allowed: ${CLUSTER_NAME}`,
  );
  const { servers } = await findCluster(cluster.writerUrl, CLUSTER_NAME);
  expect(servers.map(({ url }) => new URL(url).host)).toEqual(
    cluster.servers.map(({ writerUrl }) => new URL(writerUrl).host),
  );
  const lone = await startEmbeddedCluster(2);
  try {
    const [, away] = (await findCluster(lone.writerUrl, CLUSTER_NAME)).servers;
    await lone.servers[1]!.stop();
    await expect(findCluster(lone.writerUrl, CLUSTER_NAME)).rejects.toThrow(
      `the server ${away!.name} of the cluster ${CLUSTER_NAME} cannot be reached`,
    );
  } finally {
    await lone.stop();
  }
});

test('a cluster refuses the database of a single server, and a single server refuses the database of a cluster', async () => {
  const one = await createClusterDatabase(cluster);
  opened.push(one);
  const alone = openDatabase({ url: one.writerUrl });
  await migrate(alone, log);
  await expect(migrate(one.database, log)).rejects.toThrow(
    'of one server: set CLICKHOUSE_URL to another database for the cluster',
  );
  const other = await openTables();
  const plain = openDatabase({ url: other.writerUrl });
  await expect(migrate(plain, log)).rejects.toThrow('of a cluster: set CLICKHOUSE_CLUSTER');
  await alone.close();
  await plain.close();
});

test('the data of both chains is stored on the cluster, and commands for a single server explain why they fail', async () => {
  const settings = { CLICKHOUSE_CLUSTER: CLUSTER_NAME, RPC_URL_943: 'http://127.0.0.1:1' };
  const noFile = (): string => '';
  await expect(openStorage(loadConfig(settings, noFile), log)).rejects.toThrow(
    'CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL',
  );
  const url = cluster.writerUrl.replace(/\/\w+$/, '/candlehouse_whole');
  const config = loadConfig({ ...settings, CLICKHOUSE_URL: url }, noFile);
  await expect(attach(config, log)).rejects.toThrow('BACKUP DATABASE … ON CLUSTER');
  const storage = await openStorage(config, log);
  try {
    expect([...storage.writers.keys()].sort()).toEqual([369, 943]);
    for (const database of storage.writers.values()) {
      await database.insert('swaps', COLUMNS, encodeSwaps(1_000, null), 'a');
      await expectSwaps(database, 1_000);
    }
    expect(await numberOf(storage.writer, 'SELECT count() AS n FROM abi_signatures')).toBeGreaterThan(100);
  } finally {
    await storage.close();
    const servers = await findCluster(cluster.writerUrl, CLUSTER_NAME);
    const rest = openClusterDatabase(servers, { url: cluster.writerUrl });
    await onNodes(rest, 'DROP DATABASE IF EXISTS candlehouse_whole SYNC');
    await onNodes(rest, 'DROP DATABASE IF EXISTS candlehouse_whole_943 SYNC');
    await rest.close();
  }
});
