import { openDatabase } from '../../../src/clickhouse/database';
import { createQueryRunner } from '../../../src/clickhouse/namedQueries';
import { activityAnswerShape } from '../../../src/wire/activity';
import { pairAnswerShape, pairsAnswerShape } from '../../../src/wire/pairs';
import { ticksAnswerShape } from '../../../src/wire/ticks';
import { startApi, type ApiServer, type Json } from '../../support/apiServer';
import { hexOf, snapshotOf } from '../../support/world';
import { makeMarketWorld, MARKET_PLAN, startMarket, type MarketServer } from '../../support/marketServer';

const PAIR = hexOf('bb', 0, 40);
const CHECKSUMMED = '0xA1077a294dDE1B09bB078844df40758a5D0f9a27';
const WRONG_CHECKSUM = '0xa1077a294dDE1B09bB078844df40758a5D0f9a27';

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

const GOOD: [string, { parse(value: unknown): unknown }][] = [
  ['/api/v1/pairs', pairsAnswerShape],
  ['/api/v1/pairs?limit=1&page=2&sort=tx_24h&order=asc', pairsAnswerShape],
  ['/api/v1/pairs?dex=PULSEX_V2', pairsAnswerShape],
  ['/api/v1/pairs?dex=empty_dex', pairsAnswerShape],
  [`/api/v1/pairs?token=${hexOf('aa', 0, 40)}&nonsense=1&nonsense=2`, pairsAnswerShape],
  ['/api/v1/pairs?page=9007199254740991', pairsAnswerShape],
  [`/api/v1/pairs/${PAIR}`, pairAnswerShape],
  [`/api/v1/pairs/${PAIR.toUpperCase().replace('0X', '0x')}`, pairAnswerShape],
  [TICKS, ticksAnswerShape],
  [`${TICKS}?currency=quote&timeframe=5m&limit=1000&fill=true&invert=true`, ticksAnswerShape],
  [`${TICKS}?currency=quote&to=0`, ticksAnswerShape],
  [`${TICKS}?currency=quote&to=9007199254740991`, ticksAnswerShape],
  ['/api/v1/activity', activityAnswerShape],
  [`/api/v1/activity?event_type=mint,burn&pair=${PAIR}&limit=100`, activityAnswerShape],
  ['/api/v1/activity?page=9007199254740991&limit=100', activityAnswerShape],
  [`/api/v1/activity?maker=${CHECKSUMMED}`, activityAnswerShape],
];

test.each(GOOD)('%s answers 200 in its declared shape', async (path, shape) => {
  const answer = await market.api.get(path);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  shape.parse(answer.json);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-indexed-block': String(TIP),
    'x-indexed-block-hash': market.head!.hash,
    'x-content-type-options': 'nosniff',
    etag: expect.stringMatching(/^"[\w-]+"$/),
    'cache-control': expect.any(String),
    'x-request-id': expect.any(String),
    'server-timing': expect.stringMatching(/^total;dur=/),
  });
});

const INTEGERS = [
  '0',
  '-1',
  '1.5',
  'abc',
  '',
  '+1',
  '%2B1',
  '1e3',
  '0x10',
  '9007199254740992',
  '99999999999999999999999',
  ' 1',
  '1 ',
  '١',
];
const LISTS = ['/api/v1/pairs?', '/api/v1/activity?'];
const BAD: [string, string, string?][] = [
  ...LISTS.flatMap((list) =>
    INTEGERS.map((value): [string, string] => [`${list}page=${encodeURI(value)}`, 'page']),
  ),
  ...LISTS.flatMap((list) =>
    [...INTEGERS, '101'].map((value): [string, string, string] => [
      `${list}limit=${encodeURI(value)}`,
      'limit',
      '100',
    ]),
  ),
  ...[...INTEGERS, '1001'].map((value): [string, string, string] => [
    `${TICKS}?limit=${encodeURI(value)}`,
    'limit',
    '1000',
  ]),
  ...INTEGERS.filter((value) => value !== '0').map((value): [string, string] => [
    `${TICKS}?to=${encodeURI(value)}`,
    'to',
  ]),
  [`${TICKS}?timeframe=2m`, 'timeframe', '1m, 5m, 15m, 1h, 4h, 1d'],
  [`${TICKS}?timeframe=1H`, 'timeframe'],
  [`${TICKS}?timeframe=1h&timeframe=1h`, 'timeframe'],
  [`${TICKS}?currency=native`, 'currency', 'usd, quote'],
  [`${TICKS}?fill=1`, 'fill', 'true'],
  [`${TICKS}?fill=`, 'fill'],
  [`${TICKS}?invert=yes&currency=quote`, 'invert'],
  [`${TICKS}?invert=true`, 'invert', 'quote'],
  [`${TICKS}?invert=true&currency=usd`, 'invert'],
  ['/api/v1/pairs/0x12/ticks', 'address'],
  ['/api/v1/pairs/%zz', 'address'],
  ['/api/v1/pairs/%00', 'address'],
  [`/api/v1/pairs/${PAIR}00`, 'address'],
  [`/api/v1/pairs/${WRONG_CHECKSUM}`, 'address', 'checksum'],
  [`/api/v1/pairs/${WRONG_CHECKSUM}/ticks`, 'address'],
  ['/api/v1/pairs?page=1&page=2', 'page', 'one'],
  ['/api/v1/pairs?page', 'page'],
  ['/api/v1/pairs?sort=name', 'sort', 'liquidity_usd'],
  ['/api/v1/pairs?order=up', 'order', 'asc'],
  ['/api/v1/pairs?q=', 'q'],
  [`/api/v1/pairs?q=${'x'.repeat(65)}`, 'q', '64'],
  [`/api/v1/pairs?q=${WRONG_CHECKSUM}`, 'q'],
  ['/api/v1/pairs?dex=uniswap_v9', 'dex', 'empty_dex, nine_v3, pulsex_v1, pulsex_v2'],
  ['/api/v1/pairs?token=0x1', 'token'],
  ['/api/v1/activity?event_type=swaps', 'event_type', 'swap,mint,burn,sync'],
  ['/api/v1/activity?event_type=swap,', 'event_type'],
  ['/api/v1/activity?event_type=', 'event_type'],
  [`/api/v1/activity?pair=${WRONG_CHECKSUM}`, 'pair'],
  ['/api/v1/activity?token=WPLS', 'token'],
  ["/api/v1/activity?maker=' OR 1=1".replaceAll(' ', '%20'), 'maker'],
  ['/api/v1/activity?cursor=', 'cursor'],
  ['/api/v1/activity?cursor=abc', 'cursor'],
  ['/api/v1/activity?cursor=MTAwLTI=', 'cursor'],
  [`/api/v1/activity?cursor=${Buffer.from('99999999999-1').toString('base64url')}`, 'cursor'],
  [`/api/v1/activity?cursor=${Buffer.from('100-1048576').toString('base64url')}`, 'cursor'],
  [`/api/v1/pairs?q=${'x'.repeat(5_000)}`, 'URL', '4096'],
];

