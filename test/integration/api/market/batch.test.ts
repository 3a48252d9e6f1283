/** Lists of pairs and tokens by their addresses. */
import type { Json } from '../../../support/server/apiServer';
import { hexOf } from '../../../support/worlds/world';
import {
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../../support/server/marketServer';

const UNKNOWN = hexOf('99', 1, 40);

// More pairs than one request may name.
const marketWorld = makeMarketWorld({ ...MARKET_PLAN, pools: 40 });
let market: MarketServer;
beforeAll(async () => {
  market = await startMarket(marketWorld);
});

afterAll(() => market?.close());

describe.each([
  ['/api/v1/pairs', 30],
  ['/api/v1/tokens', 6],
])('the parameter addresses of the list %s selects items', (path, most) => {
  const listAll = async (): Promise<Json[]> => [...(await market.api.get(`${path}?limit=100`)).json['data']!];
  const batch = async (addresses: readonly string[], more = ''): Promise<Json> =>
    (await market.api.get(`${path}?addresses=${addresses.join(',')}${more}`)).json;

  test('a list with addresses returns the items in the requested order, each once, without unknown addresses', async () => {
    const all = await listAll();
    const wanted = all
      .map((item) => String(item['address']))
      .reverse()
      .slice(0, most);
    const { data, meta } = await batch(wanted);
    expect(data).toEqual(wanted.map((address) => all.find((item) => String(item['address']) === address)));
    expect(meta).toMatchObject({ page: 1, total: wanted.length, total_pages: 1, has_next: false });
    const [first, second] = wanted as [string, string];
    const shouted = second.toUpperCase().replace('0X', '0x');
    const mixed = await batch(
      [UNKNOWN, shouted, first, second, UNKNOWN],
      '&page=7&limit=1&sort=liquidity_usd&q=zzz',
    );
    expect(mixed['data']!.map((item) => String(item['address']))).toEqual([second, first]);
    expect((await batch([UNKNOWN]))['data']).toEqual([]);
  });

  test.each([
    ['', 'addresses'],
    ['0x12', 'addresses'],
    [`${UNKNOWN},`, 'addresses'],
    [`${UNKNOWN} ${UNKNOWN}`, 'addresses'],
    ['0xa1077a294dDE1B09bB078844df40758a5D0f9a27', 'checksum'],
    [Array.from({ length: 31 }, (_, i) => hexOf('bb', i, 40)).join(','), '1 to 30'],
  ])('the value "%s" of addresses is a 400 whose error contains %s', async (addresses, text) => {
    const answer = await market.api.get(`${path}?addresses=${encodeURIComponent(addresses)}`);
    expect([answer.status, answer.json['error']]).toEqual([400, expect.stringContaining(text)]);
  });
});
