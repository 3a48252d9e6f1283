/** Compares figures and history of DEXes with a plain recomputation, in every state of the store. */
import type { SwapRow } from '../../../../src/clickhouse/schema/tables';
import { listDexDays } from '../../../../src/query/dexes/dexDays';
import { getDexHistory } from '../../../../src/query/dexes/dexHistory';
import { readDexTable, type DexTable } from '../../../../src/query/dexes/dexTable';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createPairTables } from '../../../../src/query/pairs/pairTable';
import { createTokenPrices } from '../../../../src/query/prices/tokenPrices';
import { dexAnswerShape, dexesAnswerShape, dexItemShape } from '../../../../src/wire/dexes';
import { CHAIN } from '../../../support/server/apiServer';
import { expectChange, expectClose, sumUsd, swapsIn, tvlNow, upTo } from './plainMarket';
import { createRandom } from '../../../support/createRandom';
import { CHAIN_ID } from '../../../support/worlds/world';
import {
  listSnapshots,
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../../support/server/marketServer';

const DAY = 86_400;

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world } = marketWorld;
const heads = listSnapshots(marketWorld);
let market: MarketServer;
beforeAll(async () => {
  market = await startMarket(marketWorld);
});

afterAll(() => market?.close());

beforeEach(() => {
  market.head = heads[0]!;
});

async function readTable(at: HeadSnapshot): Promise<DexTable> {
  const prices = createTokenPrices(market.runner, CHAIN_ID, CHAIN);
  const pairs = await createPairTables(market.runner, CHAIN_ID, prices, CHAIN.dexes).at(at);
  return readDexTable(market.runner, CHAIN_ID, at, CHAIN.dexes, pairs);
}

function makersOf(swaps: readonly SwapRow[]): number | null {
  const makers = new Set(swaps.map(({ maker }) => maker).filter((maker) => maker !== null));
  return makers.size === 0 && swaps.length > 0 ? null : makers.size;
}

test('the figures of each DEX equal a plain recomputation, in every state of the store', async () => {
  for (const at of heads) {
    const { items, traders, trades, volumeBefore } = await readTable(at);
    const now = at.timestamp;
    const day = swapsIn(world, at, now - DAY, now);
    const before = swapsIn(world, at, now - 2 * DAY, now - DAY);
    const total = sumUsd(day, 'amount_usd');
    const tvls = upTo(world, at, (block) => block.pools).map((pool) => ({
      ...pool,
      tvl: tvlNow(world, at, pool),
    }));
    const allTvl = tvls.reduce((sum, { tvl }) => sum + tvl, 0);
    expect([traders, trades]).toEqual([makersOf(day), day.length]);
    expectClose(volumeBefore, sumUsd(before, 'amount_usd'));
    expect(items.map(({ dex_name }) => dex_name).sort()).toEqual([
      'empty_dex',
      'nine_v3',
      'pulsex_v1',
      'pulsex_v2',
    ]);
    for (const item of items) {
      dexItemShape.parse(item);
      const own = <T extends { dex: string }>(rows: readonly T[]): T[] =>
        rows.filter(({ dex }) => dex === item.dex_name);
      const pools = own(upTo(world, at, (block) => block.pools));
      const configured = CHAIN.dexes.find(({ name }) => name === item.dex_name)!;
      const volume = sumUsd(own(day), 'amount_usd');
      expect(item).toMatchObject({
        display_name: configured.displayName,
        factories: [...new Set([configured.factory, ...pools.map(({ factory }) => factory)])].sort(),
        tx_24h: own(day).length,
        traders_24h: makersOf(own(day)),
        pool_count: pools.length,
        active_pools_24h: new Set(own(day).map(({ pair }) => pair)).size,
        last_trade_at: own(swapsIn(world, at, 0, now)).at(-1)?.timestamp ?? null,
      });
      expectClose(item.volume_24h_usd, volume);
      expectClose(item.fees_24h_usd, sumUsd(own(day), 'fee_usd'));
      const protocolFees = sumUsd(own(day), 'fee_usd') * (configured.protocolFeeShare ?? 0);
      expectClose(item.protocol_fees_24h_usd, protocolFees);
      const tvl = own(tvls).reduce((sum, pool) => sum + pool.tvl, 0);
      expectClose(item.tvl_usd, tvl);
      expectClose(item.tvl_share, allTvl === 0 ? null : (tvl / allTvl) * 100);
      expectClose(item.volume_7d_usd, sumUsd(own(swapsIn(world, at, now - 7 * DAY, now)), 'amount_usd'));
      expectChange(item.volume_change_24h, volume, sumUsd(own(before), 'amount_usd'));
      expectClose(item.market_share_24h, total === 0 ? null : (volume / total) * 100);
    }
    const volumes = items.map(({ volume_24h_usd }) => volume_24h_usd);
    expect(volumes).toEqual([...volumes].sort((a, b) => b - a));
    const shares = items.map(({ market_share_24h }) => market_share_24h ?? 0);
    if (total !== 0) expect(Math.abs(shares.reduce((a, b) => a + b) - 100)).toBeLessThan(0.01);
  }
});

