/**
 * Tests how requests are assigned to clients, the limits of one client, and which endpoints still answer under
 * overload.
 */
import { get as getHttp } from 'node:http';
import perfHooks from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { NO_LIMITS, type LoadLimits } from '../../../src/api/middleware/limitLoad';
import type { Route } from '../../../src/api/route';
import { healthz } from '../../../src/api/service/healthz';
import { metrics, type MetricsReaders } from '../../../src/api/service/metrics';
import { matchNetworks } from '../../../src/domain/networks';
import { addSummary } from '../../../src/clickhouse/client/readCost';
import { createMetrics } from '../../../src/metrics';
import type { Listening } from '../../support/server/listen';
import { serveRoutes, type ServeOptions } from '../../support/server/serveRoutes';

interface Reply {
  readonly status: number;
  readonly retryAfter: number | null;
  readonly text: string;
}

const servers: Listening[] = [];
/** The clock of the limits, which stands still, so that no client gets allowance back. */
let nowMs = 1_000;

beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

afterEach(async () => {
  jest.restoreAllMocks();
  for (const server of servers.splice(0)) await server.close();
});

const route = (path: string, handle: Route['handle']): Route => ({
  path,
  doc: { summary: path, tag: 'service' },
  handle,
});

async function serve(routes: readonly Route[], options: ServeOptions = {}): Promise<string> {
  const server = await serveRoutes([healthz(), ...routes], options);
  servers.push(server);
  return server.url;
}

const limits = (some: Partial<LoadLimits>): { load: LoadLimits } => ({ load: { ...NO_LIMITS, ...some } });

function ask(url: string, client?: string): Promise<Reply> {
  const headers = client === undefined ? {} : { 'X-Forwarded-For': client };
  return new Promise((resolve, reject) => {
    getHttp(url, { headers, agent: false }, (answer) => {
      let text = '';
      const wait = answer.headers['retry-after'];
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      answer.once('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          retryAfter: wait === undefined ? null : Number(wait),
          text,
        }),
      );
    }).once('error', reject);
  });
}

const whoAmI = route('/me', (ctx) => void (ctx.body = ctx.ip));

test.each([
  ['no proxy is trusted', [], '6.6.6.6', '127.0.0.1'],
  ['the proxy is trusted', ['127.0.0.0/8'], '6.6.6.6', '6.6.6.6'],
  ['the client forged an address', ['127.0.0.1'], '1.1.1.1, 6.6.6.6', '6.6.6.6'],
  ['two proxies are trusted', ['127.0.0.1', '10.0.0.0/8'], '1.1.1.1, 6.6.6.6, 10.9.8.7', '6.6.6.6'],
  ['every address is trusted', ['0.0.0.0/0'], '6.6.6.6, 7.7.7.7', '6.6.6.6'],
  ['the header is no address', ['127.0.0.0/8'], "6.6.6.6, ' OR 1=1", '127.0.0.1'],
  ['the header is empty', ['127.0.0.0/8'], '', '127.0.0.1'],
  ['the address has a port', ['127.0.0.0/8'], '6.6.6.6:1234', '6.6.6.6'],
  ['the address is IPv6 with a port', ['127.0.0.0/8'], '[2001:db8::1]:443', '2001:db8::1'],
  ['a network of IPv6 is trusted', ['127.0.0.1', '2001:db8::/32'], '9.9.9.9, 2001:db8::5', '9.9.9.9'],
])(
  'the client is the rightmost address that is no trusted proxy: %s',
  async (_, trustedProxies, header, client) => {
    const url = await serve([whoAmI], { trustedProxies });
    expect((await ask(`${url}/me`, header)).text).toBe(client);
  },
);

