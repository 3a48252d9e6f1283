/**
 * Checks that a large insert creates few parts in the tables of the views. Each part is a folder of files that the
 * engine must merge.
 */
import { askRows } from '../../support/engine/askRows';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

/** Each swap has a different pair, so each swap makes one bar in all six timeframes. */
const SWAPS = 30_000;

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store?.close());

async function insertSwaps(): Promise<void> {
  await store.db.command(
    'insert swaps',
    `INSERT INTO swaps (ord, timestamp, pair, leg, price)
     SELECT (number + 1) * 1048576, 1700000000 + number, unhex(leftPad(hex(number), 40, '0')), 1, 2
     FROM numbers(${SWAPS})`,
    {},
    'large',
  );
}

test('an insert with over 100,000 groups makes few parts in a view, and none when repeated', async () => {
  await insertSwaps();
  await insertSwaps();
  const parts = await askRows<{ table: string; inserted: string; rows: string }>(
    store.db,
    `SELECT table, toString(max(max_block_number)) AS inserted, toString(sum(rows)) AS rows FROM system.parts
     WHERE database = currentDatabase() AND active AND table IN ('swaps', 'bars') GROUP BY table ORDER BY table`,
  );
  expect(parts.map(({ rows }) => rows)).toEqual([String(6 * SWAPS), String(SWAPS)]);
  // max_block_number counts the blocks of at most 65,409 rows in which ClickHouse inserts. A duplicate block is not
  // stored, but has a number too.
  for (const { inserted } of parts) expect(Number(inserted)).toBeLessThanOrEqual(6);
});