test('a DEX shows its pool types even before it has a pool', async () => {
  const { items } = await readTable(heads[0]!);
  const typesOf = (name: string): unknown => items.find(({ dex_name }) => dex_name === name)!.pool_types;
  expect(typesOf('empty_dex')).toEqual([4]);
  expect(typesOf('nine_v3')).toEqual([3]);
  expect(typesOf('pulsex_v1')).toEqual([2]);
});

test('the sums of a DEX over any time span equal the sums over its swaps', async () => {
  const random = createRandom(world.seed);
  for (const at of heads) {
    const first = world.blocks[0]!.timestamp;
    for (let i = 0; i < 12; i += 1) {
      const hourly = random() < 0.3;
      const time = (): number => {
        const any = first - 3_600 + random.int(at.timestamp - first + 3_601);
        return hourly ? any - (any % 3_600) : any;
      };
      const [a, b] = [time(), time()];
      const stretch = { since: Math.min(a, b), until: Math.max(a, b) };
      const rows = await listDexDays(market.runner, CHAIN_ID, at, stretch);
      const wanted = swapsIn(world, at, stretch.since, stretch.until);
      const countOf = (dex: string, day: number): number =>
        rows.filter((row) => row.dex === dex && row.day === day).reduce((sum, row) => sum + row.trades, 0);
      const keys = new Map<string, number>();
      for (const { dex, timestamp } of wanted) {
        const key = `${dex} ${timestamp - (timestamp % DAY)}`;
        keys.set(key, (keys.get(key) ?? 0) + 1);
      }
      for (const [key, swaps] of keys) {
        const [dex = '', day = ''] = key.split(' ');
        expect([stretch, key, countOf(dex, Number(day))]).toEqual([stretch, key, swaps]);
      }
      expect(rows.reduce((sum, row) => sum + row.trades, 0)).toBe(wanted.length);
    }
  }
});

test('the history of a DEX has every day since the first block, with the trades of that day only', async () => {
  for (const at of heads)
    for (const item of (await readTable(at)).items)
      for (const days of [1, 3, 365]) {
        const history = await getDexHistory(market.runner, CHAIN_ID, at, item, days);
        const last = at.timestamp - (at.timestamp % DAY);
        const first = world.blocks[0]!.timestamp - (world.blocks[0]!.timestamp % DAY);
        const from = Math.max(first, last - (days - 1) * DAY);
        expect(history.map(({ time }) => time)).toEqual(
          Array.from({ length: (last - from) / DAY + 1 }, (_, index) => from + index * DAY),
        );
        for (const { time, tx, volume_usd, fees_usd, market_share, tvl_usd } of history) {
          const all = swapsIn(world, at, time - 1, time + DAY - 1);
          const own = all.filter(({ dex }) => dex === item.dex_name);
          const [volume, total] = [sumUsd(own, 'amount_usd'), sumUsd(all, 'amount_usd')];
          // TVL is known for the last day only, because this test stores no TVL of past days.
          expect([tx, tvl_usd]).toEqual([own.length, time === last ? item.tvl_usd : null]);
          expectClose(volume_usd, volume);
          expectClose(fees_usd, sumUsd(own, 'fee_usd'));
          expectClose(market_share, total === 0 ? null : (volume / total) * 100);
        }
      }
});

test('a DEX is found by its name in any letter case, and shows its ten most traded pairs', async () => {
  for (const name of ['pulsex_v1', 'PulseX_V1']) {
    const answer = await market.api.get(`/api/v1/dexes/${name}?days=2`);
    expect(answer.status).toBe(200);
    const { data } = dexAnswerShape.parse(answer.json);
    expect(data).toMatchObject({ dex_name: 'pulsex_v1', display_name: 'PulseX V1' });
    expect(data.history).toHaveLength(2);
    expect(data.top_pairs).toHaveLength(Math.min(10, data.pool_count));
    const volumes = data.top_pairs.map(({ volume_24h_usd }) => volume_24h_usd);
    expect(volumes).toEqual([...volumes].sort((a, b) => b - a));
    expect(data.top_pairs.every(({ dex_name }) => dex_name === 'pulsex_v1')).toBe(true);
  }
});

test('the list of DEXes has the same paging as other lists', async () => {
  const { json } = await market.api.get('/api/v1/dexes?limit=3&page=2');
  dexesAnswerShape.parse(json);
  expect(json['data']).toHaveLength(1);
  expect(json['meta']).toMatchObject({ page: 2, limit: 3, total: 4, total_pages: 2, has_next: false });
  expect((await market.api.get('/api/v1/dexes?page=3&limit=3')).json['data']).toEqual([]);
});

test.each(['nothing', '%20', 'pulsex_v1%00', "'", '%25', 'x'.repeat(300)])(
  'a request for the unknown DEX %s is a 404',
  async (name) => {
    const answer = await market.api.get(`/api/v1/dexes/${name}`);
    expect([answer.status, answer.json['code']]).toEqual([404, 'not_found']);
  },
);
