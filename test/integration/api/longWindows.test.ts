import { openDatabase, type Database } from '../../../src/clickhouse/database';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/namedQueries';
import { createLog } from '../../../src/log';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { toPairDetail } from '../../../src/query/pairDetail';
import { readPairTable } from '../../../src/query/pairTable';
import { readPairWindows } from '../../../src/query/pairWindows';
import { createTokenPrices } from '../../../src/query/tokenPrices';
import { readTokenWindows } from '../../../src/query/tokenWindows';
import { createTestDatabase, type TestDatabase } from '../../support/engine';
import { CHAIN } from '../../support/apiServer';
import { expectClose, plainApr, sumUsd, swapsIn, upTo } from './plainMarket';
import { CHAIN_ID, FIRST_BLOCK, makeWorld, snapshotOf, storeWorld, type World } from '../../support/world';

const SEED = 9_090;
const BLOCKS = 420;
const FINAL = FIRST_BLOCK + 360;
const STORED = FIRST_BLOCK + 375;
const TIP = FIRST_BLOCK + BLOCKS - 1;
const WEEK = 604_800;
const MONTH = 2_592_000;

let test_: TestDatabase;
let db: Database;
let runner: QueryRunner;
let world: World;
let heads: HeadSnapshot[];

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, createLog('silent', false));
  // Some sixty days, so that both windows cut; several blocks in many an hour.
  world = makeWorld({ seed: SEED, blocks: BLOCKS, pools: 9, spacing: 6_000, events: 9 });
  await storeWorld(db, world, { storedTo: STORED, headFrom: FINAL - 10, inserts: 6 });
  runner = createQueryRunner(openDatabase({ url: test_.readerUrl }));
  heads = [
    snapshotOf(world, FINAL, TIP),
    snapshotOf(world, FINAL, FINAL),
    snapshotOf(world, FINAL - 150, FINAL - 150),
    snapshotOf(world, STORED, TIP),
    snapshotOf(world, FINAL - 11, FINAL + 5),
    snapshotOf(world, FIRST_BLOCK + 2, FIRST_BLOCK + 2),
  ];
});

afterAll(async () => {
  await db?.close();
  await test_?.drop();
});

test.each([
  ['few', 0],
  ['many', 1_000_000],
])(
  'sums of a pair with %s swaps over a week and a month are exact to the second in every state of the store',
  async (_, swapsADay) => {
    let cut = 0;
    for (const head of heads) {
      const prices = createTokenPrices(runner, CHAIN_ID, CHAIN);
      const table = await readPairTable(runner, CHAIN_ID, head, prices, CHAIN.dexes);
      for (const pool of upTo(world, head, (block) => block.pools)) {
        const { address } = pool;
        const windows = await readPairWindows(runner, CHAIN_ID, head, { address, all_tokens: [] }, swapsADay);
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

test('the week of a token is exact to the second, and its highest price the first of all time', async () => {
  let cut = 0;
  for (const head of heads)
    for (const { address } of world.tokens) {
      const windows = await readTokenWindows(runner, CHAIN_ID, head, address);
      const own = swapsIn(world, head, -Infinity).filter(
        ({ tracked, token0, token1 }) => tracked && (token0 === address || token1 === address),
      );
      const week = own.filter(({ timestamp }) => timestamp > head.timestamp - WEEK);
      expectClose(windows.volumeWeek, sumUsd(week, 'amount_usd'), 1e-12);
      const usdOf = (swap: (typeof own)[number]): number =>
        (swap.base_is_token0 ? swap.token0 : swap.token1) === address ? swap.price_usd : swap.quote_price_usd;
      const top = Math.max(0, ...own.map(usdOf));
      const first = own.find((swap) => usdOf(swap) === top);
      expect(windows.highest).toEqual(first === undefined ? null : { usd: top, timestamp: first.timestamp });
      if (week.length > 0 && week.length < own.length) cut += 1;
    }
  expect(cut).toBeGreaterThan(5);
});
