/** On a market chain other than PulseChain, every default and every name follows the configured chain. */
import { startApi, type ApiServer } from '../../../src/commands/api';
import { loadConfig } from '../../../src/config';
import { createLog } from '../../../src/log';
import { createMetrics } from '../../../src/metrics';
import type { Json } from '../../support/server/apiServer';

const BASE = {
  chainId: 8453,
  name: 'Base Mainnet',
  nativeSymbol: 'ETH',
  wrappedNative: '0x4200000000000000000000000000000000000006',
  anchors: [],
  majors: [],
  burn: null,
  confirmations: 20,
  startBlock: null,
  rpcUrls: [],
  dexes: [],
};

let api: ApiServer;
beforeAll(async () => {
  const settings = { PORT: '0', SHED_LOOP_DELAY_MS: '0', CHAIN_ID: '8453', CHAIN_CONFIG: 'base.json' };
  const config = loadConfig(settings, () => JSON.stringify(BASE));
  api = await startApi({ config, log: createLog('silent'), metrics: createMetrics() });
});

afterAll(() => api?.close());

const textOf = async (path: string): Promise<string> => (await fetch(`${api.url}${path}`)).text();
const jsonOf = async (path: string): Promise<Json> => JSON.parse(await textOf(path)) as Json;

test('the chain list begins with the configured chain and its name', async () => {
  const { result } = await jsonOf('/v2/chainlist');
  expect(result!.map((chain) => [chain['chainid'], chain['chainname']])).toEqual([
    ['8453', 'Base Mainnet'],
    ['369', 'PulseChain'],
    ['943', 'PulseChain Testnet v4'],
  ]);
});

test('the default chain id of each parameter is the configured chain', async () => {
  const { paths } = await jsonOf('/openapi.json');
  const parameters = Object.values(paths!).flatMap(({ get }) => [...(get?.['parameters'] ?? [])]);
  const chains = parameters.filter(({ name }) => String(name).toLowerCase() === 'chainid');
  const defaults = chains
    .filter((one) => String(one['in']) === 'query')
    .map(({ schema }) => schema!['default']);
  expect([...new Set(defaults)]).toEqual([8453]);
  for (const { schema } of chains) expect(schema!['enum']).toEqual([8453, 369, 943]);
});

test('the texts of the documents name no other chain', async () => {
  for (const path of ['/openapi.json', '/llms.txt']) expect(await textOf(path)).not.toMatch(/PulseChain/);
});

test('a request without a chain id means the configured chain, and an error names it first', async () => {
  const wrong = await jsonOf('/api/v1/logs?chainId=1');
  expect(wrong['error']).toBe('chainId: got "1"; allowed: 8453 or 369 or 943');
  // No database is connected: the default chain is not ready, and chain 369 is known to be not indexed here.
  expect((await fetch(`${api.url}/api/v1/logs`)).status).toBe(503);
  expect((await fetch(`${api.url}/api/v1/logs?chainId=369`)).status).toBe(200);
});

test('with several chains, a path may name a chain by its id or slug, and an unknown one is listed', async () => {
  const settings = {
    PORT: '0',
    SHED_LOOP_DELAY_MS: '0',
    CHAINS: '369,8453',
    CHAIN_CONFIG_8453: 'base.json',
  };
  const config = loadConfig(settings, () => JSON.stringify(BASE));
  const several = await startApi({ config, log: createLog('silent'), metrics: createMetrics() });
  const ask = async (path: string): Promise<[status: number, error: string]> => {
    const answer = await fetch(`${several.url}${path}`);
    return [answer.status, String(((await answer.json()) as Json)['error'])];
  };
  try {
    // No database is connected, so every known chain is unavailable.
    for (const chain of ['', '369/', 'pulsechain/', '8453/', 'base-mainnet/'])
      for (const path of ['pairs', 'logs'])
        expect([chain, path, (await ask(`/api/v1/${chain}${path}`))[0]]).toEqual([chain, path, 503]);
    const known = 'known chains: 369 (pulsechain), 8453 (base-mainnet)';
    for (const path of ['/api/v1/1/pairs', '/1/udf/config', '/1/readyz', '/api/v1/1/nothing'])
      expect([path, ...(await ask(path))]).toEqual([path, 404, `there is no chain 1 here; ${known}`]);
    expect(await ask('/api/v1/ethereum/pairs')).toEqual([404, `there is no chain ethereum here; ${known}`]);
    expect(await ask('/api/v1/8453/nothing')).toEqual([404, 'there is no endpoint at /api/v1/8453/nothing']);
    expect(await ask('/api/v1/8453/logs?chainId=1')).toEqual([
      400,
      'chainId: got "1"; allowed: 8453 or 369 or 943',
    ]);
    const listed = (await (await fetch(`${several.url}/api/v1/chains`)).json()) as Json;
    expect(listed['data']!.map((chain) => [chain['slug'], chain['state']])).toEqual([
      ['pulsechain', 'unavailable'],
      ['base-mainnet', 'unavailable'],
    ]);
  } finally {
    await several.close();
  }
});
