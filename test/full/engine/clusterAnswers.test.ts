/**
 * Ingests one chain into one engine and into two shards. Every GET endpoint, with every listed parameter value, must
 * return the same bytes from both.
 */
import { z } from 'zod';

import { logsTable, tokensTable } from '../../../src/clickhouse/schema/tables';
import type { QueryParams } from '../../../src/clickhouse/client/database';
import { createQueryRunner, selectNamed } from '../../../src/clickhouse/client/namedQueries';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { toOrd } from '../../../src/domain/ord';
import { UPGRADED } from '../../../src/domain/proxies';
import { createVerifiedStore } from '../../../src/contracts/storeVerified';
import { NO_DEPLOYMENT, type VerifiedRecord } from '../../../src/contracts/verifiedRecord';
import { SIM_CHAIN_ID, simToken } from '../../simulation/chain/simChain';
import { askRows } from '../../support/engine/askRows';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../support/engine/embeddedCluster';
import { startSimApi, type SimApi } from '../../simulation/chain/simApi';
import { logRow } from '../../support/worlds/logRow';

const SEED = 5;
const BLOCKS = 110;
const TOKENS = 10;
const EXAMPLES = 3;
/** The id of an error differs in every answer, so the comparison ignores it. */
const ERROR_ID = /"errorId":"[^"]+"/;
/**
 * The age of the newest block grows while the test runs, so the comparison ignores it, also in the examples of the
 * OpenAPI document.
 */
const AGE = /"lag_seconds":\d+/g;
/** Endpoints about the process, not about stored data. */
const OF_THE_PROCESS = new Set([
  '/metrics',
  '/healthz',
  '/readyz',
  '/v2/chainlist',
  '/api/v1/activity/stream',
  '/',
]);

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: { readonly enum?: readonly string[]; readonly type?: string };
}

type Paths = Record<string, { get?: { parameters: Parameter[]; 'x-example-call'?: string } }>;

let cluster: EmbeddedCluster;
let one: SimApi;
let two: SimApi;

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  one = await startSimApi(SEED, BLOCKS);
  two = await startSimApi(SEED, BLOCKS, {}, cluster);
  for (const api of [one, two]) await addExplorer(api);
});

afterAll(async () => {
  await one?.stop();
  // The test need not drop the database, because the cluster's folder contains it and is removed later.
  await two?.stop().catch(() => undefined);
  await cluster?.stop();
});

/** Stores token names, and verified contracts that share files. */
async function addExplorer({ db }: SimApi): Promise<void> {
  const addresses = Array.from({ length: TOKENS }, (_, index) => simToken(index));
  await insertRows(
    db,
    tokensTable,
    addresses.map((address, index) => ({
      address,
      symbol: `T${index}`,
      name: `Token number ${index}`,
      decimals: 18,
      version: 1,
    })),
  );
  const store = createVerifiedStore(db, createQueryRunner(db));
  await store.store(addresses.map(recordOf));
}

function recordOf(address: VerifiedRecord['contract']['address'], index: number): VerifiedRecord {
  return {
    contract: {
      chainId: SIM_CHAIN_ID,
      address,
      status: index % 2 === 0 ? 'exact_match' : 'match',
      source: 'sourcify',
      verifiedAt: 1_700_000_000 + index,
      name: `Token${index}`,
      path: 'Token.sol',
      language: 'Solidity',
      compiler: 'solc',
      compilerVersion: '0.8.20+commit.a1b79de6',
      optimization: true,
      runs: 200,
      evmVersion: 'paris',
      license: 'MIT',
      abi: [{ type: 'function', name: `mint${index}`, inputs: [{ name: 'to', type: 'address' }] }],
      constructorArguments: null,
      libraries: {},
      creationMatch: null,
      settings: '{}',
    },
    codeHash: `0x${String(index % 3).repeat(64)}`,
    deployment: NO_DEPLOYMENT,
    sources: [
      { path: 'Token.sol', content: `contract Token${index} { function transfer() public {} }` },
      { path: 'Shared.sol', content: `library Shared${index % 4} { function transfer() internal {} }` },
    ],
  };
}

async function ask(
  api: SimApi,
  path: string,
  accept = 'application/json',
): Promise<{ status: number; body: string }> {
  const answer = await fetch(`${api.url}${path}`, { headers: { accept } });
  return { status: answer.status, body: await answer.text() };
}

/** The example call of each path, alone and with each possible value of one parameter. */
function callsOf(paths: Paths): string[] {
  return Object.entries(paths)
    .filter(([path]) => !OF_THE_PROCESS.has(path))
    .flatMap(([path, { get }]) => {
      if (get === undefined) return [];
      const example = get['x-example-call'] ?? path;
      const call = new URL(example, 'http://x');
      const more = get.parameters
        .filter((parameter) => parameter.in === 'query')
        .flatMap(({ name, schema }) =>
          valuesOf(name, schema).map((value) => {
            const changed = new URL(call);
            changed.searchParams.set(name, value);
            return changed.pathname + changed.search;
          }),
        );
      return [example, ...more];
    });
}

