/** Tests of row types: each column type reads what the engine sends, and an answer with other columns fails. */
import {
  address,
  array,
  bool,
  enum8,
  f64,
  hash,
  hexBytes,
  i256,
  i32,
  lowText,
  mapOf,
  nullable,
  text,
  u128,
  u256,
  u32,
  u64,
  u8,
  usd,
  wideU64,
} from '../../../src/clickhouse/rows/columns';
import { rowType, tuple } from '../../../src/clickhouse/rows/rowType';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store?.close());

const KINDS = { mint: 1, burn: 2 } as const;

test('each column type reads the values of the engine, in any order of the columns', async () => {
  const row = rowType({
    small: u8,
    list: array(nullable(u32)),
    many: u64,
    most: wideU64,
    below: i32,
    part: f64,
    is: bool,
    wide: u128,
    widest: u256,
    signed: i256,
    amount: usd,
    account: address,
    block: hash,
    words: text,
    word: lowText,
    bytes: hexBytes,
    kind: enum8(KINDS),
    none: nullable(address),
    pair: tuple(u8, text),
    counts: mapOf(u64),
    summed: u64,
  });
  const sql = `SELECT
      map('a', 1::UInt64, '__proto__', 2::UInt64) AS counts, (7::UInt8, 'x')::Tuple(place UInt8, name String) AS pair,
      NULL::Nullable(FixedString(20)) AS none, 'burn'::Enum8('mint' = 1, 'burn' = 2) AS kind, unhex('00ff') AS bytes,
      'low'::LowCardinality(String) AS word, 'é' AS words, unhex(repeat('ab', 32))::FixedString(32) AS block,
      unhex(repeat('0c', 20))::FixedString(20) AS account, '-1.5'::Decimal(38, 12) AS amount,
      -(2::Int256) AS signed, '115792089237316195423570985008687907853269984665640564039457584007913129639935'::UInt256 AS widest,
      '340282366920938463463374607431768211455'::UInt128 AS wide, true AS is, 0.25 AS part, -7::Int32 AS below,
      18446744073709551615 AS most, 9007199254740991::UInt64 AS many, [1, NULL]::Array(Nullable(UInt32)) AS list,
      255::UInt8 AS small, 5::SimpleAggregateFunction(sum, UInt64) AS summed`;
  expect(await store.db.rows('values', sql, {}, row)).toEqual([
    {
      small: 255,
      list: [1, null],
      many: Number.MAX_SAFE_INTEGER,
      most: 2n ** 64n - 1n,
      below: -7,
      part: 0.25,
      is: true,
      wide: 2n ** 128n - 1n,
      widest: 2n ** 256n - 1n,
      signed: -2n,
      amount: -1_500_000_000_000n,
      account: `0x${'0c'.repeat(20)}`,
      block: `0x${'ab'.repeat(32)}`,
      words: 'é',
      word: 'low',
      bytes: '0x00ff',
      kind: 'burn',
      none: null,
      pair: [7, 'x'],
      counts: Object.fromEntries([
        ['a', 1],
        ['__proto__', 2],
      ]),
      summed: 5,
    },
  ]);
});

test.each([
  ['a new column', 'SELECT 1::UInt32 AS a, 2 AS b', 'b is not expected'],
  ['a missing column', 'SELECT 1::UInt32 AS b', 'b is not expected, a is missing; expected UInt32'],
  ['another type', 'SELECT 1::UInt64 AS a', 'a is UInt64; expected UInt32'],
  ['a value that may be null', 'SELECT 1::Nullable(UInt32) AS a', 'a is Nullable(UInt32); expected UInt32'],
])('an answer with %s fails, also without rows', async (_, sql, fault) => {
  const message = `query: the answer has other columns than expected: ${fault}`;
  const read = (statement: string) => store.db.rows('query', statement, {}, rowType({ a: u32 }));
  await expect(read(sql)).rejects.toMatchObject({ code: 'internal', message });
  await expect(read(`${sql} WHERE 0`)).rejects.toMatchObject({ code: 'internal', message });
});
