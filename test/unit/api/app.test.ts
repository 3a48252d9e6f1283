import { openDatabase } from '../../../src/clickhouse/database';
import { createQueryRunner } from '../../../src/clickhouse/namedQueries';
import { startApi, type Json } from '../../integration/api/apiServer';

// Nothing here asks the database, and none is there.
const runner = createQueryRunner(openDatabase({ url: 'http://127.0.0.1:1/none' }), { checkRows: true });

test("the rate limit answers 429 with Retry-After beyond the minute's calls, and never for health", async () => {
  const health = {
    path: '/healthz',
    doc: { summary: 'up', tag: 'service' as const },
    limited: false,
    handle: (ctx: { body: unknown }) => void (ctx.body = 'up'),
  };
  const server = await startApi(runner, () => null, { rateLimitPerMinute: 3, routes: [health] });
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) statuses.push((await server.get('/api/v1/nothing')).status);
  expect(statuses).toEqual([404, 404, 404, 429, 429]);
  const refused = await server.get('/api/v1/pairs');
  expect(refused.json['code']).toBe('rate_limited');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
  expect((await server.get('/healthz')).status).toBe(200);
  await server.close();
});

test('the OpenAPI document describes every route and parameter, and refers to nothing that is missing', async () => {
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
    '/openapi.json',
  ]);
  const names = (path: string): Json[] =>
    paths[path]!['get']!['parameters']!.map((parameter) => parameter['name']!);
  expect(names('/api/v1/pairs/{address}/ticks')).toEqual([
    'address',
    'timeframe',
    'limit',
    'to',
    'currency',
    'fill',
    'invert',
    'base',
    'quote',
  ]);
  const schemas = json['components']!['schemas']!;
  for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(schemas).toHaveProperty(name!);
  expect(text).not.toContain('#/$defs');
});
