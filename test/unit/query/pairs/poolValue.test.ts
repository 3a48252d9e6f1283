import { weightedLiquidity } from '../../../../src/domain/pools/weightedLiquidity';
import { DOUBTS } from '../../../../src/domain/pools/doubts';
import { wholeHours } from '../../../../src/query/bars/hourWindow';
import {
  aprPercent,
  countedInVault,
  depthOf,
  trustedValueOf,
  tvlOf,
  tvlOfWeighted,
  valueOf,
  type PoolSide,
} from '../../../../src/query/pairs/poolValue';
import { createRandom } from '../../../support/createRandom';

const side = (
  amount: number,
  usd: number | null,
  confidence: number,
  capUsd: number = Infinity,
): PoolSide => ({
  amount,
  price: { usd, confidence, isAnchor: false, hops: 1, capUsd },
});

test('a side of a pool has a value at any price confidence, and a trusted value only with a trusted price', () => {
  expect([valueOf(side(3, 2, 0.1)), valueOf(side(3, null, 0))]).toEqual([6, null]);
  expect([trustedValueOf(side(3, 2, 0.49)), trustedValueOf(side(3, 2, 0.5))]).toEqual([0, 6]);
});

test('TVL includes trusted sides, doubles a single trusted side in V2 pools, and is 0 without a trusted side', () => {
  const [good, other, low] = [side(10, 2, 0.9), side(1, 15, 0.5), side(1_000, 1e9, 0.4)];
  expect([2, 3, 4].map((type) => tvlOf(type, good, other))).toEqual([35, 35, 35]);
  expect([2, 3, 4].map((type) => tvlOf(type, low, good))).toEqual([40, 20, 20]);
  expect([2, 3, 4].map((type) => tvlOf(type, good, side(5, null, 0)))).toEqual([40, 20, 20]);
  expect(tvlOf(2, low, low)).toBe(0);
});

test('1e12 self-issued tokens in a pool add at most twice the capital behind their price to its TVL', () => {
  const [rich, scam] = [side(1e12, 1, 0.55, 12_000), side(1e12, 1, 0.3, 12_000)];
  expect([2, 3].map((type) => tvlOf(type, rich, scam))).toEqual([24_000, 12_000]);
  expect([2, 3].map((type) => tvlOf(type, rich, rich))).toEqual([24_000, 24_000]);
  expect(tvlOfWeighted([rich, scam], [0.5, 0.5], 0)).toBe(24_000);
  expect(tvlOfWeighted([rich, rich], [], 0)).toBe(24_000);
});

test('a side is worth as much as an honest other side, even if its own cap is lower', () => {
  const dai = side(12_345.678_9, 1, 0.99);
  const token = side(4_115.226_3, 3, 0.6, 12_000);
  expect(tvlOf(2, token, dai)).toBe(4_115.226_3 * 3 + 12_345.678_9);
  expect(tvlOf(2, dai, token)).toBe(4_115.226_3 * 3 + 12_345.678_9);
  // The sides are worth 240 USD and 60 USD, as the weights of 80 % and 20 % require.
  const heavy = side(80, 3, 0.6, 50);
  expect(tvlOfWeighted([heavy, side(60, 1, 0.99)], [0.8, 0.2], 0)).toBe(300);
});

test('the depth of a V2 pool is the amount that moves its price by 2 % up or down', () => {
  const seed = 20_261_122;
  const random = createRandom(seed);
  for (let i = 0; i < 200; i += 1) {
    const [x, y] = [random() * 10 ** random.int(12) + 1, random() * 10 ** random.int(12) + 1];
    const depth = depthOf({ poolType: 2, baseReserve: x, quoteReserve: y, liquidity: 0, price: y / x })!;
    // Puts the quote token in, and takes out the base token that leaves x·y unchanged.
    const up = (y + depth.upQuote) / ((x * y) / (y + depth.upQuote));
    const base = depth.downQuote / (y / x);
    const down = (x * y) / (x + base) / (x + base);
    expect([seed, i, Math.abs(up / (y / x) - 1.02) < 1e-9, Math.abs(down / (y / x) - 0.98) < 1e-9]).toEqual([
      seed,
      i,
      true,
      true,
    ]);
  }
});