test.each(BAD.map(([path, name, allowed = '']) => ({ path, name, allowed })))(
  '$path is a 400 that names $name',
  async ({ path, name, allowed }) => {
    const answer = await market.api.get(path);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      success: false,
      error: expect.stringContaining(name),
      code: 'bad_request',
    });
    if (allowed !== undefined)
      expect(answer.text.replaceAll(', ', ',')).toContain(allowed.replaceAll(', ', ','));
  },
);

test.each([
  '/api/v1/nothing',
  '/api/v1',
  '/api/v1/pairs/x/y/z',
  '/API/V1/pairs',
  '/%',
  '/..%2f..%2fetc/passwd',
])('the unknown path %s is a 404 with the error body', async (path) => {
  const answer = await market.api.get(path);
  expect([answer.status, answer.json]).toEqual([
    404,
    { success: false, error: expect.any(String), code: 'not_found' },
  ]);
});

test('an unknown pair is a 404', async () => {
  for (const path of [`/api/v1/pairs/${hexOf('99', 1, 40)}`, `/api/v1/pairs/${hexOf('99', 1, 40)}/ticks`]) {
    const answer = await market.api.get(path);
    expect([answer.status, answer.json['code']]).toEqual([404, 'not_found']);
  }
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])(
  '%s is a 405 that says what is allowed',
  async (method) => {
    for (const path of ['/api/v1/pairs', '/nothing']) {
      const answer = await market.api.get(path, {}, method);
      expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(answer.json).toEqual({ success: false, error: expect.any(String), code: 'method_not_allowed' });
    }
  },
);

test('HEAD gives the headers of GET without a body, OPTIONS what is allowed', async () => {
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

test('an unchanged answer is a 304 for whoever has it, also when the client says no-cache as fetch does', async () => {
  for (const path of ['/api/v1/pairs', TICKS, '/api/v1/activity', '/openapi.json']) {
    const first = await market.api.get(path);
    const etag = first.headers['etag'] ?? '';
    expect(etag).not.toBe('');
    for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await market.api.get(path, { 'If-None-Match': condition, 'Cache-Control': 'no-cache' });
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
      expect(again.headers['x-indexed-block']).toBe(String(TIP));
    }
    const other = await market.api.get(path, { 'If-None-Match': '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  }
});

test('without a head every market endpoint is a 503, and comes back with it', async () => {
  market.head = null;
  for (const path of ['/api/v1/pairs', `/api/v1/pairs/${PAIR}`, TICKS, '/api/v1/activity']) {
    const answer = await market.api.get(path);
    expect([answer.status, answer.json]).toEqual([
      503,
      { success: false, error: expect.any(String), code: 'unavailable' },
    ]);
    expect(answer.headers['x-indexed-block']).toBeUndefined();
  }
  expect((await market.api.get('/openapi.json')).status).toBe(200);
  market.head = HEAD;
  expect((await market.api.get('/api/v1/pairs')).status).toBe(200);
});

test('a broken database is a 500 or 503 that shows nothing of it', async () => {
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

test('pages of activity by cursor neither repeat nor skip while rows arrive', async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  market.head = snapshotOf(world, FINAL, TIP - 20);
  const before = await listIds(market.api, '');
  for (let pages = 0; pages < 1_000; pages += 1) {
    // A cursor counts more than a page.
    const place = cursor === null ? '' : `&page=3&cursor=${cursor}`;
    const answer = await market.api.get(`/api/v1/activity?limit=20${place}`);
    const { data, meta } = answer.json as unknown as Page;
    seen.push(...data.map(({ id }) => id));
    cursor = meta.next_cursor;
    expect(meta.has_next).toBe(cursor !== null);
    if (cursor === null) break;
    // The head moves on between the pages.
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

test('pages of pairs hold every pair once, and a page past the end is empty', async () => {
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

test('milliseconds in `to` mean the same bars as seconds', async () => {
  const seconds = market.head!.timestamp - 3_600;
  const bySeconds = await market.api.get(`${TICKS}?currency=quote&timeframe=1m&to=${seconds}`);
  const byMilliseconds = await market.api.get(`${TICKS}?currency=quote&timeframe=1m&to=${seconds * 1000}`);
  expect(bySeconds.json['data']!.length).toBeGreaterThan(0);
  expect(byMilliseconds.text).toBe(bySeconds.text);
});
