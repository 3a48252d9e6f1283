/** The HTTP contract of all market endpoints: shapes of answers, invalid parameters, a missing head, ETags. */
import { TIMEFRAMES } from '../../../src/domain/timeframes';
import { activityAnswerShape } from '../../../src/wire/activity';
import { auditAnswerShape } from '../../../src/wire/audit';
import { dexAnswerShape, dexesAnswerShape } from '../../../src/wire/dexes';
import { overviewAnswerShape } from '../../../src/wire/overview';
import { pairAnswerShape, pairsAnswerShape } from '../../../src/wire/pairs';
import { portfolioAnswerShape } from '../../../src/wire/portfolio';
import { ticksAnswerShape } from '../../../src/wire/ticks';
import { tokenAnswerShape, tokensAnswerShape, tokenTicksAnswerShape } from '../../../src/wire/tokens';
import {
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../support/server/marketServer';
import { hexOf, snapshotOf } from '../../support/worlds/world';

const PAIR = hexOf('bb', 0, 40);
const UNKNOWN = hexOf('99', 1, 40);
const CHECKSUMMED = '0xA1077a294dDE1B09bB078844df40758a5D0f9a27';
const WRONG_CHECKSUM = CHECKSUMMED.replace('A', 'a');
const TICKS = `/api/v1/pairs/${PAIR}/ticks`;
const TOKEN = `/api/v1/tokens/${hexOf('aa', 0, 40)}`;
const DEX = '/api/v1/dexes/pulsex_v1';
const PORTFOLIO = `/api/v1/portfolio/${CHECKSUMMED}`;

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, tip: TIP } = marketWorld;
const HEAD = snapshotOf(world, FINAL, TIP);
let market: MarketServer;

beforeAll(async () => {
  market = await startMarket(marketWorld);
});

afterAll(() => market?.close());

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
  ['/api/v1/tokens', tokensAnswerShape],
  ['/api/v1/tokens?limit=2&page=2&sort=symbol&order=asc&nonsense=1&nonsense=2', tokensAnswerShape],
  ['/api/v1/tokens?page=9007199254740991&limit=100', tokensAnswerShape],
  ['/api/v1/tokens?q=%25', tokensAnswerShape],
  [TOKEN, tokenAnswerShape],
  [TOKEN.replace('0xaa', '0xAA'), tokenAnswerShape],
  [`${TOKEN}/pools?limit=1&page=2`, pairsAnswerShape],
  [`${TOKEN}/audit`, auditAnswerShape],
  [`${TOKEN}/audit?block=${TIP}`, auditAnswerShape],
  [`${TOKEN}/ticks`, tokenTicksAnswerShape],
  [
    `${TOKEN}/ticks?currency=native&timeframe=1d&limit=1000&to=0&fill=true&invert=false`,
    tokenTicksAnswerShape,
  ],
  ['/api/v1/dexes', dexesAnswerShape],
  [`${DEX}?days=2`, dexAnswerShape],
  ['/api/v1/overview?unknown=1', overviewAnswerShape],
  [PORTFOLIO, portfolioAnswerShape],
];

