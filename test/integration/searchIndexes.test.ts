/** What searches keep in memory against what is stored: names of tokens while they change, and what is verified. */
import { openDatabase, type Database } from '../../src/clickhouse/database';
import { insertRows } from '../../src/clickhouse/inserter';
import { migrate } from '../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../src/clickhouse/namedQueries';
import { tokensTable } from '../../src/clickhouse/tables';
import type { Hex } from '../../src/domain/hex';
import { createLog } from '../../src/log';
import { createTokenNames, type NamedToken } from '../../src/query/tokenNames';
import { createVerifiedIndex } from '../../src/query/verifiedIndex';
import { createTestDatabase, type TestDatabase } from '../support/engine';
import { createRandom } from '../support/createRandom';

const CHAIN = 369;
const TOKENS = 4_000;
const AT_ONCE = { markKeptMs: 0 };
const seed = 20261123;
const random = createRandom(seed);
const WORDS = [
  'Wrapped',
  'pls',
  'DAI',
  'Hex',
  'Äther',
  '🚀',
  'inu',
  'a',
  'A b',
  'PulseX',
  'LP',
  '_',
  '%',
  "'",
  '\\',
];

interface Stored {
  readonly address: Hex;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly version: number;
}

let test_: TestDatabase;
let db: Database;
let runner: QueryRunner;
const stored = new Map<Hex, Stored>();
/** Of the busier tokens. */
const logs = new Map<Hex, number>();

const addressOf = (n: number): Hex => `0x${(n * 7_919 + 1).toString(16).padStart(40, '0')}`;
const word = (): string => random.pick(WORDS);
const some = (): string | null =>
  random() < 0.05 ? null : Array.from({ length: 1 + random.int(3) }, word).join(' ');

async function store(rows: readonly Stored[]): Promise<void> {
  await insertRows(
    db,
    tokensTable,
    rows.map((row) => ({ ...row, decimals: 18 })),
  );
  for (const row of rows)
    if ((stored.get(row.address)?.version ?? -1) <= row.version) stored.set(row.address, row);
}

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, createLog('silent', false));
  runner = createQueryRunner(db, { checkRows: true });
  const rows = Array.from({ length: TOKENS }, (_, n) => ({
    address: addressOf(n),
    symbol: some(),
    name: some(),
    version: 1_000 + random.int(100),
  }));
  await store(rows);
  for (let n = 0; n < 40; n += 1) logs.set(addressOf(random.int(TOKENS)), 1 + random.int(1_000_000));
  const emitted = [...logs].map(
    ([address, count], n) =>
      `SELECT ${CHAIN} AS chain_id, toUInt64(${n}) * 1048576 + number AS ord, unhex('${address.slice(2)}') AS address, 0 AS topic_count FROM numbers(${1 + (count % 50)})`,
  );
  for (const [address, count] of logs) logs.set(address, 1 + (count % 50));
  await db.command(
    'emit',
    `INSERT INTO logs (chain_id, ord, address, topic_count) ${emitted.join(' UNION ALL ')}`,
  );
});

afterAll(async () => {
  await db?.close();
  await test_?.drop();
});

/** 0: all of it, 1: its beginning, 2: that of a word, 3: inside, 4: not there. */
function kindOf({ symbol, name }: Pick<Stored, 'symbol' | 'name'>, text: string): number {
  const kinds = [symbol ?? '', name ?? ''].map((one) => {
    const lower = one.toLowerCase();
    if (lower === text) return 0;
    if (lower.startsWith(text)) return 1;
    return lower.includes(` ${text}`) ? 2 : lower.includes(text) ? 3 : 4;
  });
  return Math.min(...kinds);
}

