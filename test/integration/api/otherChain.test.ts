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
