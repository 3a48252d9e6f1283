/**
 * Bars of a database of before, whose rows named the ord of each price: read, added to, merged and made anew they are the
 * bars of their swaps.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { createQueryRunner } from '../../src/clickhouse/namedQueries';
import { readStatements } from '../../src/clickhouse/schema';
import type { SwapRow } from '../../src/clickhouse/tables';
import { exchange, rebuildViews } from '../../src/ingest/viewRebuild';
import { createLog } from '../../src/log';
import { verifyAggregates } from '../../src/query/verifyAggregates';
import { createTestDatabase, type TestDatabase } from '../support/engine';
import { SEED } from '../support/seed';
import { createRandom } from './api/random';
import { CHAIN_ID, FIRST_BLOCK, insertFinal, makeWorld, type WorldBlock } from './api/world';

const BEFORE = join(__dirname, '../golden/bars.v12.sql');
const BLOCKS = 240;
const MIGRATION = '0013_bar_ends.sql';
const log = createLog('silent', false);
let test_: TestDatabase;
let db: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, log);
  for (const name of ['mv_bars', 'mv_token_bars']) await db.command('drop', `DROP VIEW ${name} SYNC`);
  for (const name of ['bars', 'token_bars']) await db.command('drop', `DROP TABLE ${name} SYNC`);
  for (const statement of readStatements(readFileSync(BEFORE, 'utf8'))) await db.command('before', statement);
  await db.command(
    'forget',
    'ALTER TABLE schema_migrations DELETE WHERE name = {name:String} SETTINGS mutations_sync = 2',
    { name: MIGRATION },
  );
  for (const name of ['bars', 'token_bars']) await db.command('stop merges', `SYSTEM STOP MERGES ${name}`);
});

afterAll(async () => {
  await db?.close();
  await test_?.drop();
});

/** Swaps of every kind side by side: with both prices of a bar, the first alone, none. */
function priceAll(blocks: readonly WorldBlock[]): void {
  const random = createRandom(SEED + 5);
  for (const block of blocks) {
    const priced = block.swaps.map((swap): SwapRow => {
      const price = random() < 0.8 ? 10 ** (random() * 8 - 4) : 0;
      const usd = price > 0 && random() < 0.6 ? 10 ** (random() * 8 - 4) : 0;
      return {
        ...swap,
        price,
        price_usd: usd,
        quote_price_usd: random() < 0.6 ? 10 ** (random() * 8 - 4) : 0,
        native_usd: random() < 0.6 ? 10 ** (random() * 3 - 4) : 0,
        tracked: random() < 0.9,
      };
    });
    block.swaps.splice(0, block.swaps.length, ...priced);
  }
}

/** What differs between the bars and their swaps, day by day. */
async function differences(): Promise<string[]> {
  const runner = createQueryRunner(db, { checkRows: true });
  const to = FIRST_BLOCK + BLOCKS - 1;
  const range = { chainId: CHAIN_ID, from: FIRST_BLOCK, to, finalTo: to };
  const found = await verifyAggregates(runner, range, () => undefined);
  return found.map(({ item }) => item).filter((item) => /^(token_)?bars /.test(item));
}

async function shapeOf(table: string): Promise<string> {
  const [row] = await db.select<{ shape: string }>(
    'shape',
    'SELECT create_table_query AS shape FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  );
  return row!.shape;
}

test('they are the bars of their swaps after the upgrade, with new ones beside them, merged, and made anew', async () => {
  const { blocks } = makeWorld({ seed: SEED, blocks: BLOCKS, pools: 12, spacing: 150, events: 8 });
  priceAll(blocks);
  // Every other batch before the upgrade, so that most bars have parts of both kinds.
  const batches = Array.from({ length: 24 }, (_, index) => blocks.slice(index * 10, index * 10 + 10));
  for (const batch of batches.filter((_, index) => index % 2 === 0)) await insertFinal(db, batch);
  expect(await migrate(db, log)).toEqual([MIGRATION]);
  expect(await migrate(db, log)).toEqual([]);
  for (const batch of batches.filter((_, index) => index % 2 === 1)) await insertFinal(db, batch);
  const [kinds] = await db.select<Record<string, string>>(
    'kinds',
    `SELECT countIf(open.1 > 0) AS old, countIf(open.1 = 0) AS fresh,
       countIf(first_quote.1 < first.1 AND first.1 < {none:UInt64}) AS both FROM bars`,
    { none: '18446744073709551615' },
  );
  for (const kind of ['old', 'fresh', 'both']) expect(Number(kinds![kind])).toBeGreaterThan(20);
  expect(await differences()).toEqual([]);
  for (const name of ['bars', 'token_bars']) {
    await db.command('start merges', `SYSTEM START MERGES ${name}`);
    await db.command('merge', `OPTIMIZE TABLE ${name} FINAL`);
  }
  expect(await differences()).toEqual([]);
  const old = await shapeOf('bars');
  await exchange(db, await rebuildViews(db, 'swaps', 'swaps'));
  expect(await differences()).toEqual([]);
  expect(old).toContain('open_usd');
  expect(await shapeOf('bars')).not.toContain('open_usd');
});