test.each(GOOD)('the endpoint %s answers 200 in its declared shape', async (path, shape) => {
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
/** Integer parameters with their maximum, if the maximum is below the largest integer. */
const INTEGER_PARAMS: readonly (readonly [path: string, name: string, max?: number])[] = [
  ...['/api/v1/pairs', '/api/v1/activity', '/api/v1/tokens', `${TOKEN}/pools`, '/api/v1/dexes'].flatMap(
    (list) => [[list, 'page'] as const, [list, 'limit', 100] as const],
  ),
  [TICKS, 'limit', 1_000],
  [TICKS, 'to'],
  [`${TOKEN}/ticks`, 'limit', 1_000],
  [`${TOKEN}/ticks`, 'to'],
  [`${TOKEN}/audit`, 'block'],
  [DEX, 'days', 365],
];
const ZERO_ALLOWED = ['to', 'block'];
const BAD: [string, string, string?][] = [
  ...INTEGER_PARAMS.flatMap(([path, name, max]) =>
    [...INTEGERS, ...(max === undefined ? [] : [String(max + 1)])]
      .filter((value) => value !== '0' || !ZERO_ALLOWED.includes(name))
      .map((value): [string, string, string] => [
        `${path}?${name}=${encodeURI(value)}`,
        name,
        `${max ?? ''}`,
      ]),
  ),
  [`${TICKS}?timeframe=2m`, 'timeframe', TIMEFRAMES.join(', ')],
  [`${TICKS}?timeframe=1H`, 'timeframe'],
  [`${TICKS}?timeframe=1h&timeframe=1h`, 'timeframe'],
  [`${TICKS}?currency=native`, 'currency', 'usd, quote'],
  [`${TICKS}?fill=1`, 'fill', 'true'],
  [`${TICKS}?fill=`, 'fill'],
  [`${TICKS}?invert=yes&currency=quote`, 'invert'],
  [`${TICKS}?invert=true`, 'invert', 'quote'],
  [`${TICKS}?invert=true&currency=usd`, 'invert'],
  ['/api/v1/pairs/0x12/ticks', 'address', '64 hex digits'],
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
  [`/api/v1/pairs?q=${'x'.repeat(67)}`, 'q', '66'],
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
  [`${TOKEN}/audit?block=${TIP + 1}`, 'block', String(TIP)],
  [`/api/v1/tokens/${UNKNOWN}/audit?block=${TIP + 1}`, 'block', String(TIP)],
  [`${TOKEN}/audit?block=1&block=1`, 'block', 'one'],
  [`${TOKEN}/ticks?timeframe=2m`, 'timeframe', TIMEFRAMES.join(', ')],
  [`${TOKEN}/ticks?currency=quote`, 'currency', 'usd, native'],
  [`${TOKEN}/ticks?fill=1`, 'fill', 'true'],
  [`${TOKEN}/ticks?invert=1`, 'invert', 'true'],
  [`${TOKEN}/ticks?invert=true`, 'invert', 'quote'],
  ...['', '/pools', '/audit', '/ticks'].flatMap((end): [string, string][] => [
    [`/api/v1/tokens/0x12${end}`, 'address'],
    [`/api/v1/tokens/${WRONG_CHECKSUM}${end}`, 'address'],
  ]),
  ['/api/v1/tokens?sort=name', 'sort', 'market_cap_usd'],
  ['/api/v1/tokens?sort=', 'sort', 'symbol'],
  ['/api/v1/tokens?order=up', 'order', 'asc'],
  ['/api/v1/tokens?q=', 'q'],
  ['/api/v1/tokens?q=a&q=b', 'q', 'one'],
  [`/api/v1/tokens?q=${'x'.repeat(65)}`, 'q', '64'],
  [`/api/v1/tokens?q=${WRONG_CHECKSUM}`, 'q', 'checksum'],
  [`${DEX}?days=1&days=1`, 'days', 'one'],
];

test.each(BAD.map(([path, name, allowed = '']) => ({ path, name, allowed })))(
  'a request to $path with an invalid $name is a 400 that names the parameter',
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

const WITH_HEAD = [
  ...['/api/v1/pairs', `/api/v1/pairs/${PAIR}`, TICKS, '/api/v1/activity', '/api/v1/tokens', TOKEN],
  ...[
    `${TOKEN}/pools`,
    `${TOKEN}/audit`,
    `${TOKEN}/ticks`,
    '/api/v1/dexes',
    DEX,
    '/api/v1/overview',
    PORTFOLIO,
  ],
];

test('every market endpoint is a 503 while no block is indexed, and answers once a block is indexed', async () => {
  market.head = null;
  for (const path of WITH_HEAD) {
    const answer = await market.api.get(path);
    expect([path, answer.status, answer.json]).toEqual([
      path,
      503,
      { success: false, error: expect.any(String), code: 'unavailable' },
    ]);
    expect(answer.headers['x-indexed-block']).toBeUndefined();
  }
  for (const path of [`history?symbol=${PAIR}&resolution=60`, 'search', `symbols?symbol=${PAIR}`])
    expect((await market.api.get(`/udf/${path}`)).status).toBe(503);
  for (const path of ['/openapi.json', '/udf/config']) expect((await market.api.get(path)).status).toBe(200);
  market.head = HEAD;
  for (const path of WITH_HEAD) expect((await market.api.get(path)).status).toBe(200);
});

test('If-None-Match with the current ETag gives a 304, also with Cache-Control: no-cache', async () => {
  for (const path of [...WITH_HEAD, '/openapi.json']) {
    const first = await market.api.get(path);
    const etag = first.headers['etag'] ?? '';
    expect(etag).not.toBe('');
    for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await market.api.get(path, { 'If-None-Match': condition, 'Cache-Control': 'no-cache' });
      // A client with a compressed copy sends and gets the weak form of the tag.
      const tag = again.headers['etag']?.replace(/^W\//, '');
      expect([again.status, again.text, tag]).toEqual([304, '', etag]);
      expect(again.headers['x-indexed-block']).toBe(String(TIP));
    }
    const other = await market.api.get(path, { 'If-None-Match': '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  }
});
