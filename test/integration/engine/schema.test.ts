/**
 * The schema in clickhouse/schema gives the same tables whether created once, twice or by several processes
 * in parallel.
 */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import {
  foundPoolsTable,
  poolBirthsTable,
  poolFirstSharesTable,
  poolSearchTable,
  tokenSuppliesTable,
} from '../../../src/clickhouse/schema/olderPoolTables';
import { EVENT_TABLES } from '../../../src/clickhouse/schema/eventTables';
import { contractCodesTable } from '../../../src/clickhouse/schema/explorerTables';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import {
  balanceChecksTable,
  headBlocksTable,
  oddTokensTable,
  tokensTable,
} from '../../../src/clickhouse/schema/tables';
import {
  abiSignaturesTable,
  importPositionsTable,
  sourceFilesTable,
  sourceUsesTable,
  verifiedContractsTable,
} from '../../../src/clickhouse/schema/sourceTables';
import { createLog } from '../../../src/log';
import { askRows } from '../../support/engine/askRows';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';

const log = createLog('silent', false);
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
  const rows = await askRows<{ sql: string }>(
    database,
    `SELECT replaceAll(formatQuery(create_table_query), concat(currentDatabase(), '.'), '') AS sql
     FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
  );
  return rows.map((row) => `${row.sql};\n`).join('\n');
}

test('migrating twice changes nothing, and three processes can migrate an empty database in parallel', async () => {
  const database = await open();
  expect(await migrate(database, log)).toEqual([]);
  const fresh = await dump(database);
  expect(await migrate(database, log)).toEqual([]);
  expect(await dump(database)).toBe(fresh);
  const other = await open();
  await Promise.all([migrate(other, log), migrate(other, log), migrate(other, log)]);
  expect(await dump(other)).toBe(fresh);
});

test('the table descriptors list the columns of the tables, and the first column of head tables is commit', async () => {
  const database = await open();
  await migrate(database, log);
  const rows = await askRows<{ table: string; name: string; type: string }>(
    database,
    `SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND default_kind != 'ALIAS'
     ORDER BY table, position`,
  );
  const columnsOf = (table: string): string[] =>
    rows.filter((row) => row.table === table).map((row) => `${row.name} ${row.type}`);
  const eventTables = Object.values(EVENT_TABLES).map(({ table }) => table);
  const sources = [verifiedContractsTable, sourceFilesTable, sourceUsesTable, abiSignaturesTable];
  const others = [headBlocksTable, oddTokensTable, tokensTable, balanceChecksTable, contractCodesTable];
  const history = [
    foundPoolsTable,
    poolBirthsTable,
    poolFirstSharesTable,
    tokenSuppliesTable,
    poolSearchTable,
    importPositionsTable,
  ];
  for (const table of [...eventTables, ...sources, ...others, ...history]) {
    const described = table.columns.map((name, index) => `${name} ${table.sqlTypes[index]}`);
    expect(columnsOf(table.name)).toEqual(described);
    if (!eventTables.some(({ name }) => name === table.name)) continue;
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
