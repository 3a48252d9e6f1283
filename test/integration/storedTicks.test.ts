/** Ticks that a restarted ingester loads, compared with a plain sum over the stored mints and burns. */
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { liquidityEventsTable, type LiquidityEventRow } from '../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, ZERO_HASH } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { readStoredPrices } from '../../src/ingest/price/storedPrices';
import { TickBook } from '../../src/ingest/price/tickBook';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { Random } from '../support/random';
import { poolAddress, token } from '../support/worlds/pools';

const SEED = 7;
const FIRST = 33;
const CURSOR = 45;
/** The last blocks are above the last final block, so a restart must not load their ticks. */
const LAST = 48;
const TICKS = [-8_388_608, -887_273, -887_272, -600, -60, 0, 60, 600, 887_272, 887_273, 8_388_607];

let store: TestStore;
let events: LiquidityEventRow[];

function makeEvents(random: Random): LiquidityEventRow[] {
  return Array.from({ length: 600 }, (_, i) => {
    const number = FIRST + Math.floor((i * (LAST - FIRST + 1)) / 600);
    const type = random.chance(0.9) ? 3 : 2;
    const kind = random.pick(['mint', 'mint', 'burn', 'collect', 'flash'] as const);
    const hasTicks = type === 3 && kind !== 'flash';
    return {
      ord: toOrd(number, i),
      timestamp: 1_000 + number,
      kind,
      pair: poolAddress(random.int(1, 3)),
      dex: 'test',
      pool_type: type,
      token0: token(50),
      token1: token(60),
      base_is_token0: true,
      tx_hash: ZERO_HASH,
      tx_index: 0,
      maker: null,
      owner: ZERO_ADDRESS,
      recipient: ZERO_ADDRESS,
      amount0: 1n,
      amount1: 1n,
      liquidity: kind === 'mint' || kind === 'burn' ? random.pick([0n, 1n, random.big(128)]) : null,
      tick_lower: hasTicks ? random.pick(TICKS) : null,
      tick_upper: hasTicks ? random.pick(TICKS) : null,
      amount0_usd: null,
      amount1_usd: null,
      trust: 0,
      others_usd: null,
    };
  });
}

beforeAll(async () => {
  events = makeEvents(new Random(SEED));
  store = await openTestStore(({ db }) => insertRows(db, liquidityEventsTable, events));
});

afterAll(async () => {
  await store?.close();
});

const pools = [1, 2, 3].map((n) => ({ address: poolAddress(n), pool_type: 3, created_block: FIRST }));

test('ticks loaded from the store equal the ticks of an ingester that read every block', async () => {
  const stored = await readStoredPrices(store.db, 369, { number: CURSOR }, FIRST, []);
  const loaded = new TickBook();
  loaded.load(pools, stored.ticks);
  const live = new TickBook();
  for (let number = FIRST; number <= CURSOR; number += 1) {
    const ofBlock = events.filter(({ ord }) => Math.floor(ord / 2 ** 20) === number);
    live.apply(number, number === FIRST ? pools : [], ofBlock, false);
  }
  // Prices between all ticks, with enough liquidity that every tick changes the result.
  const states = pools.flatMap(({ address: pair }) =>
    [-700, -300, -30, 30, 300, 700].map((tick) => ({
      pair,
      pool_type: 3,
      sqrt_price_x96: BigInt(Math.round(1.0001 ** (tick / 2) * 2 ** 96)),
      tick,
      liquidity: 1n << 140n,
      reserve0: 1n << 255n,
      reserve1: 1n << 255n,
    })),
  );
  const walks = states.map((state) => live.walkLast([state]));
  expect(states.map((state) => loaded.walkLast([state]))).toEqual(walks);
  expect(stored.ticks.length).toBeGreaterThan(10);
});