test('a network matches its addresses, also as IPv4 addresses in IPv6', () => {
  const isTrusted = matchNetworks(['10.1.0.0/16', '::1']);
  expect(['10.1.2.3', '::ffff:10.1.2.3', '::1', '10.2.0.1', '::2', 'x'].map(isTrusted)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('the rate limit counts each client behind a trusted proxy, and ignores X-Forwarded-For from other addresses', async () => {
  const options = { rateLimitPerMinute: 2 };
  const trusting = await serve([whoAmI], { ...options, trustedProxies: ['127.0.0.1'] });
  const plain = await serve([whoAmI], options);
  const statuses = async (url: string, clients: readonly string[]): Promise<number[]> => {
    const all: number[] = [];
    for (const client of clients) all.push((await ask(`${url}/me`, client)).status);
    return all;
  };
  const clients = ['6.6.6.6', '6.6.6.6', '6.6.6.6', '7.7.7.7'];
  expect(await statuses(trusting, clients)).toEqual([200, 200, 429, 200]);
  expect(await statuses(plain, clients)).toEqual([200, 200, 429, 429]);
});

test('one client may have a limited number of requests in flight, and others are not affected', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let waiting = 0;
  const slow = route('/slow', async (ctx) => {
    waiting += 1;
    await held;
    ctx.body = 'done';
  });
  const url = await serve([slow, whoAmI], { ...limits({ inFlightMax: 2 }), trustedProxies: ['127.0.0.1'] });
  const first = [ask(`${url}/slow`, '6.6.6.6'), ask(`${url}/slow`, '6.6.6.6')];
  while (waiting < 2) await nextTurn();
  expect(await ask(`${url}/me`, '6.6.6.6')).toMatchObject({ status: 429, retryAfter: 1 });
  expect((await ask(`${url}/me`, '7.7.7.7')).status).toBe(200);
  expect((await ask(`${url}/healthz`, '6.6.6.6')).status).toBe(200);
  release();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await ask(`${url}/me`, '6.6.6.6')).status).toBe(200);
});

test.each([
  ['rows', { rowsPerMinute: 1_000 }],
  ['bytes', { bytesPerMinute: 50_000 }],
])('a client that has read too many %s waits, and others are not affected', async (unit, some) => {
  const read = route('/read', async (ctx) => {
    await nextTurn();
    addSummary('{"read_rows":"1500","read_bytes":"75000","elapsed_ns":"1"}');
    ctx.body = 'read';
  });
  const url = await serve([read], { ...limits(some), trustedProxies: ['127.0.0.1'] });
  expect((await ask(`${url}/read`, '6.6.6.6')).status).toBe(200);
  const refused = await ask(`${url}/read`, '6.6.6.6');
  expect([refused.status, refused.text]).toEqual([429, expect.stringContaining(`${unit} read per minute`)]);
  expect(refused.retryAfter).toBe(30);
  expect((await ask(`${url}/read`, '7.7.7.7')).status).toBe(200);
  expect((await ask(`${url}/healthz`, '6.6.6.6')).status).toBe(200);
});

test('while the event loop is late, requests get 503 with Retry-After, /healthz answers, and the service recovers', async () => {
  const delays = { count: 1, mean: 500e6, enable: jest.fn(), reset: jest.fn() };
  const monitor = jest.spyOn(perfHooks, 'monitorEventLoopDelay').mockReturnValue(delays as never);
  const url = await serve([whoAmI], limits({ loopDelayMaxMs: 200 }));
  monitor.mockRestore();
  const statusOf = async (path: string): Promise<number> => (await ask(`${url}${path}`)).status;
  // The first second has not passed, so there is no full sample yet.
  expect(await statusOf('/me')).toBe(200);
  nowMs += 1_000;
  expect(await ask(`${url}/me`)).toMatchObject({ status: 503, retryAfter: 2 });
  expect(await statusOf('/healthz')).toBe(200);
  delays.mean = 25e6;
  expect(await statusOf('/me')).toBe(503);
  nowMs += 1_000;
  expect(await statusOf('/me')).toBe(200);
});

test.each<[MetricsReaders, string | undefined, number]>([
  ['local', undefined, 200],
  ['local', '6.6.6.6', 404],
  ['none', undefined, 404],
  ['all', '6.6.6.6', 200],
])(
  'if %s clients may read /metrics, a request with X-Forwarded-For %s gets status %i',
  async (readers, client, status) => {
    const url = await serve([metrics({ metrics: createMetrics(), readers })]);
    expect((await ask(`${url}/metrics`, client)).status).toBe(status);
  },
);

test('metrics name endpoints by number, because a host may contain a key', async () => {
  const source = createMetrics();
  const name = '#2 key123.example.org:8545';
  source.watchRpc(369, 'api', () => [{ name, calls: 3, errors: { network: 1 } }]);
  const text = await source.render();
  expect(text).toContain('candlehouse_rpc_calls_total{chain="369",user="api",endpoint="rpc-2"} 3');
  expect(text).not.toContain('key123');
});
