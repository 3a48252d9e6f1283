/** Tests the HTTP app around its routes: rate limit, OpenAPI document, CORS, headers. */
import { runInNewContext } from 'node:vm';

import { z } from 'zod';

import { openDatabase } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { createApp } from '../../../src/api/app';
import { RpcError } from '../../../src/node/rpc/rpcError';
import { openChains } from '../../../src/commands/openChain';
import { loadConfig } from '../../../src/config';
import { AppError } from '../../../src/errors';
import { createLog } from '../../../src/log';
import { createMetrics } from '../../../src/metrics';
import { readChangeMark } from '../../../src/query/head/headState';
import { startApi, type Json } from '../../support/server/apiServer';

// No test in this file queries a database, so the app has no database.
const runner = createQueryRunner(openDatabase({ url: 'http://127.0.0.1:1/none' }));

// The clock of the rate limit stands still, so that no client gets allowance back.
beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(1_000));
afterEach(() => jest.restoreAllMocks());

test('requests beyond the limit per minute get 429 with Retry-After, except /healthz', async () => {
  const health = {
    path: '/healthz',
    doc: { summary: 'up', tag: 'service' as const },
    limited: false,
    handle: (ctx: { body: unknown }) => void (ctx.body = 'up'),
  };
  const server = await startApi(runner, () => null, { rateLimitPerMinute: 3, routes: [health] });
  const statuses: number[] = [];
  const preflight = { Origin: 'http://x.test', 'Access-Control-Request-Method': 'GET' };
  for (const headers of [{}, preflight, {}, preflight, {}]) {
    const options = await server.get('/api/v1/nothing', headers, 'OPTIONS');
    expect([options.status, options.headers['x-ratelimit-remaining']]).toEqual([204, undefined]);
  }
  for (let i = 0; i < 5; i += 1) statuses.push((await server.get('/api/v1/nothing')).status);
  expect(statuses).toEqual([404, 404, 404, 429, 429]);
  const refused = await server.get('/api/v1/pairs');
  expect(refused.json['code']).toBe('rate_limited');
  expect(Number(refused.headers['retry-after'])).toBe(20);
  expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
  expect((await server.get('/healthz')).status).toBe(200);
  await server.close();
});

test('a client that leaves during an answer causes no warning, but another failure does', () => {
  const lines: string[] = [];
  const log = createLog('debug', false, { write: (line: string) => void lines.push(line) });
  const app = createApp({ routes: [], head: () => null, log, corsOrigin: '*', rateLimitPerMinute: 0 });
  app.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  // Errors of Node itself are no instances of the Error of a test.
  app.emit('error', runInNewContext("Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })"));
  app.emit('error', new Error('no space'));
  const told = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
  expect(told.map(({ level, msg }) => [level, msg])).toEqual([
    [20, 'the client left before an answer was complete'],
    [20, 'the client left before an answer was complete'],
    [40, 'an answer could not be sent completely'],
  ]);
});

test('requests during a start log one line per second, without a stack; refusals log nothing; faults log a stack', async () => {
  const lines: string[] = [];
  const log = createLog('info', false, { write: (line: string) => void lines.push(line) });
  const doc = { summary: 'x', tag: 'service' as const, answer: z.any() };
  const thrower = (path: string, make: () => unknown) => ({
    path,
    doc,
    handle: () => Promise.reject(make()),
  });
  const options = { log, metrics: createMetrics(), ingests: false };
  const [chain] = openChains(
    loadConfig({}, () => ''),
    options,
  );
  const away = new RpcError('network', '#0: connect ECONNREFUSED', { cause: new Error('ECONNREFUSED') });
  const server = await startApi(runner, () => null, {
    log,
    load: { rowsPerMinute: 0, bytesPerMinute: 0, inFlightMax: 0, loopDelayMaxMs: 0 },
    routes: [
      { path: '/starting', doc, handle: async () => void (await readChangeMark(chain.runner)) },
      thrower('/node', () => away),
      thrower('/busy', () => new AppError('rate_limited', 'too many')),
      thrower('/fault', () => new TypeError('x is not a function')),
      thrower('/broken', () => new AppError('broken_invariant', 'two heads')),
    ],
  });
  const statuses: number[] = [];
  const ask = async (...paths: readonly string[]): Promise<void> => {
    for (const path of paths) statuses.push((await server.get(path)).status);
  };
  const told = () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>);
  await ask('/starting', '/api/v1/pairs', '/api/v1/tokens', '/node', '/starting');
  const [first, ...others] = told();
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    level: 40,
    url: '/starting',
    error: 'the database is still starting',
    requests: 1,
  });
  jest.spyOn(performance, 'now').mockReturnValue(1_999);
  await ask('/node');
  expect(told()).toEqual([]);
  jest.spyOn(performance, 'now').mockReturnValue(2_000);
  await ask('/node', '/node');
  expect(told()).toMatchObject([{ level: 40, url: '/node', error: '#0: connect ECONNREFUSED', requests: 6 }]);
  await ask('/nothing', '/api/v1/pairs?limit=0', '/busy');
  expect(told()).toEqual([]);
  await ask('/fault', '/broken');
  expect(told()).toMatchObject([
    { level: 50, err: { stack: expect.stringContaining('x is not a function') } },
    { level: 50, err: { stack: expect.stringContaining('two heads') } },
  ]);
  expect(statuses).toEqual([503, 503, 503, 503, 503, 503, 503, 503, 404, 400, 429, 500, 500]);
  expect(JSON.stringify(first)).not.toContain('    at ');
  await server.close();
});

