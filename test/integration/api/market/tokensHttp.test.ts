/** Tests the endpoints under /tokens over HTTP: unknown tokens, pages, searches, audits. */
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createPairTables } from '../../../../src/query/pairs/pairTable';
import { createTokenPrices } from '../../../../src/query/prices/tokenPrices';
import { readTokenTable, type TokenTable } from '../../../../src/query/tokens/tokenTable';
import { CHAIN, type Json } from '../../../support/server/apiServer';
import { CHAIN_ID, FIRST_BLOCK, hexOf } from '../../../support/worlds/world';
import {
  listSnapshots,
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../../support/server/marketServer';

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
  const pairs = await createPairTables(market.runner, CHAIN_ID, prices, CHAIN.dexes).at(at);
  return readTokenTable(market.runner, CHAIN_ID, at, pairs, { holdingOf: () => null });
}

const TOKEN = `/api/v1/tokens/${WPLS}`;
const UNKNOWN = hexOf('99', 1, 40);

test('a token without a pool at the head is a 404 on every path', async () => {
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

test('pages of tokens contain every token once, and a page past the end is empty', async () => {
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

test('the token search treats wildcards and quotes as plain characters, and a full address finds only its token', async () => {
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

test.each(['tokens', 'pairs'])(
  '/%s with min_liquidity_usd leaves out exactly the items with less liquidity, in the same order',
  async (list) => {
    const read = async (query: string): Promise<[address: string, liquidityUsd: number][]> =>
      (await market.api.get(`/api/v1/${list}?limit=100&sort=tx_24h&${query}`)).json['data']!.map(
        ({ address, liquidity_usd }) => [String(address), Number(liquidity_usd)],
      );
    const all = await read('order=desc');
    const smallest = Math.min(...all.map(([, usd]) => usd).filter((usd) => usd >= 1));
    const least = Math.ceil(smallest) + 1;
    const wanted = all.filter(([, usd]) => usd >= least);
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.length).toBeLessThan(all.length);
    expect(await read(`min_liquidity_usd=${least}`)).toEqual(wanted);
    expect(await read('min_liquidity_usd=0')).toEqual(all);
    const refused = await market.api.get(`/api/v1/${list}?min_liquidity_usd=-1`);
    expect([refused.status, refused.json['code']]).toEqual([400, 'bad_request']);
  },
);

test('/tokens/{address}/pools has the same items as /pairs with this token', async () => {
  const { json } = await market.api.get(`${TOKEN}/pools?limit=100`);
  const pairs = (await market.api.get(`/api/v1/pairs?limit=100&sort=liquidity_usd&token=${WPLS}`)).json;
  expect(json['data']!.length).toBeGreaterThan(1);
  expect(json).toEqual(pairs);
});

test('the audit of an anchor shows its configured price, and the audit of an unpriced token shows a reason', async () => {
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
      { code: 'one_sided_depth', message: expect.any(String), severity: 'info' },
      { code: 'not_finalized', message: expect.any(String), severity: 'info' },
    ],
  });
  expect(other['inputs_hash']).not.toBe(anchor['inputs_hash']);
});

test('an audit is available for every block from the first pool of the token to the head', async () => {
  const { byAddress } = await readTable(heads[0]!);
  const hashes = new Set<Json>();
  for (const { item, firstSeenBlock: first } of byAddress.values()) {
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
