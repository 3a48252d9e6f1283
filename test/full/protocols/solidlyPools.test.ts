/**
 * Pools of Solidly (both generations, volatile and stable) and Slipstream through the whole program: real contracts on a
 * node, ingest, API. Answers must equal what the contracts say, for pools seen from their creation and for older ones.
 */
import { eventually } from '../../support/eventually';
import { expectManagerPays, listPositions } from '../../support/protocols/positions';
import { balancesOf, readBigInt, type MarketToken } from '../../support/protocols/poolMarket';
import {
  getData,
  getPair,
  listSwaps,
  off,
  openPoolWorld,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import type { Program } from '../../support/server/program';
import {
  deploySolidly,
  quotedPrice,
  SOLIDLY_FACTORY,
  SOLIDLY_POOL,
  SOLIDLY_TRADER,
  type RangePool,
  type SolidlyMarket,
  type SolidlyPool,
} from '../../support/solidly/solidlyMarket';

const Q96 = 2n ** 96n;
const SQRT_MIN = 4295128740n;

let world: PoolWorld;
let market: SolidlyMarket;
let program: Program;
let usd: MarketToken;
let native: MarketToken;
let volatile: SolidlyPool;
let stable: SolidlyPool;
let range: RangePool;
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('solidly', describeMarket);
  market = await deploySolidly(world.anvil.rpc, [6, 18, 8]);
  const [first, second, third] = market.tokens;
  [usd, native] = [first!, second!];
  volatile = await market.createPool(false, false, usd, native);
  stable = await market.createPool(true, true, usd, third!);
  // 1 native = 4 USD.
  const price = isFirst(native, usd) ? (Q96 * 2n) / 10n ** 6n : (Q96 * 10n ** 6n) / 2n;
  range = await market.createRange({ spacing: 200, feePips: 3_000, price }, usd, native);
  addMint(volatile, [usd, 4_000_000n], [native, 1_000_000n]);
  addMint(stable, [usd, 900_000n], [third!, 1_100_000n]);
  market.add(market.trader, SOLIDLY_TRADER, 'mintRange', [range.address, -600_000, 600_000, 10n ** 18n]);
  // About 2,000 USD of both tokens around the price, and of the second token below it.
  const tick = Math.floor(Math.log(Number(price) / 2 ** 96) / Math.log(1.0001) / 100) * 200;
  const amounts = [range.token0, range.token1].map((token) => raw(token, token === usd ? 2_000n : 500n));
  for (const ticks of [[tick - 2_000, tick + 2_000] as const, [tick - 4_000, tick - 2_000] as const])
    market.addPosition(range, ticks, [amounts[0]!, amounts[1]!]);
  await market.mine();
  trade(volatile, usd, 1_000n);
  trade(volatile, native, 500n);
  trade(stable, usd, 2_000n);
  trade(stable, third!, 700n);
  const isZeroForOne = isFirst(usd, native);
  const limit = isZeroForOne ? SQRT_MIN : 2n ** 160n / 3n;
  for (const amount of [10n ** 9n, 2n * 10n ** 9n])
    market.add(market.trader, SOLIDLY_TRADER, 'swapRange', [range.address, isZeroForOne, amount, limit]);
  await market.mine();
  market.add(market.factories[1], SOLIDLY_FACTORY, 'setCustomFee', [stable.address, 420]);
  await market.mine();
  trade(stable, usd, 1_500n);
  trade(stable, usd, 500n);
  await market.mine();
  await world.grow();
  trade(stable, usd, 60n);
  await market.mine();
  await world.anvil.rpc.call('anvil_mine', ['0x5', '0xa']);
  trade(volatile, usd, 50n);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

const isFirst = (a: MarketToken, b: MarketToken): boolean => a.address < b.address;
const raw = ({ decimals }: MarketToken, tokens: bigint): bigint => tokens * 10n ** BigInt(decimals);

function addMint(pool: SolidlyPool, ...parts: readonly (readonly [MarketToken, bigint])[]): void {
  const amounts = [pool.token0, pool.token1].map((token) =>
    raw(token, parts.find(([each]) => each.address === token.address)![1]),
  );
  market.add(market.trader, SOLIDLY_TRADER, 'mint', [pool.address, ...amounts]);
}

function trade(pool: SolidlyPool, tokenIn: MarketToken, tokens: bigint): void {
  const values = [pool.address, tokenIn.address === pool.token0.address, raw(tokenIn, tokens)];
  market.add(market.trader, SOLIDLY_TRADER, 'swap', values);
}

function describeMarket() {
  const dexes = [
    { name: 'first', protocol: 'solidly', factory: market.factories[0] },
    { name: 'second', protocol: 'solidly', factory: market.factories[1] },
    {
      ...{ name: 'range', protocol: 'slipstream', factory: market.rangeFactory },
      positionManager: market.positionManager,
    },
  ];
  return { usd, native, dexes };
}

const reservesOf = async ({ address }: SolidlyPool): Promise<[bigint, bigint]> => [
  await readBigInt(world.anvil.rpc, SOLIDLY_POOL, address, 'reserve0'),
  await readBigInt(world.anvil.rpc, SOLIDLY_POOL, address, 'reserve1'),
];

/** The contract's price in whole tokens, quote per base as the pair has them. */
async function expectedPrice(pool: SolidlyPool, base: string): Promise<number> {
  const perRaw = await quotedPrice(world.anvil.rpc, pool, await reservesOf(pool));
  const price = perRaw * 10 ** (pool.token0.decimals - pool.token1.decimals);
  return base === pool.token0.address ? price : 1 / price;
}

test.each([
  ['volatile', () => volatile, 2, 30],
  ['stable', () => stable, 5, 5],
] as const)(
  'a %s pool has the price of its contract, its type and its fee',
  async (_kind, poolOf, type, fee) => {
    const pair = await getPair(program, poolOf());
    expect(pair).toMatchObject({ pool_type: type, fee_bps: fee });
    expect(off(pair.price, await expectedPrice(poolOf(), pair.base_token.address))).toBeLessThan(1e-9);
  },
);

test('each swap has what moved, its price and the fee that left the reserves', async () => {
  const swaps = await listSwaps(program, stable);
  expect(swaps).toHaveLength(5);
  // The newest three swaps are after the fee was set to zero.
  expect(swaps.map(({ fee_usd }) => fee_usd === 0)).toEqual([true, true, true, false, false]);
  for (const { amount_usd, fee_usd } of swaps.slice(3))
    expect(off(fee_usd, 0.0005 * amount_usd!)).toBeLessThan(1e-6);
  const [newest] = swaps;
  const pair = await getPair(program, stable);
  expect(newest!.price).toBe(pair.price);
  expect(newest![stable.token0.address === usd.address ? 'amount0' : 'amount1']).toBe('60');
});

test('bars close at the price of the contract, and volume, fees and TVL are those of the swaps', async () => {
  for (const pool of [volatile, stable]) {
    const pair = await getPair(program, pool);
    const swaps = await listSwaps(program, pool);
    const bars = await getData<{ close: string }[]>(
      program,
      `/pairs/${pool.address}/ticks?timeframe=1m&currency=quote`,
    );
    expect(off(bars.at(-1)!.close, Number(pair.price))).toBeLessThan(1e-9);
    expect(off(pair.volume_24h_usd, sum(swaps.map(({ amount_usd }) => amount_usd)))).toBeLessThan(1e-6);
    expect(off(pair.fees.h24, sum(swaps.map(({ fee_usd }) => fee_usd)))).toBeLessThan(1e-6);
    const reserves = await reservesOf(pool);
    const sides = await Promise.all(
      [pool.token0, pool.token1].map(async ({ address, decimals }, index) => {
        const { price_usd } = await getData<{ price_usd: string }>(program, `/tokens/${address}`);
        return (Number(reserves[index]) / 10 ** decimals) * Number(price_usd);
      }),
    );
    if (pool === volatile) expect(off(pair.liquidity_usd, sum(sides))).toBeLessThan(1e-6);
    // The pool is the whole route of its other token, whose value is at most the USD that the pool can pay out.
    else expect(off(pair.liquidity_usd, 2 * Math.min(...sides))).toBeLessThan(0.05);
  }
});

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0);