test('the OpenAPI document describes every route and parameter, and all its references resolve', async () => {
  const server = await startApi(runner, () => null);
  const { json, text } = await server.get('/openapi.json');
  await server.close();
  const paths = json['paths']!;
  expect(Object.keys(paths).sort()).toEqual([
    '/api/v1/activity',
    '/api/v1/dexes',
    '/api/v1/dexes/{dex_name}',
    '/api/v1/overview',
    '/api/v1/pairs',
    '/api/v1/pairs/{address}',
    '/api/v1/pairs/{address}/ticks',
    '/api/v1/portfolio/{address}',
    '/api/v1/tokens',
    '/api/v1/tokens/{address}',
    '/api/v1/tokens/{address}/audit',
    '/api/v1/tokens/{address}/pools',
    '/api/v1/tokens/{address}/ticks',
    '/dexscreener/asset',
    '/dexscreener/events',
    '/dexscreener/latest-block',
    '/dexscreener/pair',
    '/llms.txt',
    '/openapi.json',
    '/udf/config',
    '/udf/history',
    '/udf/quotes',
    '/udf/search',
    '/udf/symbols',
    '/udf/time',
  ]);
  const names = (path: string): Json[] =>
    paths[path]!['get']!['parameters']!.map((parameter) => parameter['name']!);
  expect(names('/api/v1/pairs/{address}/ticks')).toEqual([
    'address',
    'timeframe',
    'limit',
    'to',
    'fill',
    'continuous',
    'currency',
    'invert',
    'base',
    'quote',
    'format',
    'compression',
  ]);
  const schemas = json['components']!['schemas']!;
  for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(schemas).toHaveProperty(name!);
  expect(text).not.toContain('#/$defs');
});

test('no schema of the OpenAPI document is only a reference to itself', async () => {
  const server = await startApi(runner, () => null);
  const { json } = await server.get('/openapi.json');
  await server.close();
  for (const [name, schema] of Object.entries(json['components']!['schemas']!))
    expect([name, schema]).not.toEqual([name, { $ref: `#/components/schemas/${name}` }]);
});

const origin = 'https://mine.test';

test.each([
  ['*', origin, '*'],
  [origin, origin, origin],
  [origin, 'https://other.test', origin],
])('with CORS_ORIGIN %s a page of %s gets the allowed origin %s', async (setting, asking, allowed) => {
  const server = await startApi(runner, () => null, { corsOrigin: setting });
  for (const path of ['/openapi.json', '/api/v1/pairs', '/nothing']) {
    const answer = await server.get(path, { Origin: asking });
    expect([path, answer.headers['access-control-allow-origin']]).toEqual([path, allowed]);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers['vary']).toMatch(/\bOrigin\b/);
  }
  const preflight = await server.get(
    '/api/v1/pairs',
    { Origin: asking, 'Access-Control-Request-Method': 'GET' },
    'OPTIONS',
  );
  expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, allowed]);
  await server.close();
});

test('every answer carries the security headers, including refusals', async () => {
  const server = await startApi(runner, () => null, { rateLimitPerMinute: 4 });
  const statuses: number[] = [];
  for (const [path, method] of [
    ['/openapi.json', 'GET'],
    ['/nothing', 'GET'],
    ['/api/v1/pairs', 'GET'],
    ['/api/v1/pairs?limit=0', 'GET'],
    ['/api/v1/pairs', 'POST'],
    ['/api/v1/pairs', 'GET'],
  ]) {
    const { status, headers } = await server.get(path!, {}, method);
    statuses.push(status);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'x-request-id': expect.any(String),
    });
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['server']).toBeUndefined();
  }
  expect(statuses).toEqual([200, 404, 503, 400, 405, 429]);
  await server.close();
});
