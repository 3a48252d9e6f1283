/** Compares the figures of the whole market with a plain recomputation, in every state of the store. */
import type { Database } from '../../../../src/clickhouse/client/database';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import {
  blocksTable,
  poolsTable,
  poolStatesTable,
  swapsTable,
  tokenPricesTable,
  type BlockRow,
} from '../../../../src/clickhouse/schema/tables';
import { saveProgress, type SearchProgress } from '../../../../src/ingest/olderPools/searchProgress';
import { readPoolSearch } from '../../../../src/query/olderPools/olderPools';
import { overviewAnswerShape } from '../../../../src/wire/overview';
import { CHAIN } from '../../../support/server/apiServer';
import { expectChange, expectClose, priceNow, sumUsd, swapsIn, tvlNow, upTo } from './plainMarket';
import { createRandom } from '../../../support/createRandom';
import {
  CHAIN_ID,
  commitOf,
  FIRST_BLOCK,
  insertTokens,
  snapshotOf,
  type WorldBlock,
} from '../../../support/worlds/world';
import {
  makeMarketWorld,
  MARKET_PLAN,
  serveMarket,
  type MarketServer,
} from '../../../support/server/marketServer';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';

const FINAL_AT_ONCE = 20;
const DAY = 86_400;
/** Blocks from SILENT_FROM have no gas prices, and blocks from FEELESS_FROM also no base fee. */
const SILENT_FROM = FIRST_BLOCK + 40;
const SILENT_TO = FIRST_BLOCK + 80;
const FEELESS_FROM = FIRST_BLOCK + 60;

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, storedTo: STORED, tip: TIP } = marketWorld;
const random = createRandom(world.seed);
const rows = world.blocks.map((block) => toBlockRow(block));
let market: MarketServer;
let store: TestStore;
beforeAll(async () => {
  store = await openTestStore(async ({ db }) => {
    await insertTokens(db, world.tokens);
    await storeFinal(db);
    await storeHead(db);
  });
  market = await serveMarket(store, snapshotOf(world, FINAL, TIP));
});

afterAll(() => market?.close());

function toBlockRow(block: WorldBlock): BlockRow {
  const { number } = block;
  const silent = number >= SILENT_FROM && number < SILENT_TO;
  const transactions = silent && random() < 0.3 ? 0 : random.int(6);
  return {
    chain_id: CHAIN_ID,
    number,
    hash: block.hash,
    parent_hash: block.parentHash,
    timestamp: block.timestamp,
    base_fee: number >= FEELESS_FROM && number < SILENT_TO ? null : random.big(50),
    transaction_count: transactions,
    log_count: 0,
    gas_prices: silent ? [] : Array.from({ length: transactions }, () => random.big(40 + random.int(30))),
    gas_used: [],
  };
}

async function insertBlocks(
  db: Database,
  blocks: readonly WorldBlock[],
  options: { commit?: number },
): Promise<void> {
  const own = rows.filter(({ number }) => blocks.some((block) => block.number === number));
  const all = <T>(listOf: (block: WorldBlock) => readonly T[]): T[] => blocks.flatMap(listOf);
  await insertRows(db, blocksTable, own, options);
  await insertRows(
    db,
    poolsTable,
    all(({ pools }) => pools),
    options,
  );
  await insertRows(
    db,
    swapsTable,
    all(({ swaps }) => swaps),
    options,
  );
  await insertRows(
    db,
    poolStatesTable,
    all(({ states }) => states),
    options,
  );
  await insertRows(
    db,
    tokenPricesTable,
    all(({ prices }) => prices),
    options,
  );
}

async function storeFinal(db: Database): Promise<void> {
  const final = world.blocks.filter(({ number }) => number <= STORED);
  for (let from = 0; from < final.length; from += FINAL_AT_ONCE)
    await insertBlocks(db, final.slice(from, from + FINAL_AT_ONCE), {});
  // Another chain's blocks in the same tables.
  await insertRows(db, blocksTable, [{ ...rows[20]!, chain_id: 943, transaction_count: 77 }]);
}

async function storeHead(db: Database): Promise<void> {
  for (const block of world.blocks.filter(({ number }) => number > FINAL - 5)) {
    await insertBlocks(db, [block], { commit: commitOf(block.number) });
    // An orphaned block at the same height, which no figure may include.
    const row = rows.find(({ number }) => number === block.number)!;
    const orphan = { ...row, transaction_count: 1_000, gas_prices: [1n] };
    await insertRows(db, blocksTable, [orphan], { commit: 1_000_000 + block.number });
  }
}