test('the depth of a V3 pool follows its active liquidity and is at most its balance', () => {
  const state = { poolType: 3, liquidity: 1_000, price: 4, baseReserve: 1e9, quoteReserve: 1e9 };
  const up = 1_000 * (Math.sqrt(4.08) - 2);
  const down = 1_000 * (1 / Math.sqrt(3.92) - 0.5) * 4;
  expect(depthOf(state)!.upQuote).toBeCloseTo(up, 9);
  expect(depthOf(state)!.downQuote).toBeCloseTo(down, 9);
  expect(depthOf({ ...state, baseReserve: 1 })).toEqual({ upQuote: 4, downQuote: expect.closeTo(down, 9) });
  expect(depthOf({ ...state, quoteReserve: 7 })).toEqual({ upQuote: expect.closeTo(up, 9), downQuote: 7 });
  expect(depthOf({ ...state, liquidity: 0 })).toEqual({ upQuote: 0, downQuote: 0 });
});

test('the depth of a pool is null without a price, and for stable pools', () => {
  const state = { poolType: 2, liquidity: 0, baseReserve: 1, quoteReserve: 1 };
  for (const price of [0, NaN, Infinity]) expect(depthOf({ ...state, price })).toBeNull();
  expect(depthOf({ ...state, poolType: 5, price: 1 })).toBeNull();
});

test('a weighted pool with equal weights has the depth of a V2 pool with the same balances', () => {
  const balances = { baseReserve: 5_000, quoteReserve: 20_000, price: 4 };
  const product = depthOf({ ...balances, poolType: 2, liquidity: 0 });
  const liquidity = weightedLiquidity(5_000, 20_000, 0.5, 0.5);
  const weighted = depthOf({ ...balances, poolType: 4, liquidity });
  expect(weighted!.upQuote).toBeCloseTo(product!.upQuote, 9);
  expect(weighted!.downQuote).toBeCloseTo(product!.downQuote, 9);
});

test('the yield is annualised, 0 without fees and null without TVL', () => {
  expect(aprPercent(1, 86_400, 365, 3_000)).toBe(100);
  expect(aprPercent(7, 604_800, 365, 3_000)).toBeCloseTo(100, 9);
  expect([aprPercent(0, 86_400, 5, 3_000), aprPercent(5, 86_400, 0, 3_000)]).toEqual([0, null]);
});

test('the yield of a pool with a fee above 10 % is null', () => {
  expect([100_000, 100_001, 1_000_000].map((pips) => aprPercent(1, 86_400, 365, pips))).toEqual([
    100,
    null,
    null,
  ]);
});

test('TVL of a weighted pool is at most twice its trusted balances, whatever the weights', () => {
  const [cash, own] = [side(1_000, 1, 0.99), side(1e12, null, 0)];
  const tvl = (weight: number): number => tvlOfWeighted([cash, own], [weight, 1 - weight], 0);
  expect([0.8, 0.5, 0.2, 0.01, 1e-18].map(tvl)).toEqual([1_250, 2_000, 2_000, 2_000, 2_000]);
});

test('the TVL of a pool with doubts is its trusted balances, and 0 with an asset manager', () => {
  const [cash, own] = [side(1_000, 1, 0.99), side(1e12, null, 0)];
  const tvl = (doubts: number): number => tvlOfWeighted([cash, own], [0.5, 0.5], doubts);
  expect([DOUBTS.weights, DOUBTS.terms, DOUBTS.managed, DOUBTS.managed + DOUBTS.weights].map(tvl)).toEqual([
    1_000, 1_000, 0, 0,
  ]);
  expect(tvlOfWeighted([cash, side(7, 1, 0.9)], [], DOUBTS.managed)).toBe(0);
  // In a pool with an asset manager, neither side counts as liquidity of its token.
  expect(countedInVault([cash, side(7, 1, 0.9)], [0.5, 0.5], DOUBTS.managed)).toEqual([0, 0]);
});

test('the whole hours of a window end before the last final block', () => {
  expect(wholeHours(3_599, 20_000, 11_000)).toEqual({ from: 3_600, to: 10_800 });
  expect(wholeHours(3_600, 20_000, 99_999)).toEqual({ from: 7_200, to: 18_000 });
  expect(wholeHours(3_600, 20_000, 7_199)).toEqual({ from: 7_200, to: 7_200 });
  expect(wholeHours(3_600, 20_000, null)).toEqual({ from: 7_200, to: 7_200 });
});
