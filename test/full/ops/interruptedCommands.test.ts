/**
 * Kills restore, reindex and the creation of the second chain's database after each of their statements. The
 * next start must reach the same state as without a kill.
 */
import { randomBytes } from 'node:crypto';

import { askRows } from '../../support/engine/askRows';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { runBackup } from '../../../src/commands/data/backup';
import { runReindex } from '../../../src/commands/data/reindex';
import { runRestore } from '../../../src/commands/data/restore';
import { databaseUrl } from '../../../src/commands/chains';
import { openStorage } from '../../../src/commands/storage';
import { loadConfig, type Config } from '../../../src/config';
import { lastOrdOfBlock, toOrd } from '../../../src/domain/ord';
import { silent } from '../../support/engine/embedded';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { startKillingProxy, type KillingProxy } from '../../support/engine/killingProxy';
import { SEED } from '../../support/run/seed';
import { createProgramHome, type ProgramHome } from '../../support/server/runningProgram';

const FIRST = 140;
const LAST = 180;
const never = new AbortController().signal;
const sink = { write: (): void => undefined };

let chain: StubChain;
let home: ProgramHome;
let proxy: KillingProxy;
let target: TestDatabase;
const names = [`${randomBytes(6).toString('hex')}_small`, `${randomBytes(6).toString('hex')}_large`] as const;

beforeAll(async () => {
  chain = await startStubChain({ blocks: LAST, logsPerBlock: 4, pairs: 3 });
  home = await createProgramHome();
  proxy = await startKillingProxy(home.writerUrl);
  target = await createTestDatabase();
  for (const [index, head] of [FIRST, LAST].entries()) {
    chain.setHead(head);
    const program = await home.start([chain.url]);
    await program.untilBlock(head);
    await program.untilPromoted(chain.final);
    await program.stop();
    await runBackup(configOf(home.writerUrl), silent, never, `File('${names[index]}')`, sink);
  }
});

afterAll(async () => {
  const second = openDatabase({ url: home.writerUrl });
  await second.command(
    'drop second',
    `DROP DATABASE IF EXISTS ${databaseOf(databaseUrl(home.writerUrl, { suffix: '_943' }))}`,
  );
  await second.close();
  await target?.drop();
  await proxy?.close();
  await home?.drop();
  await chain?.close();
});

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

function configOf(url: string, more: Readonly<Record<string, string>> = {}): Config {
  const description = JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined });
  const settings = { RPC_URL: chain.url, CHAIN_CONFIG: 'chain.json', CLICKHOUSE_URL: url, ...more };
  return loadConfig(settings, () => description);
}

