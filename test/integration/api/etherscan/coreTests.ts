/**
 * The Etherscan dialect: mounts, request bodies, exact texts, sources, and logs compared with a plain search of the
 * blocks.
 */
import { contractCodesTable } from '../../../../src/clickhouse/schema/explorerTables';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import type { LogRow } from '../../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import { blockOfOrd } from '../../../../src/domain/ord';
import {
  BLOCKS,
  entryOf,
  hexNumber,
  MULTI,
  multi,
  NOBODY,
  notOk,
  openDialectWorld,
  PROXY,
  SINGLE,
  single,
  STORED_TO,
  TIP,
  TOKEN,
  topicsOf,
  type DialectWorld,
} from './etherscanWorld';
import { emitterOf, FIRST_LOG_BLOCK, topicOf, wordOf } from '../explorer/logWorld';
import { createRandom, type Random } from '../../../support/createRandom';
import { hexOf } from '../../../support/worlds/worldEvents';
import { UNCACHED } from '../../../support/server/uncached';
import { SEED } from '../../../support/run/seed';
import { startExplorer } from '../explorer/explorerServer';

let world: DialectWorld;

beforeAll(async () => {
  world = await openDialectWorld(SEED);
});

afterAll(() => world.close());

const PAIRS = ['0_1', '0_2', '0_3', '1_2', '1_3', '2_3'];

/**
 * Matches by Etherscan's rules. A clause such as `topic0_1_opr=or` joins two topics, and counts only if both are given.
 * Every clause must hold, and every given topic outside of the clauses must match.
 */
function matchesPlainly(query: Record<string, string>, row: LogRow): boolean {
  const topics = topicsOf(row);
  const holds = (place: string | undefined): boolean =>
    topics[Number(place)] === query[`topic${place}`]?.toLowerCase();
  const given = ['0', '1', '2', '3'].filter((place) => query[`topic${place}`] !== undefined);
  const clauses = PAIRS.map((pair) => ({ places: pair.split('_'), operator: query[`topic${pair}_opr`] }))
    .filter(({ operator }) => operator !== undefined)
    .filter(({ places }) => places.every((place) => given.includes(place)));
  const stated = clauses.every(({ places: [a, b], operator }) =>
    operator === 'or' ? holds(a) || holds(b) : holds(a) && holds(b),
  );
  const free = given.filter((place) => !clauses.some(({ places }) => places.includes(place)));
  const address = query['address']?.toLowerCase() ?? row.address;
  const from = Number(query['fromBlock'] ?? 0);
  const to = Number(query['toBlock'] ?? TIP);
  const block = blockOfOrd(row.ord);
  return stated && free.every(holds) && row.address === address && block >= from && block <= to;
}

function randomQuery(random: Random): Record<string, string> {
  const query: Record<string, string> = {};
  if (random() < 0.5) query['address'] = emitterOf(random.int(3)).toUpperCase().replace('0X', '0x');
  if (random() < 0.8 || query['address'] === undefined) query['topic0'] = topicOf(1 + random.int(4));
  for (const place of [1, 2, 3]) if (random() < 0.5) query[`topic${place}`] = wordOf(random.int(3));
  for (const pair of PAIRS) if (random() < 0.3) query[`topic${pair}_opr`] = random() < 0.7 ? 'or' : 'and';
  if (random() < 0.3) query['fromBlock'] = hexNumber(FIRST_LOG_BLOCK + random.int(BLOCKS));
  if (random() < 0.3) query['toBlock'] = String(FIRST_LOG_BLOCK + random.int(BLOCKS));
  return query;
}

test('getLogs equals a plain search for every operator, page by page, oldest first', async () => {
  const random = createRandom(SEED + 1);
  const all = world.blocks.flatMap(({ logs }) => logs);
  let found = 0;
  for (let round = 0; round < 25; round += 1) {
    const query = randomQuery(random);
    const [page, offset] = [1 + random.int(3), 1 + random.int(30)];
    const wanted = all.filter((row) => matchesPlainly(query, row)).map((row) => entryOf(world.blocks, row));
    const shown = wanted.slice((page - 1) * offset, page * offset);
    const asked = { module: 'logs', action: 'getLogs', ...query };
    const answer = await world.ask({ ...asked, page: String(page), offset: String(offset) });
    const envelope = shown.length > 0 ? ['1', 'OK'] : ['0', 'No records found'];
    const [status, message] = envelope;
    expect({ query, json: answer.json }).toEqual({ query, json: { status, message, result: shown } });
    expect(answer.status).toBe(200);
    if (page === 1) expect(await world.resultOf({ ...asked, offset: '0' })).toEqual(wanted.slice(0, 1_000));
    found += shown.length;
  }
  expect(found).toBeGreaterThan(0);
});