test('tokens are found by their names as a look at each of them finds them, the busier first', async () => {
  const names = createTokenNames(runner, CHAIN, AT_ONCE);
  const texts = [
    'a',
    'pls',
    'wrapped pls',
    'äther',
    '🚀',
    '_',
    "'",
    '\\',
    '%',
    'a b a',
    'ulse',
    'nobody',
    'x',
  ];
  const isStored = ({ address, symbol, name }: NamedToken): boolean =>
    stored.get(address)!.symbol === symbol && stored.get(address)!.name === name;
  const checkAll = async (): Promise<void> => {
    for (const text of texts) {
      const wanted = [...stored.values()].map((one) => kindOf(one, text)).filter((kind) => kind < 4);
      wanted.sort();
      for (const limit of [1, 100, 30_000]) {
        const found = await names.find(text, limit);
        const what = `${text} ${limit}`;
        const kinds = found.map((one) => kindOf(one, text));
        expect([what, kinds.join('')]).toEqual([what, wanted.slice(0, limit).join('')]);
        expect([what, found.filter((one) => !isStored(one))]).toEqual([what, []]);
        expect(new Set(found.map(({ address }) => address)).size).toBe(found.length);
      }
    }
  };
  await checkAll();
  // Of the same kind the busier ones, as far as they are.
  for (const text of ['a', 'pls', 'hex']) {
    const found = await names.find(text, 30);
    for (const kind of [0, 1]) {
      const busy = [...logs]
        .filter(([address]) => kindOf(stored.get(address)!, text) === kind)
        .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
        .map(([address]) => address);
      const mine = found.filter((one) => kindOf(one, text) === kind).map(({ address }) => address);
      expect(mine.slice(0, busy.length)).toEqual(busy.slice(0, mine.length));
    }
  }
  // Renamed ones, new ones, one that was read of an older block, a merge; then more than are kept beside the others.
  const renamed = [1, 5, 9].map((n) => ({
    address: addressOf(n),
    symbol: some(),
    name: 'x',
    version: 2_000,
  }));
  await store(renamed);
  await checkAll();
  await store([{ address: addressOf(1), symbol: 'x', name: null, version: 2_001 }]);
  await store([{ address: addressOf(TOKENS + 1), symbol: 'a', name: 'new', version: 2_002 }]);
  await checkAll();
  await store([{ address: addressOf(TOKENS + 2), symbol: 'a', name: 'late', version: 3 }]);
  await store([{ address: addressOf(1), symbol: 'not now', name: 'x', version: 5 }]);
  await checkAll();
  await db.command('merge', 'OPTIMIZE TABLE tokens FINAL');
  await checkAll();
  const many = Array.from({ length: 1_500 }, (_, n) => addressOf(TOKENS + 10 + n));
  await store(many.map((address) => ({ address, symbol: some(), name: some(), version: 3_000 })));
  await checkAll();
});

test('no tokens, no names', async () => {
  const empty = await createTestDatabase();
  const other = openDatabase({ url: empty.writerUrl });
  try {
    await migrate(other, createLog('silent', false));
    const names = createTokenNames(createQueryRunner(other, { checkRows: true }), CHAIN, AT_ONCE);
    expect(await names.find('a', 10)).toEqual([]);
  } finally {
    await other.close();
    await empty.drop();
  }
});

test('what is verified is known at once, by its address on its chain and by its code', async () => {
  const index = createVerifiedIndex(runner, AT_ONCE);
  const hashOf = (n: number): Hex => `0x${(n * 31 + 5).toString(16).padStart(64, '0')}`;
  const known = new Set<string>();
  let version = 10;
  const verify = async (
    rows: readonly (readonly [n: number, chain: number, hash: number | null])[],
  ): Promise<void> => {
    const values = rows.map(([n, chain, hash]) => {
      known.add(`${chain} ${addressOf(n)}`);
      if (hash !== null) known.add(hashOf(hash));
      const code = hash === null ? "toFixedString('', 32)" : `unhex('${hashOf(hash).slice(2)}')`;
      return `(${chain}, unhex('${addressOf(n).slice(2)}'), ${code}, 'match', ${(version += 1)})`;
    });
    await db.command(
      'verify',
      `INSERT INTO verified_contracts (chain_id, address, code_hash, status, version) VALUES ${values.join(', ')}`,
    );
  };
  const check = async (): Promise<void> => {
    const set = await index.read();
    for (let n = 0; n < 60; n += 1)
      for (const chain of [369, 943, 1, 113]) {
        const own = known.has(`${chain} ${addressOf(n)}`);
        expect([n, chain, set.has(chain, addressOf(n), null)]).toEqual([n, chain, own]);
        const either = own || known.has(hashOf(n));
        expect([n, chain, set.has(chain, addressOf(n), hashOf(n))]).toEqual([n, chain, either]);
      }
  };
  await check();
  await verify([
    [1, 369, 3],
    [2, 943, null],
    [3, 1, 4],
    [7, 369, 3],
  ]);
  await check();
  await verify([
    [1, 943, 9],
    [9, 369, null],
  ]);
  await verify([[1, 369, 11]]);
  await check();
  await db.command('merge', 'OPTIMIZE TABLE verified_contracts FINAL');
  await check();
  await verify(Array.from({ length: 1_200 }, (_, n) => [n * 3, 369, n * 5] as const));
  await check();
  // Of more than it lists it knows none that is not.
  const short = await createVerifiedIndex(runner, AT_ONCE, 5).read();
  for (let n = 0; n < 60; n += 1) expect(short.has(369, addressOf(n), null)).toBe(true);
});
