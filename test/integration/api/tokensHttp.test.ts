/** The endpoints under /tokens over HTTP: parameters, errors, pages, searches, audits. */
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { readPairTable } from '../../../src/query/pairTable';
import { createTokenPrices } from '../../../src/query/tokenPrices';
import { readTokenTable, type TokenTable } from '../../../src/query/tokenTable';
import { auditAnswerShape } from '../../../src/wire/audit';
import { pairsAnswerShape } from '../../../src/wire/pairs';
import { tokenAnswerShape, tokensAnswerShape, tokenTicksAnswerShape } from '../../../src/wire/tokens';
import { CHAIN, type Json } from '../../support/apiServer';
import { CHAIN_ID, FIRST_BLOCK, hexOf } from '../../support/world';
import {
  listSnapshots,
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../support/marketServer';

const WPLS = hexOf('aa', 0, 40);
const ANCHOR = hexOf('aa', 1, 40);

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, tip: TIP } = marketWorld;
const heads = listSnapshots(marketWorld);
let market: MarketServer;
beforeAll(async () => {
  market = await startMarket(marketWorld);
});

afterAll(() => market?.close());

beforeEach(() => {
  market.head = heads[0]!;
});

async function readTable(at: HeadSnapshot): Promise<TokenTable> {
  const prices = createTokenPrices(market.runner, CHAIN_ID, CHAIN);
  const pairs = await readPairTable(market.runner, CHAIN_ID, at, prices, CHAIN.dexes);
  return readTokenTable(market.runner, CHAIN_ID, at, pairs, { of: () => null });
}

const TOKEN = `/api/v1/tokens/${WPLS}`;
const UNKNOWN = hexOf('99', 1, 40);
const WRONG_CHECKSUM = '0xa1077a294dDE1B09bB078844df40758a5D0f9a27';

const GOOD: [string, { parse(value: unknown): unknown }][] = [
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
];

test.each(GOOD)('%s answers 200 in its declared shape', async (path, shape) => {
  const answer = await market.api.get(path);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  shape.parse(answer.json);
  expect(answer.headers).toMatchObject({ 'x-indexed-block': String(TIP), etag: expect.any(String) });
  const again = await market.api.get(path, { 'If-None-Match': answer.headers['etag'] ?? '' });
  expect(again.status).toBe(304);
});

const INTEGERS = ['0', '-1', '1.5', 'abc', '', '%2B1', '1e3', '0x10', '9007199254740992', '%201'];
const BAD: [string, string, string?][] = [
  ...['/api/v1/tokens', `${TOKEN}/pools`].flatMap((list) => [
    ...INTEGERS.map((value): [string, string] => [`${list}?page=${value}`, 'page']),
    ...[...INTEGERS, '101'].map((value): [string, string, string] => [
      `${list}?limit=${value}`,
      'limit',
      '100',
    ]),
  ]),
  ...[...INTEGERS, '1001'].map((value): [string, string, string] => [
    `${TOKEN}/ticks?limit=${value}`,
    'limit',
    '1000',
  ]),
  ...INTEGERS.filter((value) => value !== '0').flatMap((value): [string, string][] => [
    [`${TOKEN}/ticks?to=${value}`, 'to'],
    [`${TOKEN}/audit?block=${value}`, 'block'],
  ]),
  [`${TOKEN}/audit?block=${TIP + 1}`, 'block', String(TIP)],
  [`/api/v1/tokens/${UNKNOWN}/audit?block=${TIP + 1}`, 'block', String(TIP)],
  [`${TOKEN}/audit?block=1&block=1`, 'block', 'one'],
  [`${TOKEN}/ticks?timeframe=2m`, 'timeframe', '1m, 5m, 15m, 1h, 4h, 1d'],
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
];

// Rows of one length: jest would take a parameter that a row does not fill for its `done`.
test.each(BAD.map(([path, name, allowed = '']) => [path, name, allowed]))(
  '%s is a 400 that names %s',
  async (path, name, allowed) => {
    const answer = await market.api.get(path);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      success: false,
      error: expect.stringContaining(name),
      code: 'bad_request',
    });
    expect(answer.text).toContain(allowed);
  },
);

test('a token that no pool holds is a 404 everywhere, and so is one whose pools the head does not know yet', async () => {
  const { entries } = await readTable(heads[0]!);
  market.head = heads[4]!;
  const known = (await readTable(market.head)).byAddress;
  const later = entries.find(({ item }) => !known.has(item.address))!.item.address;
  for (const address of [UNKNOWN, later])
    for (const end of ['', '/pools', '/audit', '/ticks']) {
      const answer = await market.api.get(`/api/v1/tokens/${address}${end}`);
      expect([answer.status, answer.json['code']]).toEqual([404, 'not_found']);
    }
});