test('fromBlock and toBlock accept words such as latest and finalized', async () => {
  const asked = { module: 'logs', action: 'getLogs', address: TOKEN };
  const tokenLogs = world.blocks.flatMap(({ logs }) => logs).filter((row) => row.address === TOKEN);
  const between = (from: number, to: number) =>
    tokenLogs
      .filter((row) => blockOfOrd(row.ord) >= from && blockOfOrd(row.ord) <= to)
      .map((row) => entryOf(world.blocks, row));
  const words = async (fromBlock: string, toBlock: string) =>
    world.resultOf({ ...asked, fromBlock, toBlock });
  expect(await words('earliest', 'latest')).toEqual(between(0, TIP));
  expect(await words('finalized', 'pending')).toEqual(between(STORED_TO, TIP));
  expect(await words('0', 'safe')).toEqual(between(0, STORED_TO));
  expect(await words('latest', '99999999999999999999')).toEqual(between(TIP, TIP));
});

const AT = 'address=0x0000000000000000000000000000000000000001';
const LOGS = 'module=logs&action=getLogs';
const CHAIN =
  'Missing or unsupported chainid parameter (required for v2 api), please see chainlist for the list of supported chainids';

test.each([
  ['', 'Error! Missing Or invalid Module name'],
  ['module=constructor&action=getabi', 'Error! Missing Or invalid Module name'],
  ['module=contract', 'Error! Missing Or invalid Action name'],
  ['module=contract&action=constructor', 'Error! Missing Or invalid Action name'],
  [`module=account&action=txlist&${AT}`, 'Error! Missing Or invalid Action name'],
  ['module=contract&action=getabi', 'Error! Missing address'],
  ['module=contract&action=getabi&address=0x12', 'Error! Invalid address format'],
  ['module=contract&action=getsourcecode&address=x', 'Error! Invalid address format'],
  [`module=contract&action=getabi&${AT}`, 'Contract source code not verified'],
  ['module=contract&action=getcontractcreation', 'Error! Missing address'],
  ['module=contract&action=getcontractcreation&contractaddresses=0x1', 'Error! Invalid address format'],
  ['module=contract&action=checkverifystatus&guid=1', 'Unknown UID'],
  [LOGS, 'Error! Missing address'],
  [`${LOGS}&${AT}&topic0=0x12`, 'Error! Invalid topic0 format'],
  [`${LOGS}&${AT}&topic0_1_opr=xor`, 'Error! Invalid topic0_1_opr format'],
  [`${LOGS}&${AT}&fromBlock=soon`, 'Error! Invalid fromBlock format'],
  [`${LOGS}&${AT}&toBlock=-1`, 'Error! Invalid toBlock format'],
  [`${LOGS}&${AT}&page=x`, 'Error! Invalid page format'],
  ['module=block&action=getblocknobytime&timestamp=1', 'Error! No closest block found'],
  ['module=block&action=getblocknobytime&timestamp=x', 'Error! Invalid timestamp format'],
  ['module=block&action=getblockcountdown&blockno=1', 'Error! Block number already pass'],
  [`module=contract&action=getabi&${AT}&chainid=1`, CHAIN],
  [`module=contract&action=getabi&${AT}&chainid=369,943`, CHAIN],
  ['chainid=', 'Error! Missing Or invalid Module name'],
])('the dialect refuses the query "%s" with status 200 and the text "%s"', async (query, text) => {
  const { status, json } = await world.api.ask(`/api?${query}`);
  expect([status, json]).toEqual([200, notOk(text)]);
});

test('the error for a page beyond 10,000 results has the same text in message and result', async () => {
  const text = 'Result window is too large, PageNo x Offset size must be less than or equal to 10000';
  const { status, json } = await world.api.ask(`/api?${LOGS}&${AT}&page=11&offset=1000`);
  expect([status, json]).toEqual([200, { status: '0', message: text, result: text }]);
});

test('every mount path gives the same answer, in any letter case, with and without a trailing slash', async () => {
  const query = `?Module=CONTRACT&ACTION=GetABI&aDDress=${SINGLE.toUpperCase().replace('0X', '0x')}&apikey=k`;
  const wanted = { status: '1', message: 'OK', result: JSON.stringify(single.contract.abi) };
  for (const mount of [
    '/api',
    '/v2/api',
    '/api/v1',
    '/369/api',
    '/api/v1/etherscan',
    '/api/v1/etherscan/369/api',
    '/v2/network/mainnet/evm/369/etherscan/api',
  ]) {
    expect([mount, (await world.api.ask(`${mount}${query}`)).json]).toEqual([mount, wanted]);
    expect([mount, (await world.api.ask(`${mount}/${query}`)).json]).toEqual([mount, wanted]);
  }
  const bare = await world.api.ask('/api/v1?address=1');
  expect([bare.status, bare.json?.['code']]).toEqual([404, 'not_found']);
});