function valuesOf(name: string, { enum: listed, type }: Parameter['schema']): readonly string[] {
  if (listed !== undefined) return listed;
  if (type === 'boolean') return ['true', 'false'];
  if (name === 'offset') return ['7'];
  return name === 'limit' ? ['1', '50'] : [];
}

interface Comparison {
  readonly status: number;
  /** Where the two answers differ; null if they are equal. */
  readonly difference: string | null;
}

const compare = (path: string, accept?: string): Promise<Comparison> =>
  cluster.outlive(
    () => compareOnce(path, accept),
    ({ status, difference }) => status === 503 && difference !== null,
  );

async function compareOnce(path: string, accept?: string): Promise<Comparison> {
  const [from, to] = await Promise.all([ask(one, path, accept), ask(two, path, accept)]);
  for (const answer of [from, to]) answer.body = answer.body.replace(ERROR_ID, '').replace(AGE, '');
  const { status } = to;
  if (from.status === status && from.body === to.body) return { status, difference: null };
  const difference = `${path}: ${from.status} ${from.body.slice(0, 300)} and ${status} ${to.body.slice(0, 300)}`;
  return { status, difference };
}

test('every endpoint answers the same bytes from a cluster of two shards as from one engine', async () => {
  const { paths } = JSON.parse((await ask(one, '/openapi.json')).body) as { paths: Paths };
  const pairs = JSON.parse((await ask(one, '/api/v1/pairs?limit=50')).body) as {
    data: { address: string }[];
  };
  const tokens = Array.from({ length: TOKENS }, (_, index) => simToken(index));
  const own = [
    ...pairs.data
      .slice(0, EXAMPLES)
      .flatMap(({ address }) => [
        `/api/v1/pairs/${address}`,
        `/api/v1/pairs/${address}/ticks?timeframe=1m&limit=100`,
        `/api/v1/pairs/${address}/ticks?timeframe=1h&currency=quote`,
        `/api/v1/activity?pair=${address}&limit=50`,
        `/api/v1/logs?address=${address}`,
      ]),
    ...tokens
      .slice(0, EXAMPLES)
      .flatMap((address) => [
        `/api/v1/tokens/${address}`,
        `/api/v1/tokens/${address}/audit`,
        `/api/v1/tokens/${address}/ticks?timeframe=5m`,
        `/api/v1/portfolio/${address}`,
        `/api/v1/contracts/${address}`,
        `/api?module=contract&action=getsourcecode&address=${address}`,
        `/api?module=token&action=tokenholderlist&contractaddress=${address}`,
      ]),
    '/api/v1/search?q=Token',
    '/api/v1/source-search?q=transfer&limit=50',
    '/api/v1/contracts?verified=true',
  ];
  const calls = [...new Set([...callsOf(paths), ...own])];
  const differences: string[] = [];
  let answered = 0;
  for (const call of calls) {
    const { status, difference } = await compare(call);
    if (difference !== null) differences.push(difference);
    if (status === 200) answered += 1;
  }
  process.stdout.write(`${calls.length} calls, ${answered} answered with 200\n`);
  expect(differences).toEqual([]);
  expect(answered).toBeGreaterThan(150);
});

test('ticks and activity as CSV and Arrow are the same on two shards', async () => {
  const pairs = JSON.parse((await ask(one, '/api/v1/pairs?limit=3')).body) as { data: { address: string }[] };
  for (const { address } of pairs.data)
    for (const accept of ['text/csv', 'application/vnd.apache.arrow.stream'])
      for (const path of [`/api/v1/pairs/${address}/ticks?timeframe=1m`, `/api/v1/activity?pair=${address}`])
        expect((await compare(path, accept)).difference).toBeNull();
});

test('the lists of contracts to query at the node are the same on two shards', async () => {
  const find = async ({ db }: SimApi): Promise<unknown> => {
    const upgrades = Array.from({ length: 40 }, (_, index) =>
      logRow({ ord: toOrd(1 + index, 1_000), address: simToken(index % TOKENS), topics: [UPGRADED] }),
    );
    await insertRows(db, logsTable, upgrades);
    const [row] = await askRows<{ name: string }>(db, 'SELECT currentDatabase() AS name');
    const common = { chain_id: SIM_CHAIN_ID, verified_db: row!.name, limit: 30 };
    const list = (name: string, params: QueryParams): Promise<unknown[]> =>
      selectNamed(db, name, params, z.unknown());
    const range = { from_ord: 0, to_ord: toOrd(1_000, 0) };
    return [
      await list('contracts/list_upgraded_contracts', { ...common, ...range }),
      await list('contracts/list_unchecked_contracts', common),
      await list('contracts/list_unasked_creations', { ...common, final_to: 1_000 }),
    ];
  };
  const found = await find(one);
  expect(found).toMatchObject([{ length: 30 }, { length: 30 }, {}]);
  expect(await find(two)).toEqual(found);
});

test('both shards hold rows of every table, so the compared answers come from both shards', async () => {
  for (const { database } of two.db.cluster!.nodes)
    for (const table of ['swaps_local', 'bars_local', 'logs_local', 'transfers_local', 'blocks_local']) {
      const [row] = await askRows<{ n: string }>(database, `SELECT count() AS n FROM ${table}`);
      expect([table, Number(row!.n) > 0]).toEqual([table, true]);
    }
});
