/**
 * Paths, methods, database failures and pages of the API over HTTP. httpContract.test.ts checks the contract of each
 * endpoint.
 */
import { openDatabase } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { startApi, type ApiServer, type Json } from '../../support/server/apiServer';
import { hexOf, snapshotOf } from '../../support/worlds/world';
import {
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../support/server/marketServer';

const PAIR = hexOf('bb', 0, 40);

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, tip: TIP } = marketWorld;
const HEAD = snapshotOf(world, FINAL, TIP);
let market: MarketServer;
beforeAll(async () => {
  market = await startMarket(marketWorld);
});

afterAll(() => market?.close());

beforeEach(() => {
  market.head = HEAD;
});

const TICKS = `/api/v1/pairs/${PAIR}/ticks`;

test.each([
  '/api/v1/nothing',
  '/api/v1',
  '/api/v1/pairs/x/y/z',
  '/API/V1/pairs',
  '/%',
  '/..%2f..%2fetc/passwd',
])('a request for the unknown path %s is a 404 with the error body', async (path) => {
  const answer = await market.api.get(path);
  expect([answer.status, answer.json]).toEqual([
    404,
    { success: false, error: expect.any(String), code: 'not_found' },
  ]);
});

test('a mistyped path is a 404 that suggests the correct path', async () => {
  const cases = [
    [`/api/v1/pair/${PAIR}`, `/api/v1/pairs/${PAIR}`],
    [`/pair/${PAIR}/ticks?limit=1`, `/api/v1/pairs/${PAIR}/ticks`],
    ['/API/V1/pairs', '/api/v1/pairs'],
  ] as const;
  for (const [path, meant] of cases) {
    const { status, json } = await market.api.get(path);
    expect([status, json['code']]).toEqual([404, 'not_found']);
    expect(json['error']).toMatch(new RegExp(`; did you mean ${meant}\\?$`));
  }
});

test('a mistyped parameter is a 400 that names both names, and other unknown parameters are ignored', async () => {
  const { status, json } = await market.api.get(`${TICKS}?timefram=5m`);
  expect([status, json]).toEqual([
    400,
    {
      success: false,
      code: 'bad_request',
      error: 'timefram: unknown parameter; did you mean timeframe?',
    },
  ]);
  const udf = await market.api.get('/udf/search?exchnage=x');
  expect(udf.json).toEqual({ s: 'error', errmsg: 'exchnage: unknown parameter; did you mean exchange?' });
  for (const query of ['timeframe=1h&timefram=5m', 'tim=1', '_=1732600000', 'utm_source=x', 'apikey=1'])
    expect([query, (await market.api.get(`${TICKS}?${query}`)).status]).toEqual([query, 200]);
});

test('a search finds a pair by its two symbols in any order, and ignores blanks around the text', async () => {
  const addresses = async (path: string, q: string): Promise<Json[]> => {
    const { status, text } = await market.api.get(`${path}${encodeURIComponent(q)}`);
    expect([path, q, status]).toEqual([path, q, 200]);
    const json = JSON.parse(text) as Json;
    const items: readonly Json[] = Array.isArray(json) ? json : json['data']!;
    return items.map((item) => item['address'] ?? item['ticker']!);
  };
  const { json } = await market.api.get('/api/v1/pairs?limit=100');
  const named = json['data']!.find(({ base_token: base, quote_token: quote }) =>
    [base, quote].every((token) => /^\w{3,}$/.test(String(token!['symbol']))),
  )!;
  const [base, quote] = ['base_token', 'quote_token'].map((side) => String(named[side]!['symbol']));
  for (const path of ['/api/v1/pairs?limit=100&q=', '/udf/search?limit=100&query=']) {
    const found = await addresses(path, `${base} / ${quote}`);
    expect(found).toContain(named['address']);
    for (const [a, b] of [
      [base, quote],
      [quote, base],
    ])
      for (const q of [`${a}/${b}`, `${a} ${b} `.toLowerCase(), `${a}-${b}`])
        expect([q, await addresses(path, q)]).toEqual([q, found]);
  }
  for (const path of ['/api/v1/pairs?q=', '/api/v1/tokens?q='])
    expect(await addresses(path, ` ${base} \t`)).toEqual(await addresses(path, String(base)));
  expect((await market.api.get('/api/v1/tokens?q=%20')).status).toBe(400);
});

test('a request for an unknown pair is a 404', async () => {
  for (const path of [`/api/v1/pairs/${hexOf('99', 1, 40)}`, `/api/v1/pairs/${hexOf('99', 1, 40)}/ticks`]) {
    const answer = await market.api.get(path);
    expect([answer.status, answer.json['code']]).toEqual([404, 'not_found']);
  }
});

test('the zero address is answered like any other address', async () => {
  const zero = `0x${'0'.repeat(40)}`;
  for (const path of ['contracts', 'tokens', 'pairs', 'portfolio'].map((kind) => `/api/v1/${kind}/${zero}`)) {
    const { status } = await market.api.get(path);
    expect([path, status < 500]).toEqual([path, true]);
  }
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])(
  'a request with %s is a 405 that lists the allowed methods',
  async (method) => {
    for (const path of ['/api/v1/pairs', '/nothing']) {
      const answer = await market.api.get(path, {}, method);
      expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(answer.json).toEqual({ success: false, error: expect.any(String), code: 'method_not_allowed' });
    }
  },
);