test('the chain comes from the path, otherwise from chainid in any letter case', async () => {
  const query = `module=logs&action=getLogs&address=${TOKEN}`;
  const empty = { status: '0', message: 'No records found', result: [] };
  for (const path of [`/943/api?${query}`, `/943/api?${query}&chainid=369`, `/api?${query}&chainId=943`])
    expect([path, (await world.api.ask(path)).json]).toEqual([path, empty]);
  expect((await world.api.ask(`/369/api?${query}&chainid=943`)).json?.status).toBe('1');
  for (const path of [`/1/api?${query}`, `/api/v1/etherscan/x/api?${query}`])
    expect([path, (await world.api.ask(path)).json]).toEqual([path, notOk(CHAIN)]);
});

test('POST accepts a form or JSON, alone or combined with the query, and other methods are refused', async () => {
  const wanted = (await world.ask({ module: 'contract', action: 'getsourcecode', address: MULTI })).json;
  const body = { action: 'getsourcecode', Address: MULTI, module: 'contract' };
  const json = { 'Content-Type': 'application/json' };
  const form = new URLSearchParams(body);
  expect((await world.api.ask('/api', { method: 'POST', body: form })).json).toEqual(wanted);
  const asJson = { method: 'POST', headers: json, body: JSON.stringify(body) };
  expect((await world.api.ask('/v2/api/', asJson)).json).toEqual(wanted);
  const split = { method: 'POST', body: new URLSearchParams({ address: MULTI, module: 'x' }) };
  expect((await world.api.ask('/api?module=contract&action=getsourcecode', split)).json).toEqual(wanted);
  const broken = { method: 'POST', headers: json, body: '{"module":' };
  expect((await world.api.ask('/api', broken)).json).toEqual(notOk('Error! Invalid request body'));
  expect((await world.api.ask('/api', { method: 'PUT' })).status).toBe(405);
  expect((await world.api.ask('/api/v1/logs', { method: 'POST' })).status).toBe(405);
});

test('a body of 3 MB is read, and a body above 5 MB is refused and the connection closed', async () => {
  const verify = { module: 'contract', action: 'verifysourcecode' };
  const post = (bytes: number) => {
    const body = new URLSearchParams({ ...verify, sourceCode: 'a'.repeat(bytes) });
    return world.api.ask('/api', { method: 'POST', body });
  };
  const taken = await post(3_000_000);
  expect([taken.status, taken.json?.message]).toEqual([200, 'NOTOK']);
  expect(taken.json?.result).toMatch(/import-sources/);
  const large = await post(5_300_000);
  expect([large.status, large.json?.message]).toEqual([200, 'NOTOK']);
  expect(large.json?.result).toMatch(/body/);
  expect(large.headers.get('connection')).toBe('close');
});

