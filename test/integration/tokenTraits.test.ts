/** Tests how the API reads traits and logos of tokens: all of them once, and later only rows that were added since. */
import { insertRows } from '../../src/clickhouse/rows/inserter';
import {
  listedTokensTable,
  tokenTraitsTable,
  type TokenTraitRow,
} from '../../src/clickhouse/schema/traitTables';
import type { Hex } from '../../src/domain/hex';
import { createLogoReader, createTraitReader } from '../../src/query/risks/tokenTraits';
import { openTestStore, type TestStore } from '../support/engine/testStore';

const [ONE, OTHER] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const satisfies Hex[];
const START = 1_700_000_000_000;

let store: TestStore;

const measured = (token: Hex, buyers: number, version: number): TokenTraitRow => ({
  token,
  checked_block: 1,
  swaps: 1,
  buys: 0,
  buy_tax: 0,
  sells: 0,
  sell_tax: 0,
  buyers,
  sellers: 0,
  sale_fails: null,
  mintable: null,
  pausable: null,
  bridged: null,
  forked: null,
  kept_at_zero: 0n,
  version,
});

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store?.close());

test('traits come from the newest measurement of each token, even if a row becomes visible after a newer row of another token', async () => {
  const { db, runner } = store;
  const read = createTraitReader(runner);
  const buyers = async () => [...(await read())].map(([token, traits]) => [token, traits.buyers]).sort();
  const put = (...rows: TokenTraitRow[]) => insertRows(db, tokenTraitsTable, rows);
  expect(await buyers()).toEqual([]);
  await put(measured(ONE, 5, START));
  expect(await buyers()).toEqual([[ONE, 5]]);
  const before = await read();
  await put(measured(ONE, 6, START + 200_000));
  expect(await buyers()).toEqual([[ONE, 6]]);
  expect(before.get(ONE)!.buyers).toBe(5);
  await put(measured(OTHER, 7, START + 190_000));
  expect(await buyers()).toEqual([
    [ONE, 6],
    [OTHER, 7],
  ]);
});

test('logos follow each import of a token list, even an import that removes a logo', async () => {
  const { db, runner } = store;
  const read = createLogoReader(runner, 369);
  const put = (logo_url: string, version: number) =>
    insertRows(db, listedTokensTable, [{ chain_id: 369, address: ONE, list: 'a', logo_url, version }]);
  expect([...(await read())]).toEqual([]);
  await put('https://example.com/a.png', START);
  expect([...(await read())]).toEqual([[ONE, 'https://example.com/a.png']]);
  expect(await read()).toBe(await read());
  await put('', START + 1);
  expect([...(await read())]).toEqual([]);
});