test('without a head every endpoint of tokens is a 503', async () => {
  market.head = null;
  for (const path of ['/api/v1/tokens', TOKEN, `${TOKEN}/pools`, `${TOKEN}/audit`, `${TOKEN}/ticks`])
    expect((await market.api.get(path)).json['code']).toBe('unavailable');
});

test('pages of tokens hold every token once, and a page past the end is empty', async () => {
  const { entries } = await readTable(heads[0]!);
  const seen: Json[] = [];
  const pages = Math.ceil(entries.length / 2);
  for (let page = 1; page <= pages + 1; page += 1) {
    const { json } = await market.api.get(`/api/v1/tokens?limit=2&page=${page}`);
    seen.push(...json['data']!.map((token) => token['address']!));
    expect(json['meta']).toEqual({
      page,
      limit: 2,
      total: entries.length,
      total_pages: pages,
      has_next: page < pages,
      as_of_block: TIP,
      as_of_timestamp: heads[0]!.timestamp,
    });
  }
  expect([...seen].sort()).toEqual(entries.map(({ item }) => item.address));
});

test('a search finds wild cards and quotes as ordinary characters, and a full address only that token', async () => {
  const found = async (q: string): Promise<Json[]> =>
    (await market.api.get(`/api/v1/tokens?q=${encodeURIComponent(q)}`)).json['data']!.map(
      (token) => token['address']!,
    );
  expect(await found('%')).toEqual([hexOf('aa', 2, 40)]);
  expect(await found('_')).toEqual([hexOf('aa', 2, 40)]);
  expect(await found('"\\')).toEqual([hexOf('aa', 4, 40)]);
  expect(await found("'")).toEqual([]);
  expect(await found('wpls')).toEqual([WPLS]);
  expect(await found('NUMBER 5')).toEqual([hexOf('aa', 5, 40)]);
  expect(await found(WPLS.toUpperCase().replace('0X', '0x'))).toEqual([WPLS]);
  expect(await found(UNKNOWN)).toEqual([]);
});

test('the pools of a token are its pairs, the same items as in /pairs', async () => {
  const { json } = await market.api.get(`${TOKEN}/pools?limit=100`);
  const pairs = (await market.api.get(`/api/v1/pairs?limit=100&sort=liquidity_usd&token=${WPLS}`)).json;
  expect(json['data']!.length).toBeGreaterThan(1);
  expect(json).toEqual(pairs);
});

test('an audit of an anchor shows its configured price, another one says why there is none', async () => {
  const anchor = (await market.api.get(`/api/v1/tokens/${ANCHOR}/audit`)).json['data']!;
  expect(anchor).toMatchObject({
    token: { address: ANCHOR, symbol: 'USDC' },
    price_usd: '1.0025',
    method: 'stable_anchor',
    confidence: 'high',
    confidence_score: 0.99,
    hops: [],
    warnings: [{ code: 'not_finalized' }],
    derived_at_block: TIP,
    derived_at_timestamp: heads[0]!.timestamp,
  });
  const other = (await market.api.get(`${TOKEN}/audit`)).json['data']!;
  expect(other).toMatchObject({
    price_usd: null,
    method: 'none',
    confidence: 'none',
    confidence_score: 0,
    hops: [],
    warnings: [
      { code: 'no_route', message: expect.any(String), severity: 'warning' },
      { code: 'not_finalized', message: expect.any(String), severity: 'info' },
    ],
  });
  expect(other['inputs_hash']).not.toBe(anchor['inputs_hash']);
});

test("an audit is as of any block from the token's first pool to the head, final or not, and none before", async () => {
  const { byAddress } = await readTable(heads[0]!);
  const hashes = new Set<Json>();
  for (const { item, facts } of byAddress.values()) {
    const first = facts.firstSeenBlock;
    for (const number of new Set([first, FINAL, FINAL + 1, TIP])) {
      const answer = await market.api.get(`/api/v1/tokens/${item.address}/audit?block=${number}`);
      expect(answer.status).toBe(number < first ? 404 : 200);
      if (number < first) continue;
      expect(answer.json['data']).toMatchObject({
        derived_at_block: number,
        derived_at_timestamp: world.blocks[number - FIRST_BLOCK]!.timestamp,
      });
      hashes.add(answer.json['data']!['inputs_hash']!);
    }
    for (const number of [first - 1, 0])
      expect((await market.api.get(`/api/v1/tokens/${item.address}/audit?block=${number}`)).status).toBe(404);
  }
  expect(hashes.size).toBeGreaterThan(byAddress.size);
});