test('a Slipstream pool has its first price from before its creation event, its balances and its fee', async () => {
  const pair = await getPair(program, range);
  expect(pair).toMatchObject({ pool_type: 3, fee_bps: 30 });
  const balances = await balancesOf(world.anvil.rpc, range);
  expect([pair.reserve0_raw, pair.reserve1_raw]).toEqual(balances.map(String));
  const swaps = await listSwaps(program, range);
  expect(swaps).toHaveLength(2);
  for (const { amount_usd, fee_usd } of swaps) expect(off(fee_usd, 0.003 * amount_usd!)).toBeLessThan(1e-3);
});

test('positions of Slipstream have the amounts that the position manager would pay', async () => {
  const { positionManager, owner } = market;
  const positions = await listPositions(program, owner, range.address);
  expect(positions.map(({ in_range }) => in_range).sort()).toEqual([false, true]);
  for (const position of positions)
    await expectManagerPays(world.anvil.rpc, [positionManager, owner], range, position);
  expect(positions.some(({ unclaimed_usd }) => Number(unclaimed_usd) > 0)).toBe(true);
});

test('older pools have the same prices and types, and the fees of now', async () => {
  const late = await world.start(head - 3);
  try {
    // The volatile pool traded since. The search finds the others, and the next block adds them.
    await eventually(
      async () => {
        head = await market.mine();
        return (await getData<PairAnswer[]>(late, '/pairs')).length;
      },
      (count) => count === 3,
    );
    for (const [pool, fee_bps] of [
      [volatile, 30],
      [stable, 0],
      [range, 30],
    ] as const) {
      const [whole, part] = [await getPair(program, pool), await getPair(late, pool)];
      expect(part).toMatchObject({ pool_type: whole.pool_type, price: whole.price, fee_bps });
    }
  } finally {
    await late.end('SIGTERM');
  }
});
