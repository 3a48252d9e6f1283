/** Compares search results with the stored rows: token names while they change, and verified contracts. */
import { openDatabase } from '../../src/clickhouse/client/database';
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { migrate } from '../../src/clickhouse/schema/migrate';
import { createQueryRunner } from '../../src/clickhouse/client/namedQueries';
import { tokensTable } from '../../src/clickhouse/schema/tables';
import { ZERO_HASH, type Hex } from '../../src/domain/hex';
import { createLog } from '../../src/log';
import { createLogCounts } from '../../src/query/logs/logCounts';
import { readHitFacts } from '../../src/query/search/search';
import { listTokensNamed } from '../../src/query/search/searchNames';
import { Directory } from '../../src/query/tokens/directory';
import { createTestDatabase } from '../support/engine/engine';
import { createRandom } from '../support/createRandom';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { finalHead } from '../support/worlds/finalHead';

const CHAIN = 369;
const TOKENS = 4_000;
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

let opened: TestStore;
const stored = new Map<Hex, Stored>();
/** Log counts of the tokens with the most logs. */
const logs = new Map<Hex, number>();

const addressOf = (n: number): Hex => `0x${(n * 7_919 + 1).toString(16).padStart(40, '0')}`;
const word = (): string => random.pick(WORDS);
const some = (): string | null =>
  random() < 0.05 ? null : Array.from({ length: 1 + random.int(3) }, word).join(' ');

async function store(rows: readonly Stored[]): Promise<void> {
  await insertRows(
    opened.db,
    tokensTable,
    rows.map((row) => ({ ...row, decimals: 18 })),
  );
  for (const row of rows)
    if ((stored.get(row.address)?.version ?? -1) <= row.version) stored.set(row.address, row);
}

beforeAll(async () => {
  opened = await openTestStore();
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
  await opened.db.command(
    'emit',
    `INSERT INTO logs (chain_id, ord, address, topic_count) ${emitted.join(' UNION ALL ')}`,
  );
});

afterAll(() => opened?.close());

/** Quality of a match. 0: whole text, 1: prefix, 2: prefix of a word, 3: substring, 4: no match. */
function kindOf({ symbol, name }: Pick<Stored, 'symbol' | 'name'>, text: string): number {
  const kinds = [symbol ?? '', name ?? ''].map((one) => {
    const lower = one.toLowerCase();
    if (lower === text) return 0;
    if (lower.startsWith(text)) return 1;
    return lower.includes(` ${text}`) ? 2 : lower.includes(text) ? 3 : 4;
  });
  return Math.min(...kinds);
}

test('the token search uses current names, and ranks equal matches by log count', async () => {
  const directory = new Directory(opened.runner);
  const counts = await createLogCounts({ runner: opened.runner, chainId: CHAIN }).at({
    version: '1',
    finalTo: 4_000_000,
    blocks: [],
  });
  const checkAll = async (): Promise<void> => {
    const tokens = await directory.allTokens();
    for (const text of ['a', 'pls', 'wrapped pls', 'äther', '🚀', '_', "'", '\\', '%', 'nobody', 'x']) {
      const wanted = [...stored.values()]
        .map((one) => ({ ...one, kind: kindOf(one, text), logs: logs.get(one.address) ?? 0 }))
        .filter(({ kind }) => kind < 4)
        .sort((a, b) => a.kind - b.kind || b.logs - a.logs || (a.address < b.address ? -1 : 1));
      const found = await listTokensNamed(tokens.values(), counts, text, 100);
      expect([text, found.map(({ address }) => address)]).toEqual([
        text,
        wanted.slice(0, 100).map(({ address }) => address),
      ]);
    }
  };
  await checkAll();
  // Changes of token names: renamed tokens, new tokens, a row read at an older block, and a merge of parts.
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
  await opened.db.command('merge', 'OPTIMIZE TABLE tokens FINAL');
  await checkAll();
});

test('a token search in an empty database finds nothing', async () => {
  const empty = await createTestDatabase();
  const other = openDatabase({ url: empty.writerUrl });
  try {
    await migrate(other, createLog('silent', false));
    const nothing = createQueryRunner(other);
    const counts = await createLogCounts({ runner: nothing, chainId: CHAIN }).at({
      version: '1',
      finalTo: 4_000_000,
      blocks: [],
    });
    const tokens = await new Directory(nothing).allTokens();
    expect(await listTokensNamed(tokens.values(), counts, 'a', 10)).toEqual([]);
  } finally {
    await other.close();
    await empty.drop();
  }
});

test('a search hit is verified if its current code is verified on any chain, or if its address is verified and a code is unknown', async () => {
  const hashOf = (n: number): Hex => `0x${(n * 31 + 5).toString(16).padStart(64, '0')}`;
  const addresses = Array.from({ length: 60 }, (_, n) => addressOf(n));
  const code = (n: number, hash: Hex, at: number): string =>
    `(unhex('${addressOf(n).slice(2)}'), unhex('${hash.slice(2)}'), 9, ${at})`;
  // Every second contract has code. The search ignores earlier code of an address, and code that was removed.
  const codes = addresses.flatMap((_, n) =>
    n % 2 === 1 ? [] : [code(n, hashOf(n + 1), 1), code(n, n % 10 === 0 ? ZERO_HASH : hashOf(n), 2)],
  );
  await opened.db.command(
    'codes',
    `INSERT INTO contract_codes (address, code_hash, code_size, version) VALUES ${codes.join(', ')}`,
  );
  const known = new Set<string>();
  /** The newest verified code by chain and address; null for an unknown one. */
  const own = new Map<string, number | null>();
  let version = 10;
  const verify = async (
    rows: readonly (readonly [n: number, chain: number, hash: number | null])[],
  ): Promise<void> => {
    const values = rows.map(([n, chain, hash]) => {
      own.set(`${chain} ${addressOf(n)}`, hash);
      if (hash !== null) known.add(hashOf(hash));
      const bytes = hash === null ? "toFixedString('', 32)" : `unhex('${hashOf(hash).slice(2)}')`;
      return `(${chain}, unhex('${addressOf(n).slice(2)}'), ${bytes}, 'match', ${(version += 1)})`;
    });
    await opened.db.command(
      'verify',
      `INSERT INTO verified_contracts (chain_id, address, code_hash, status, version) VALUES ${values.join(', ')}`,
    );
  };
  const check = async (): Promise<void> => {
    for (const chainId of [369, 943]) {
      const moment = { source: { runner: opened.runner, chainId }, head: finalHead(1) };
      const { verified } = await readHitFacts(opened.database, moment, addresses, true);
      const wanted = addresses.filter(
        (address, n) =>
          own.get(`${chainId} ${address}`) === null ||
          (n % 2 === 1 && own.has(`${chainId} ${address}`)) ||
          (n % 2 === 0 && n % 10 !== 0 && known.has(hashOf(n))),
      );
      expect([chainId, [...verified].sort()]).toEqual([chainId, wanted.sort()]);
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
    [5, 1, 10],
  ]);
  await verify([[1, 369, 12]]);
  await check();
  await opened.db.command('merge', 'OPTIMIZE TABLE verified_contracts FINAL');
  await check();
  await verify(Array.from({ length: 1_200 }, (_, n) => [n * 3, 369, n * 5] as const));
  await check();
});
