/** Search results and contract lists: verified tokens, contracts with the same code, addresses and
 * signatures. */
import { id } from 'ethers';

import { contractCodesTable } from '../../../../src/clickhouse/schema/explorerTables';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { createQueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import { logsTable, tokensTable, type LogRow } from '../../../../src/clickhouse/schema/tables';
import { createByteCache } from '../../../../src/api/byteCache';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { createVerifiedStore } from '../../../../src/contracts/storeVerified';
import type { NodeRelay } from '../../../../src/query/head/nodeRelay';
import { createSignatureReader } from '../../../../src/query/contracts/signatures';
import {
  multi,
  openDialectWorld,
  single,
  SINGLE,
  STORED_TO,
  TIP,
  type DialectWorld,
} from '../etherscan/etherscanWorld';
import type { Json } from '../../../support/server/apiServer';
import { startExplorer, type ExplorerServer } from './explorerServer';
import { wordOf } from './logWorld';
import { hexOf } from '../../../support/worlds/worldEvents';
import { logRow } from '../../../support/worlds/logRow';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const COPY = hexOf('c9', 1, 40);
const TWIN = hexOf('c9', 2, 40);
const CODE = hexOf('cd', 1, 64);
const MANY = 2_300;
const DEX = { name: 'quince_v3', displayName: 'Quince Swap', factory: hexOf('fa', 9, 40) };
/** An example of EIP-55 with its last letter in the wrong case. */
const WRONG_CHECKSUM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD';

let world: DialectWorld;
let explorer: ExplorerServer;

interface Hit {
  readonly type: string;
  readonly title: string;
  readonly address?: string;
  readonly verified: boolean;
  readonly score: number;
}

async function hits(q: string): Promise<Hit[]> {
  const { status, json } = await explorer.get(`/search?limit=100&q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
  return json['data'] as never;
}

beforeAll(async () => {
  world = await openDialectWorld(20261122);
  const { database } = world;
  const token = { symbol: 'ZZTOP', name: 'Zz Top', decimals: 18, version: 1 };
  await insertRows(database, tokensTable, [
    { address: SINGLE, ...token },
    { address: COPY, ...token },
  ]);
  await insertRows(database, contractCodesTable, [
    {
      address: TWIN,
      checked_block: TIP,
      code_hash: CODE,
      code_size: 9,
      proxy: '',
      implementation: ZERO_ADDRESS,
      beacon: ZERO_ADDRESS,
      facets: '',
      fixed: true,
      version: 1,
    },
  ]);
  await insertRows(database, logsTable, [...transfersOf(COPY, MANY), ...transfersOf(TWIN, 1)]);
  const runner = createQueryRunner(database);
  const named = { ...multi.contract, name: 'Granary' };
  const indexed = [true, false].map((each) => ({
    type: 'event',
    name: 'Stored',
    inputs: [{ name: 'to', type: 'address', indexed: each }],
  }));
  await createVerifiedStore(database, runner).store([
    { ...multi, contract: { ...named, abi: [indexed[0]!] }, codeHash: CODE },
    { ...single, contract: { ...single.contract, abi: [indexed[1]!] } },
  ]);
  const deps = {
    ...world.deps,
    cache: createByteCache(),
    signatures: createSignatureReader(runner),
    namesOf: () => ({ dexes: [DEX], pairs: () => [] }),
  };
  explorer = await startExplorer(deps, () => world.head);
});

afterAll(async () => {
  await explorer?.close();
  await world?.close();
});

/** Makes `count` transfers of a token, all in one final block. */
function transfersOf(address: Hex, count: number): LogRow[] {
  const block = world.blocks.find(({ number }) => number === STORED_TO)!;
  return Array.from({ length: count }, (_, index) =>
    logRow({
      ord: toOrd(block.number, 1_000 + index),
      timestamp: block.timestamp,
      address,
      topics: [TRANSFER, wordOf(1), wordOf(2)],
      data: hexOf('00', index, 64),
      tx_hash: hexOf('7e', block.number, 64),
      tx_index: 9,
    }),
  );
}

test('a verified token is marked as verified and ranks before a busier unverified copy', async () => {
  const [first, second] = await hits('zztop');
  expect(first).toMatchObject({ type: 'token', address: SINGLE, title: 'ZZTOP', verified: true });
  expect(second).toMatchObject({ type: 'token', address: COPY, title: 'ZZTOP', verified: false });
  expect(first!.score).toBeGreaterThan(second!.score);
  // A search for the name of the contract, which differs from the token's symbol, finds the same token.
  expect(await hits('vault')).toContainEqual(
    expect.objectContaining({ type: 'token', address: SINGLE, title: 'Vault', verified: true }),
  );
  expect(await hits(SINGLE)).toMatchObject([{ type: 'token', address: SINGLE, verified: true }]);
});

test('a search finds a contract by its displayed name, which is its own name or the name of a contract with the same code', async () => {
  const { json } = await explorer.get('/contracts?q=granary');
  const names = json['data']!.map((each) => [each['address'], each['name'], each['verified']]);
  expect(names.sort()).toEqual(
    [
      [multi.contract.address, 'Granary', true],
      [TWIN, 'Granary', true],
    ].sort(),
  );
  expect(json['meta']).toMatchObject({ total: 2 });
  const found = (await hits('granary')).map(({ type, address, verified }) => [type, address, verified]);
  expect(found.sort()).toEqual(
    [
      ['contract', multi.contract.address, true],
      ['contract', TWIN, true],
    ].sort(),
  );
});

test('an exact name ranks before a longer name, verified or not', async () => {
  const [whole, longer] = [hexOf('c9', 3, 40), SINGLE];
  const token = { name: null, decimals: 18, version: 2 };
  await insertRows(world.database, tokensTable, [
    { address: whole, ...token, symbol: 'QUIRK' },
    { address: longer, ...token, symbol: 'QUIRKY' },
  ]);
  expect((await hits('quirk')).map(({ address, verified }) => [address, verified])).toEqual([
    [whole, false],
    [longer, true],
  ]);
});

test('a search finds a renamed token by its current name only', async () => {
  const address = hexOf('c9', 4, 40);
  for (const [version, symbol, name] of [
    [3, 'WARTHOG', 'Warthog Coin'],
    [5, 'APTERYX', null],
  ] as const)
    await insertRows(world.database, tokensTable, [{ address, decimals: 18, version, symbol, name }]);
  expect(await hits('warthog')).toEqual([]);
  expect(await hits('apteryx')).toMatchObject([{ type: 'token', address, title: 'APTERYX', subtitle: null }]);
});

test('a search finds a transaction without logs through the node', async () => {
  const [mined, pending, nobody] = [hexOf('f1', 1, 64), hexOf('f1', 2, 64), hexOf('f1', 3, 64)];
  const blocks = new Map([
    [mined, `0x${(TIP - 1).toString(16)}`],
    [pending, null],
  ]);
  const relayOf = (): NodeRelay => ({
    call: (_method, [hash]) => {
      const blockNumber = blocks.get(hash as Hex);
      return Promise.resolve({ result: blockNumber === undefined ? null : { hash, blockNumber } });
    },
  });
  const server = await startExplorer({ ...world.deps, relayOf }, () => world.head);
  try {
    const found = async (hash: Hex): Promise<unknown> => (await server.get(`/search?q=${hash}`)).json['data'];
    expect(await found(mined)).toMatchObject([
      { type: 'tx', hash: mined, subtitle: `Transaction of block ${TIP - 1}` },
    ]);
    expect([await found(pending), await found(nobody)]).toEqual([[], []]);
  } finally {
    await server.close();
  }
});

test.each([DEX.name, DEX.displayName])(
  'a search for %s finds the DEX, with the address of its factory',
  async (q) => {
    const hit = { type: 'dex', address: DEX.factory, title: DEX.displayName, subtitle: DEX.name };
    expect(await hits(q)).toMatchObject([hit]);
  },
);

test('a list of logs says that the checksum of an address is wrong', async () => {
  const { status, json } = await explorer.get(`/logs?address=${WRONG_CHECKSUM}`);
  expect([status, json['error']]).toEqual([400, expect.stringContaining('checksum')]);
});

test.each(['/search?q=', '/contracts?q='])(
  'the search for %s refuses an address with a wrong checksum, also without 0x',
  async (path) => {
    for (const q of [WRONG_CHECKSUM, WRONG_CHECKSUM.slice(2)]) {
      const { status, json } = await explorer.get(`${path}${q}`);
      expect([q, status, json['code']]).toEqual([q, 400, 'bad_request']);
      expect(String(json['error'])).toContain('q');
    }
    expect((await explorer.get(`${path}${WRONG_CHECKSUM.toLowerCase()}`)).status).toBe(200);
  },
);

test('an event is one search hit, even if several layouts of its parameters are known', async () => {
  const [found, ...more] = await hits('stored');
  expect([found, more]).toMatchObject([{ type: 'event', title: 'Stored(address)' }, []]);
  expect(await hits(id('Stored(address)'))).toMatchObject([{ type: 'event', title: 'Stored(address)' }]);
});

test('tokentx returns consecutive pages of up to 10,000 transfers', async () => {
  const query = { module: 'account', action: 'tokentx', contractaddress: COPY };
  const amounts = async (page: string, offset: string): Promise<number[]> => {
    const items = (await world.resultOf({ ...query, page, offset })) as { value: string }[];
    return items.map(({ value }) => Number(value));
  };
  const all = Array.from({ length: MANY }, (_, index) => index);
  expect(await amounts('1', '10000')).toEqual(all);
  expect(await amounts('1', '1500')).toEqual(all.slice(0, 1_500));
  expect(await amounts('2', '1500')).toEqual(all.slice(1_500));
});

test('blanks around a search text change nothing', async () => {
  for (const path of ['/search?limit=100&q=vault', '/contracts?q=granary', `/search?q=${SINGLE}`]) {
    const plain = await explorer.get(path);
    const blank = await explorer.get(path.replace('q=', 'q=%20').concat('%20%09'));
    expect(plain.json['data']!.length).toBeGreaterThan(0);
    expect([blank.status, blank.json]).toEqual([200, plain.json]);
  }
});

test('the parameter chainId is accepted in any letter case, and a mistyped parameter name is refused', async () => {
  for (const name of ['chainId', 'chainid', 'CHAINID']) {
    const { json } = await explorer.get(`/search?q=vault&${name}=943`);
    expect([name, json['meta']!['as_of_block']]).toEqual([name, null]);
  }
  const twice = await explorer.get('/search?q=vault&chainId=369&chainid=943');
  expect([twice.status, twice.json['error']]).toEqual([
    400,
    expect.stringContaining('chainId: got 2 values'),
  ]);
  const mistyped = await explorer.get('/logs?adress=0x00');
  expect([mistyped.status, mistyped.json['error']]).toEqual([
    400,
    'adress: unknown parameter; did you mean address?',
  ]);
  // Etherscan ignores unknown parameters, and so does its dialect.
  const dialect = await explorer.ask('/api?module=logs&action=getLogs&adress=0x00&fromBlok=1');
  expect(dialect.status).toBe(200);
  expect(dialect.text).not.toContain('did you mean');
});

test('if a list of hits reached a limit, its total is a lower bound', async () => {
  const relation = async (path: string): Promise<Json> =>
    (await explorer.get(path)).json['meta']!['total_relation']!;
  expect(await relation('/search?q=zztop')).toBe('eq');
  expect(await relation('/contracts?q=granary')).toBe('eq');
  const token = { decimals: 18, version: 3, name: null };
  const many = Array.from({ length: 101 }, (_, n) => ({
    ...token,
    address: hexOf('ca', n, 40),
    symbol: `MANY${n}`,
  }));
  await insertRows(world.database, tokensTable, many);
  const { json } = await explorer.get('/search?q=many');
  expect(json['meta']).toMatchObject({ total: 100, total_relation: 'gte' });
});
