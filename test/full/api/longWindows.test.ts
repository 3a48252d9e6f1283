/** Compares sums over a week and a month with a plain recomputation. */
import { toPairDetail } from '../../../src/query/pairs/pairDetail';
import { createPairTables } from '../../../src/query/pairs/pairTable';
import { readPairWindows } from '../../../src/query/pairs/pairWindows';
import { createTokenPrices } from '../../../src/query/prices/tokenPrices';
import { readTokenWindows } from '../../../src/query/tokens/tokenWindows';
import { CHAIN } from '../../support/server/apiServer';
import {
  expectClose,
  plainApr,
  sumUsd,
  swapsIn,
  upTo,
  usdBySwap,
} from '../../integration/api/market/plainMarket';
import { CHAIN_ID, FIRST_BLOCK, snapshotOf } from '../../support/worlds/world';
import { makeMarketWorld, MARKET_PLAN, storeMarket } from '../../support/server/marketServer';
import type { TestStore } from '../../support/engine/testStore';

const WEEK = 604_800;
const MONTH = 2_592_000;

// Sixty days, longer than the windows of a week and a month, with several blocks in many hours.
const marketWorld = makeMarketWorld({
  ...MARKET_PLAN,
  blocks: 420,
  spacing: 6_000,
  events: 9,
  finalTo: 360,
  storedTo: 375,
  headFrom: 350,
});
const { world, finalTo: FINAL, storedTo: STORED, tip: TIP } = marketWorld;
const heads = [
  snapshotOf(world, FINAL, TIP),
  snapshotOf(world, FINAL, FINAL),
  snapshotOf(world, FINAL - 150, FINAL - 150),
  snapshotOf(world, STORED, TIP),
  snapshotOf(world, FINAL - 11, FINAL + 5),
  snapshotOf(world, FIRST_BLOCK + 2, FIRST_BLOCK + 2),
];
let store: TestStore;
beforeAll(async () => {
  store = await storeMarket(marketWorld);
});

afterAll(() => store?.close());

test.each([
  ['few', 0],
  ['many', 1_000_000],
])(
  'week and month sums of a pair with %s swaps are exact to the second, in every state of the store',
  async (_, swapsADay) => {
    let cut = 0;
    for (const head of heads) {
      const prices = createTokenPrices(store.runner, CHAIN_ID, CHAIN);
      const table = await createPairTables(store.runner, CHAIN_ID, prices, CHAIN.dexes).at(head);
      for (const pool of upTo(world, head, (block) => block.pools)) {
        const { address } = pool;
        const windows = await readPairWindows(
          store.runner,
          CHAIN_ID,
          head,
          { address, all_tokens: [] },
          swapsADay,
        );
        const swaps = (seconds: number): ReturnType<typeof swapsIn> =>
          swapsIn(world, head, head.timestamp - seconds).filter(({ pair }) => pair === pool.address);
        expectClose(windows.volumeWeek, sumUsd(swaps(WEEK), 'amount_usd'), 1e-12);
        expectClose(windows.volumeMonth, sumUsd(swaps(MONTH), 'amount_usd'), 1e-12);
        expectClose(windows.feesWeek, sumUsd(swaps(WEEK), 'fee_usd'), 1e-12);
        const detail = toPairDetail(table.byAddress.get(pool.address)!, windows, {
          holding: null,
          partial: true,
        });
        const share = CHAIN.dexes.find(({ name }) => name === pool.dex)?.protocolFeeShare ?? 0;
        const lpFees = sumUsd(swaps(WEEK), 'fee_usd') * (1 - share);
        expectClose(detail.apr_7d, plainApr(world, head, pool, WEEK, lpFees));
        const ever = swaps(Infinity).filter(({ tracked }) => tracked).length;
        const month = swaps(MONTH).filter(({ tracked }) => tracked).length;
        const week = swaps(WEEK).filter(({ tracked }) => tracked).length;
        if (week > 0 && week < month && month < ever) cut += 1;
      }
    }
    expect(cut).toBeGreaterThan(3);
  },
);

test('the weekly sum of a token is exact to the second, and its all-time high has the time at which the price was first reached', async () => {
  let cut = 0;
  for (const head of heads)
    for (const { address } of world.tokens) {
      const windows = await readTokenWindows(store.runner, CHAIN_ID, head, address);
      const own = swapsIn(world, head, -Infinity).filter(
        ({ tracked, token0, token1 }) => tracked && (token0 === address || token1 === address),
      );
      const week = own.filter(({ timestamp }) => timestamp > head.timestamp - WEEK);
      expectClose(windows.volumeWeek, sumUsd(week, 'amount_usd'), 1e-12);
      const usdOf = (swap: (typeof own)[number]): number => usdBySwap(swap, address, 'highs');
      const top = Math.max(0, ...own.map(usdOf));
      const first = own.find((swap) => usdOf(swap) === top);
      expect(windows.highest).toEqual(
        first === undefined || top === 0 ? null : { usd: top, timestamp: first.timestamp },
      );
      if (week.length > 0 && week.length < own.length) cut += 1;
    }
  expect(cut).toBeGreaterThan(5);
});