test('the rate limit answers in the format of Etherscan', async () => {
  const limited = await startExplorer(world.deps, () => null, 1);
  try {
    await limited.ask('/api');
    const { status, headers, json } = await limited.ask('/api');
    const text = 'Max rate limit reached, please use API Key for higher rate limit';
    expect([status, json]).toEqual([200, notOk(text)]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await limited.close();
  }
});

const KEYS = [
  'SourceCode',
  'ABI',
  'ContractName',
  'CompilerVersion',
  'CompilerType',
  'OptimizationUsed',
  'Runs',
  'ConstructorArguments',
  'EVMVersion',
  'Library',
  'ContractFileName',
  'LicenseType',
  'Proxy',
  'Implementation',
  'SwarmSource',
  'SimilarMatch',
];

test('getsourcecode returns one file as text and several files as standard JSON in double braces', async () => {
  const read = async (address: string) => {
    const items = await world.resultOf({ module: 'contract', action: 'getsourcecode', address });
    const [item] = items as Record<string, string>[];
    return item!;
  };
  const one = await read(SINGLE);
  expect(Object.keys(one).sort()).toEqual([...KEYS].sort());
  expect(Object.values(one).filter((value) => typeof value !== 'string')).toEqual([]);
  expect(one).toMatchObject({
    SourceCode: single.sources[0]!.content,
    CompilerVersion: 'v0.8.20+commit.a1b79de6',
    OptimizationUsed: '0',
    ConstructorArguments: '',
    EVMVersion: 'Default',
    Proxy: '0',
  });
  const many = await read(MULTI);
  expect(many['SourceCode']).toMatch(/^\{\{.*\}\}$/s);
  expect(JSON.parse(many['SourceCode']!.slice(1, -1))).toEqual({
    language: 'Solidity',
    sources: Object.fromEntries(multi.sources.map(({ path, content }) => [path, { content }])),
    settings: JSON.parse(multi.contract.settings),
  });
  expect(many).toMatchObject({
    ABI: JSON.stringify(multi.contract.abi),
    ContractName: 'Vault',
    OptimizationUsed: '1',
    Runs: '200',
    ConstructorArguments: multi.contract.constructorArguments!.slice(2),
    EVMVersion: 'paris',
    LicenseType: 'MIT',
    Library: `Math:${NOBODY.slice(2)}`,
  });
  expect(await read(NOBODY)).toEqual({
    SourceCode: '',
    ABI: 'Contract source code not verified',
    ContractName: '',
    CompilerVersion: '',
    OptimizationUsed: '',
    Runs: '',
    ConstructorArguments: '',
    EVMVersion: 'Default',
    Library: '',
    LicenseType: 'Unknown',
    Proxy: '0',
    Implementation: '',
    SwarmSource: '',
  });
});

test.each([
  ['remappings', { remappings: ['@a/=lib/a/'] }, false],
  ['viaIR', { viaIR: true }, false],
  ['a library', { libraries: { 'Vault.sol': { Math: NOBODY } } }, false],
  ['bytecodeHash none', { metadata: { bytecodeHash: 'none' } }, false],
  ['optimizer details', { optimizer: { enabled: true, runs: 1, details: { yul: true } } }, false],
  [
    'explicit defaults',
    { viaIR: false, remappings: [], libraries: {}, metadata: { bytecodeHash: 'ipfs', appendCBOR: true } },
    true,
  ],
] as const)(
  'getsourcecode keeps all compiler settings of a contract of one file: %s',
  async (_, more, bare) => {
    const settings = { optimizer: { enabled: true, runs: 200 }, evmVersion: 'paris', ...more };
    const record = (await world.deps.verified.find({ chainId: 369, address: SINGLE }, null))!;
    const told = { ...record, settings: JSON.stringify(settings) };
    const verified = { ...world.deps.verified, find: () => Promise.resolve(told) };
    const api = await startExplorer({ ...world.deps, verified, cache: UNCACHED }, () => world.head);
    try {
      const { json } = await api.ask(`/api?module=contract&action=getsourcecode&address=${SINGLE}`);
      const [{ SourceCode: text }] = json!.result as [{ SourceCode: string }];
      const [{ path, content }] = single.sources as [{ path: string; content: string }];
      if (bare) expect(text).toBe(content);
      else
        expect(JSON.parse(text.slice(1, -1))).toEqual({
          language: 'Solidity',
          sources: { [path]: { content } },
          settings,
        });
    } finally {
      await api.close();
    }
  },
);

test('getsourcecode gives the implementation of a proxy', async () => {
  const items = await world.resultOf({ module: 'contract', action: 'getsourcecode', address: PROXY });
  expect(items).toMatchObject([{ SourceCode: '', Proxy: '1', Implementation: SINGLE }]);
});

test('getsourcecode marks no contract as a proxy if it has several implementations, because clients need one address', async () => {
  const diamond = hexOf('9c', 2, 40);
  await insertRows(world.database, contractCodesTable, [
    {
      address: diamond,
      checked_block: TIP,
      code_hash: hexOf('c0', 2, 64),
      code_size: 45,
      proxy: 'eip2535',
      implementation: ZERO_ADDRESS,
      beacon: ZERO_ADDRESS,
      facets: '',
      fixed: true,
      version: 1,
    },
  ]);
  const items = await world.resultOf({ module: 'contract', action: 'getsourcecode', address: diamond });
  expect(items).toMatchObject([{ SourceCode: '', Proxy: '0', Implementation: '' }]);
});

test('CORS allows POST for the Etherscan dialect and for no other path', async () => {
  const preflight = async (path: string) => {
    const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' };
    const answer = await world.api.ask(path, { method: 'OPTIONS', headers });
    return [answer.status, answer.headers.get('access-control-allow-methods')?.includes('POST')];
  };
  expect(await preflight('/v2/api')).toEqual([204, true]);
  expect(await preflight('/api/v1/logs')).toEqual([204, false]);
});

test('the dialect answers an error with status 200 if no block is indexed', async () => {
  const findChain = (chainId: number) => {
    const chain = world.deps.findChain(chainId);
    return chain === null ? null : { ...chain, head: () => null };
  };
  const away = await startExplorer({ ...world.deps, findChain }, () => null);
  try {
    const { status, json } = await away.ask('/api?module=proxy&action=eth_blockNumber');
    expect([status, json?.status, json?.message, typeof json?.result]).toEqual([200, '0', 'NOTOK', 'string']);
  } finally {
    await away.close();
  }
});