async function withDatabase<T>(url: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ url });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Every table and view as the engine prints it, without the database's name. */
function dump(url: string): Promise<string[]> {
  return withDatabase(url, async (database) => {
    const rows = await askRows<{ sql: string }>(
      database,
      `SELECT replaceAll(create_table_query, concat(currentDatabase(), '.'), '') AS sql
       FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
    );
    return rows.map(({ sql }) => sql);
  });
}

const TABLES = ['blocks', 'logs', 'swaps', 'pool_states', 'promotions', 'audit_hashes'];
const MERGED = ['bars', 'token_bars', 'dex_hours', 'pair_totals', 'pool_latest', 'token_balances'];

/** A hash over all rows of each table, with rows of the same key merged, without insertion times. */
function hashAll(url: string): Promise<string> {
  const each = [...TABLES, ...MERGED.map((table) => `${table} FINAL`)].map(
    (table) =>
      `SELECT '${table}' AS name, count() AS rows, toString(sum(reinterpretAsUInt128(sipHash128(tuple(
         ${table === 'promotions' ? 'seq, status, to_hash, mapSort(counts)' : table === 'audit_hashes' ? 'from_block, hash' : '*'}
       ))))) AS hash FROM ${table}`,
  );
  return withDatabase(url, async (database) =>
    JSON.stringify(
      await database.select('hash', `SELECT * FROM (${each.join(' UNION ALL ')}) ORDER BY name`),
    ),
  );
}

/** Calls `run` through a proxy that passes on `statements` statements and drops all later ones. Resolves to
 * whether `run` finished. */
async function runKilled(statements: number, run: () => Promise<unknown>): Promise<boolean> {
  proxy.killAfter(statements);
  return run().then(
    () => true,
    () => false,
  );
}

async function startStorage(url: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const storage = await openStorage(configOf(url, more), silent);
  await storage.close();
}

test('the next start continues the creation of the second chain’s database after a kill', async () => {
  const settings = { RPC_URL_943: 'http://127.0.0.1:1' };
  const start = (): Promise<void> => startStorage(proxy.through(home.writerUrl), settings);
  // Numbers of statements before the kill: after the creation of the databases, after the first records, and between
  // the tables. interruptedMigrate.test.ts kills at every statement.
  for (const killed of [1, 2, 3, 5, 30]) expect(await runKilled(killed, start)).toBe(false);
  expect(await runKilled(Infinity, start)).toBe(true);
  expect(proxy.statements().length).toBeGreaterThan(5);
  expect(await dump(databaseUrl(home.writerUrl, { suffix: '_943' }))).toEqual(await dump(home.writerUrl));
  expect(await runKilled(Infinity, start)).toBe(true);
  expect(proxy.statements().filter((sql) => !sql.startsWith('CREATE DATABASE IF NOT EXISTS'))).toEqual([]);
});

test('a restore killed at any statement leaves the old or the new database, and can be repeated', async () => {
  const { writerUrl } = target;
  const restore = (url: string, name: string): Promise<void> =>
    runRestore(configOf(url), silent, `File('${name}')`, { replace: true }, sink);
  const expected: string[] = [];
  for (const name of names) {
    proxy.killAfter(Infinity);
    await restore(proxy.through(writerUrl), name);
    expected.push(await hashAll(writerUrl));
  }
  expect(expected[0]).not.toBe(expected[1]);
  const inPlace = proxy.statements().findIndex((sql) => /^RENAME DATABASE \w+_restored TO/.test(sql)) + 1;
  expect(inPlace).toBeGreaterThan(5);
  let waiting = 0;
  for (let killed = 1; killed <= inPlace; killed += 1) {
    const next = killed % 2 === 0 ? 1 : 0;
    expect(await runKilled(killed, () => restore(proxy.through(writerUrl), names[next]))).toBe(false);
    const started = await startStorage(writerUrl).then(
      () => 'started',
      (error: unknown) => String(error),
    );
    if (started === 'started') expect(expected).toContain(await hashAll(writerUrl));
    else expect(started).toContain('was interrupted: run the restore command again');
    if (started !== 'started') waiting += 1;
    await restore(writerUrl, names[next]);
    expect(await hashAll(writerUrl)).toBe(expected[next]);
  }
  expect(waiting).toBe(1);
  expect(await runKilled(inPlace, () => restore(proxy.through(writerUrl), names[0]))).toBe(false);
  // Existing tables are not created again, so each start gets further.
  const start = (): Promise<unknown> =>
    withDatabase(proxy.through(writerUrl), (database) => migrate(database, silent));
  for (const killed of [1, 1, 10]) expect(await runKilled(killed, start)).toBe(false);
  expect(await runKilled(Infinity, start)).toBe(true);
  expect(await hashAll(writerUrl)).toBe(expected[0]);
  expect(await dump(writerUrl)).toEqual(await dump(home.writerUrl));
});

const within = (from: number, to: number): string =>
  `ord BETWEEN ${toOrd(from, 0)} AND ${lastOrdOfBlock(to)}`;

const DAMAGED = ['swaps', 'logs'];

/** Damaged copies of tables, beside the tables in use. Copying a table takes milliseconds, a mutation takes a
 * second. */
async function prepareDamage(): Promise<void> {
  for (const table of DAMAGED)
    await home.database.command('keep', `CREATE TABLE damaged_${table} CLONE AS ${table}`);
  for (const sql of [
    `ALTER TABLE damaged_swaps UPDATE amount0 = amount0 + 1, price = price * 2 WHERE ${within(40, 42)}`,
    `ALTER TABLE damaged_logs DELETE WHERE ${within(50, 51)}`,
  ])
    await home.database.command('damage', `${sql} SETTINGS mutations_sync = 2`);
}

async function damage(): Promise<void> {
  for (const table of DAMAGED)
    for (const sql of [
      `CREATE TABLE taken CLONE AS damaged_${table}`,
      `EXCHANGE TABLES ${table} AND taken`,
      'DROP TABLE taken SYNC',
    ])
      await home.database.command('damage', sql);
}

/**
 * A reindex is killed at every twelfth statement while it still prepares its tables, and at every third one from then on;
 * with EVERY_KILL=1, at every one. The seed of the run chooses the first statement.
 */
const [PREPARING, EXCHANGING] = process.env['EVERY_KILL'] === '1' ? [1, 1] : [12, 3];

test('a reindex that is killed at a statement and repeated has the result of an uninterrupted reindex', async () => {
  const whole = await hashAll(home.writerUrl);
  const reindex = (url: string): Promise<number> =>
    runReindex(configOf(url), silent, never, { from: 40, to: 60, check: false }, sink);
  await prepareDamage();
  await damage();
  expect(await hashAll(home.writerUrl)).not.toBe(whole);
  expect(await runKilled(Infinity, () => reindex(proxy.through(home.writerUrl)))).toBe(true);
  expect(await hashAll(home.writerUrl)).toBe(whole);
  const statements = proxy.statements();
  const exchanging = statements.findIndex((sql) => sql.startsWith('EXCHANGE TABLES'));
  expect(exchanging).toBeGreaterThan(30);
  await damage();
  const first = 1 + (SEED % PREPARING);
  const stepAt = (killed: number): number => (killed < exchanging - 3 ? PREPARING : EXCHANGING);
  for (let killed = first; killed < statements.length; killed += stepAt(killed)) {
    // A run first drops the tables that the killed run before it left behind.
    const before = (await listLeftovers()).length;
    expect(await runKilled(before + killed, () => reindex(proxy.through(home.writerUrl)))).toBe(false);
    // A reindex that is killed before it exchanges the tables has only left tables behind. The next round starts with
    // these leftovers.
    if (killed < exchanging) continue;
    expect(await reindex(home.writerUrl)).toBe(0);
    expect([killed, await hashAll(home.writerUrl)]).toEqual([killed, whole]);
    expect(await listLeftovers()).toEqual([]);
    await damage();
  }
  expect(await reindex(home.writerUrl)).toBe(0);
  expect(await hashAll(home.writerUrl)).toBe(whole);
});

function listLeftovers(): Promise<unknown[]> {
  return home.database.select(
    'leftovers',
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND (name LIKE 'next_%' OR name LIKE 'staged_%')",
  );
}