test('HEAD has the headers of GET without a body, and OPTIONS lists the allowed methods', async () => {
  const get = await market.api.get('/api/v1/pairs');
  const onlyHead = await market.api.get('/api/v1/pairs', {}, 'HEAD');
  expect([onlyHead.status, onlyHead.text]).toEqual([200, '']);
  for (const name of ['etag', 'content-length', 'content-type', 'x-indexed-block'])
    expect(onlyHead.headers[name]).toBe(get.headers[name]);
  const options = await market.api.get('/api/v1/pairs', {}, 'OPTIONS');
  expect([options.status, options.headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS']);
  const preflight = await market.api.get(
    '/api/v1/pairs',
    { Origin: 'http://x.test', 'Access-Control-Request-Method': 'GET' },
    'OPTIONS',
  );
  expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
});

test('a database failure is a 500 or 503 that shows no internal details', async () => {
  const bad = createQueryRunner(
    openDatabase({ url: market.readerUrl.replace(market.database, 'no_such_database') }),
  );
  const away = createQueryRunner(openDatabase({ url: 'http://u:secret@127.0.0.1:1/db' }));
  for (const [broken, statuses] of [
    [bad, [500]],
    [away, [503]],
  ] as const) {
    const server = await startApi(broken, () => market.head);
    for (const path of ['/api/v1/pairs', TICKS, '/api/v1/activity']) {
      const answer = await server.get(path, { 'X-Request-Id': 'my-id.1' });
      expect(statuses).toContain(answer.status);
      expect(answer.json).toMatchObject({
        success: false,
        code: answer.status === 500 ? 'internal' : 'unavailable',
      });
      expect(answer.text).not.toMatch(/SELECT|clickhouse|127\.0|no_such|secret|\.ts|at /i);
      expect(answer.headers['x-request-id']).toBe('my-id.1');
    }
    await server.close();
  }
});

test('paging through /activity by cursor neither repeats nor skips events while new ones arrive', async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  market.head = snapshotOf(world, FINAL, TIP - 20);
  const before = await listIds(market.api, '');
  for (let pages = 0; pages < 1_000; pages += 1) {
    // A cursor takes precedence over a page number.
    const place = cursor === null ? '' : `&page=3&cursor=${cursor}`;
    const answer = await market.api.get(`/api/v1/activity?limit=20${place}`);
    const { data, meta } = answer.json as unknown as Page;
    seen.push(...data.map(({ id }) => id));
    cursor = meta.next_cursor;
    expect(meta.has_next).toBe(cursor !== null);
    if (cursor === null) break;
    // The head advances between the pages.
    market.head = snapshotOf(world, FINAL, Math.min(TIP, market.head!.number + 1));
  }
  expect(seen).toEqual(before);
});

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly meta: {
    readonly next_cursor: string | null;
    readonly has_next: boolean;
    readonly total: number;
    readonly total_pages: number;
  };
}

async function listIds(server: ApiServer, filter: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const { data, meta } = (await server.get(`/api/v1/activity?limit=100&page=${page}${filter}`))
      .json as unknown as Page;
    ids.push(...data.map(({ id }) => id));
    if (page >= meta.total_pages) {
      expect(ids).toHaveLength(meta.total);
      expect(new Set(ids).size).toBe(ids.length);
      return ids;
    }
  }
}

test('pages of pairs contain every pair once, and a page past the end is empty', async () => {
  const addresses: Json[] = [];
  const pages = Math.ceil(MARKET_PLAN.pools / 3);
  for (let page = 1; page <= pages; page += 1) {
    const { json } = await market.api.get(`/api/v1/pairs?limit=3&page=${page}`);
    addresses.push(...json['data']!.map((pair) => pair['address']!));
    expect(json['meta']).toEqual({
      page,
      limit: 3,
      total: MARKET_PLAN.pools,
      total_pages: pages,
      has_next: page < pages,
      as_of_block: TIP,
      as_of_timestamp: market.head!.timestamp,
    });
  }
  expect(new Set(addresses).size).toBe(MARKET_PLAN.pools);
  const past = await market.api.get(`/api/v1/pairs?limit=3&page=${pages + 1}`);
  expect([past.status, past.json['data'], past.json['meta']!['has_next']]).toEqual([200, [], false]);
});

test('the parameter `to` in milliseconds gives the same bars as `to` in seconds', async () => {
  const seconds = market.head!.timestamp - 3_600;
  const bySeconds = await market.api.get(`${TICKS}?currency=quote&timeframe=1m&to=${seconds}`);
  const byMilliseconds = await market.api.get(`${TICKS}?currency=quote&timeframe=1m&to=${seconds * 1000}`);
  expect(bySeconds.json['data']!.length).toBeGreaterThan(0);
  expect(byMilliseconds.text).toBe(bySeconds.text);
});
