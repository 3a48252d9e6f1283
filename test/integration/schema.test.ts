/** The schema: one truth in clickhouse/schema, the same whether created fresh, twice or by several processes at once. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../src/clickhouse/database';
import { contractCodesTable, createdContractsTable } from '../../src/clickhouse/explorerTables';
import { migrate } from '../../src/clickhouse/migrate';
import { readMigrations } from '../../src/clickhouse/migrations';
import { exchange, rebuildViews } from '../../src/ingest/viewRebuild';
import {
  balanceChecksTable,
  blocksTable,
  headBlocksTable,
  liquidityEventsTable,
  logsTable,
  poolEpochsTable,
  poolsTable,
  poolStatesTable,
  swapsTable,
  tokenPricesTable,
  tokenRoutesTable,
  tokensTable,
  transfersTable,
  positionEventsTable,
} from '../../src/clickhouse/tables';
import {
  abiSignaturesTable,
  importPositionsTable,
  sourceFilesTable,
  sourceUsesTable,
  verifiedContractsTable,
} from '../../src/clickhouse/sourceTables';
import { createLog } from '../../src/log';
import { createTestDatabase, type TestDatabase } from '../support/engine';

const log = createLog('silent', false);
const GOLDEN = join(__dirname, '../golden/schema.sql');
const FIRST_SCHEMA = join(__dirname, '../golden/schema.v1.sql');
const opened: { test: TestDatabase; database: Database }[] = [];

async function open(): Promise<Database> {
  const test = await createTestDatabase();
  const database = openDatabase({ url: test.writerUrl });
  opened.push({ test, database });
  return database;
}

afterAll(async () => {
  for (const { test, database } of opened) {
    await database.close();
    await test.drop();
  }
});

/** Every table and view as the engine prints it, without the database's name. */
async function dump(database: Database): Promise<string> {
  const rows = await database.select<{ sql: string }>(
    'dump',
    `SELECT replaceAll(formatQuery(create_table_query), concat(currentDatabase(), '.'), '') AS sql
     FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
  );
  return rows.map((row) => `${row.sql};\n`).join('\n');
}

/** The key of a table is fixed when it is made, and columns of before stay: see oldBars. */
const withoutBars = (schema: string): string => schema.replace(/CREATE TABLE bars\n[^]*?;\n/, '');

/** A database of before goes on storing the fee of each swap. */
const withoutStoredFees = (schema: string): string =>
  schema.replace(/(`fee_usd` Decimal\(38, 12\)) DEFAULT (.*) CODEC\(ZSTD\(1\)\)/g, '$1 ALIAS $2');

test('a fresh database has the golden schema', async () => {
  const database = await open();
  expect(await migrate(database, log)).toEqual([]);
  const found = await dump(database);
  if (!existsSync(GOLDEN) || process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, found);
  expect(found).toBe(readFileSync(GOLDEN, 'utf8'));
});

test('a database of the first schema is upgraded to the golden one, and keeps its rows', async () => {
  const database = await open();
  const statements = readFileSync(FIRST_SCHEMA, 'utf8').split(';\n\n');
  // Views name the tables they read and write: tables first.
  const views = statements.filter((statement) => statement.startsWith('CREATE MATERIALIZED VIEW'));
  for (const statement of [...statements.filter((item) => !views.includes(item)), ...views]) {
    if (statement.trim() !== '') await database.command('first schema', statement);
  }
  await database.command(
    'row',
    'INSERT INTO swaps (ord, timestamp, price, amount_usd, fee_usd, fee_pips) SELECT 1048576, 1700000000, 2, 100, 7, 2900',
  );
  expect(await migrate(database, log)).toEqual(readMigrations().map((migration) => migration.name));
  const golden = readFileSync(GOLDEN, 'utf8');
  expect(withoutStoredFees(withoutBars(await dump(database)))).toBe(withoutBars(golden));
  const [row] = await database.select<{ trades: string }>('bars', 'SELECT sum(trades) AS trades FROM bars');
  expect(row).toEqual({ trades: '6' });
  expect(await migrate(database, log)).toEqual([]);
  await exchange(database, await rebuildViews(database, 'swaps', 'swaps'));
  expect(withoutStoredFees(await dump(database))).toBe(golden);
  const [again] = await database.select<{ trades: string }>('bars', 'SELECT sum(trades) AS trades FROM bars');
  expect(again).toEqual({ trades: '6' });
  await database.command(
    'another',
    'INSERT INTO swaps (ord, timestamp, price, amount_usd, fee_pips) SELECT 2097152, 1700000010, 2, 100, 2900',
  );
  const fees = 'SELECT toString(sum(fee_usd)) AS fees FROM';
  expect(await database.select('fees', `${fees} swaps`)).toEqual([{ fees: '7.29' }]);
  expect(await database.select('fees', `${fees} bars WHERE timeframe = 60`)).toEqual([{ fees: '7.29' }]);
});

test('migrating twice changes nothing', async () => {
  const database = await open();
  await migrate(database, log);
  const before = await dump(database);
  expect(await migrate(database, log)).toEqual([]);
  expect(await dump(database)).toBe(before);
});

test('three processes may migrate an empty database at once', async () => {
  const database = await open();
  await Promise.all([migrate(database, log), migrate(database, log), migrate(database, log)]);
  expect(await dump(database)).toBe(readFileSync(GOLDEN, 'utf8'));
});

test('the table descriptors are the columns of the tables, head twins with a commit in front', async () => {
  const database = await open();
  await migrate(database, log);
  const rows = await database.select<{ table: string; name: string; type: string }>(
    'list columns',
    `SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND default_kind != 'ALIAS'
     ORDER BY table, position`,
  );
  const columnsOf = (table: string): string[] =>
    rows.filter((row) => row.table === table).map((row) => `${row.name} ${row.type}`);
  const events = [blocksTable, poolsTable, logsTable, poolStatesTable, liquidityEventsTable, swapsTable];
  const prices = [poolEpochsTable, tokenRoutesTable, tokenPricesTable];
  const twins = [...events, ...prices, transfersTable, positionEventsTable, createdContractsTable];
  const sources = [verifiedContractsTable, sourceFilesTable, sourceUsesTable, abiSignaturesTable];
  const others = [headBlocksTable, tokensTable, balanceChecksTable, contractCodesTable, importPositionsTable];
  for (const table of [...twins, ...sources, ...others]) {
    const described = table.columns.map((name, index) => `${name} ${table.sqlTypes[index]}`);
    expect(columnsOf(table.name)).toEqual(described);
    if (!(twins as { name: string }[]).includes(table)) continue;
    expect(columnsOf(`${table.name}_head`)).toEqual(['commit UInt64', ...described]);
  }
});

test('every column of every table has a comment', async () => {
  const database = await open();
  await migrate(database, log);
  const bare = await database.select(
    'list bare columns',
    `SELECT table, name FROM system.columns
     WHERE database = currentDatabase() AND comment = '' AND NOT startsWith(table, 'mv_')`,
  );
  expect(bare).toEqual([]);
});
