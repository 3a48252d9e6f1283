/** Tests that rows of tokens are read back as the ingester and the API need them. */
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { tokensTable, type TokenRow } from '../../src/clickhouse/schema/tables';
import type { Hex } from '../../src/domain/hex';
import { TokenBook } from '../../src/ingest/pools/tokenBook';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { Directory } from '../../src/query/tokens/directory';
import { openTestStore, type TestStore } from '../support/engine/testStore';

const tokenAt = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`;
const read = (address: Hex, text: string | null, decimals: number | null): TokenRow => ({
  address,
  symbol: text,
  name: text,
  decimals,
  version: 0,
});

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store?.close());

test('metadata that comes later replaces the earlier row, also for readers that know the token already', async () => {
  const tokens = createClickHouseStore(store.db, 369);
  const book = new TokenBook();
  const [late, known, changed] = [tokenAt(1), tokenAt(2), tokenAt(3)];
  const first = [read(late, null, null), read(known, 'OLD', 6), read(changed, 'C', 6)];
  await tokens.writeTokens(first.map((row) => book.addFirst(row, 4_000_000, false)));
  const directory = new Directory(store.runner);
  await directory.allTokens();
  expect((await directory.listTokens([late])).get(late)?.decimals).toBeNull();

  const next = [read(late, 'LATE', 18), read(known, 'NEW', 6), read(changed, 'C', 18)];
  await tokens.writeTokens(next.flatMap((row) => book.addLater(row, 50, false) ?? []));
  const expected = [
    { address: late, symbol: 'LATE', name: 'LATE', decimals: 18 },
    { address: known, symbol: 'NEW', name: 'NEW', decimals: 6 },
    { address: changed, symbol: 'C', name: 'C', decimals: null },
  ];
  expect((await directory.listTokens([late])).get(late)).toEqual(expected[0]);
  const all = await directory.allTokens();
  expect(expected.map(({ address }) => all.get(address))).toEqual(expected);

  // ClickHouse may keep only the newest row of a token.
  await store.db.command('merge', 'OPTIMIZE TABLE tokens FINAL');
  const rows = await tokens.listTokens();
  expect(rows.every(({ complete }) => complete)).toBe(true);
  const restarted = new TokenBook();
  restarted.load(rows, 5_000_000, []);
  for (const [block, decimals] of [
    [50, [null, 6, 6]],
    [51, [18, 6, null]],
  ] as const) {
    restarted.moveTo(block);
    expect([late, known, changed].map((token) => restarted.decimalsOf(token))).toEqual(decimals);
  }
});

test('an incomplete token keeps its texts, and is asked again after a restart', async () => {
  const tokens = createClickHouseStore(store.db, 369);
  const half = tokenAt(9);
  await insertRows(store.db, tokensTable, [{ ...read(half, null, 18), symbol: 'HALF', version: 7 }]);
  const rows = (await tokens.listTokens()).filter(({ address }) => address === half);
  expect(rows).toEqual([
    { address: half, symbol: 'HALF', name: null, decimals: 18, version: 7, complete: false },
  ]);
  const book = new TokenBook();
  book.load(rows, 100, []);
  expect(book.takeDue(108, 40)).toEqual([half]);
  expect(book.addLater(read(half, null, 18), 108, false)).toBeNull();
  expect(book.addLater({ ...read(half, null, 18), name: 'Half' }, 109, false)).toMatchObject({
    symbol: 'HALF',
    name: 'Half',
    decimals: 18,
  });
});