/** Gas price over the 20 blocks up to `tip`, by a plain computation. */
function gasOf(tip: number): number | null {
  const last = rows.filter(({ number }) => number <= tip && number > tip - 20);
  const paid: bigint[] = [];
  for (const row of last) {
    if (row.gas_prices.length > 0) paid.push(...row.gas_prices);
    else if (row.base_fee !== null)
      for (let i = 0; i < row.transaction_count; i += 1) paid.push(row.base_fee);
  }
  if (paid.length === 0) for (const { base_fee } of last) if (base_fee !== null) paid.push(base_fee);
  const sorted = paid.map(Number).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return median / 1e9;
}

const STATES: [string, number, number][] = [
  ['a cursor and a head above it', FINAL, TIP],
  ['no blocks above the cursor', FINAL, FINAL],
  ['a cursor during a promotion', STORED, TIP],
  ['a head below the stored blocks', FINAL - 60, FINAL - 60],
  ['blocks without gas prices', SILENT_FROM + 19, SILENT_FROM + 19],
  ['blocks without gas prices and base fees', SILENT_TO - 1, SILENT_TO - 1],
  ['only the first block', FIRST_BLOCK, FIRST_BLOCK],
];

test.each(STATES)('the overview equals a plain recomputation with %s', async (_, finalTo, tip) => {
  market.head = snapshotOf(world, finalTo, tip);
  const answer = await market.api.get('/api/v1/overview');
  expect(answer.status).toBe(200);
  const { data } = overviewAnswerShape.parse(answer.json);
  const since = market.head.timestamp - DAY;
  const inDay = ({ number, timestamp }: { number: number; timestamp: number }): boolean =>
    number <= tip && timestamp > since;
  const swaps = world.blocks.filter(inDay).flatMap((block) => block.swaps);
  const makers = new Set(swaps.map(({ maker }) => maker).filter((maker) => maker !== null));
  expect(data).toMatchObject({
    tx_24h: rows.filter(inDay).reduce((sum, row) => sum + row.transaction_count, 0),
    swaps_24h: swaps.length,
    traders_24h: makers.size === 0 && swaps.length > 0 ? null : makers.size,
    active_pools: new Set(swaps.map(({ pair }) => pair)).size,
    token_burned_24h: 0,
    token_burned_symbol: 'HEX',
    chain_logo_url: null,
    block_number: tip,
    block_timestamp: market.head.timestamp,
  });
  const gas = gasOf(tip);
  if (gas === null) expect(data.gas_gwei).toBeNull();
  else expect(Math.abs(data.gas_gwei! / gas - 1)).toBeLessThan(1e-12);
  const usd = (from: number, to: number): number =>
    sumUsd(swapsIn(world, market.head!, from, to), 'amount_usd');
  const [now, before] = [usd(since, market.head.timestamp), usd(since - DAY, since)];
  expectClose(data.volume_24h_usd, now);
  expectChange(data.volume_change_24h, now, before);
  const pools = upTo(world, market.head, (block) => block.pools);
  expectClose(
    data.tvl_usd,
    pools.reduce((sum, pool) => sum + tvlNow(world, market.head!, pool), 0),
  );
  expectClose(data.native_price_usd, priceNow(world, market.head, CHAIN.wrappedNative!).usd, 1e-15);
});

test('the overview says how far the search for older pools is in percent, and whether it still runs', async () => {
  const head = snapshotOf(world, FINAL, TIP);
  expect(head.startBlock).toBeGreaterThan(1);
  const read = () => readPoolSearch(store.runner, CHAIN_ID, head);
  expect(await read()).toMatchObject({ searching: true, donePct: 0 });
  const steps: readonly (readonly [part: number, state: SearchProgress['state'], donePct: number])[] = [
    [0, 'searching', 0],
    [0.2, 'searching', 20],
    [1, 'complete', 100],
    [0.5, 'incomplete', 50],
  ];
  for (const [version, [part, state, donePct]] of steps.entries()) {
    const progress: SearchProgress = {
      chain_id: CHAIN_ID,
      factories: `0x${'00'.repeat(32)}`,
      start_block: head.startBlock,
      searched_from: Math.round(head.startBlock * (1 - part)),
      search_to: 0,
      listed: 0,
      pools: 12,
      state,
    };
    await saveProgress(store.db, progress, version + 1);
    const [searching, complete] = [state === 'searching', state === 'complete'];
    expect(await read()).toMatchObject({ searching, complete, donePct, olderPools: 12 });
  }
});
