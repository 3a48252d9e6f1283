/** Compares the price of one hop with sums done by hand. */
import { priceHop, type HopInput } from '../../../src/pricing/hop';

interface Row {
  readonly price: number;
  readonly weight: number;
  readonly mean?: number;
  readonly traded?: boolean;
  readonly isVault?: boolean;
}

const hop = (...rows: readonly Row[]) =>
  priceHop(
    rows.map(({ price, weight, mean = price, traded = true, isVault = false }, i): HopInput => ({
      key: `p${i}`,
      weight,
      price,
      spot: price,
      meanPrice: mean,
      traded,
      held: false,
      isVault,
    })),
  );

const weightsOf = (found: ReturnType<typeof hop>): Record<string, number> =>
  Object.fromEntries(found.pools.map(({ key, weight }) => [key, weight]));

test('a single pool gives its own price and the warning single_pool', () => {
  const found = hop({ price: 0.3, weight: 7 });
  expect(found).toMatchObject({ price: 0.3, warnings: ['single_pool'], excluded: [] });
  expect(found.deviation()).toBe(0);
  expect(found.pools).toEqual([{ key: 'p0', weight: 1, price: 0.3 }]);
});

test('the prices of agreeing pools are averaged by weight', () => {
  const found = hop({ price: 1, weight: 1 }, { price: 1.01, weight: 1 }, { price: 1.02, weight: 2 });
  // The mean price by weight is (1 + 1.01 + 2 · 1.02) / 4.
  expect(found.price).toBeCloseTo(1.0125, 14);
  expect(found.warnings).toEqual([]);
  // The weighted median price is 1.01. The distances ln(1.02/1.01), ln(1.01/1) and 0 have weights 2, 1 and 1,
  // so the weighted median distance is ln(1.02/1.01).
  expect(found.deviation()).toBeCloseTo(Math.log(1.02 / 1.01), 14);
});

test('a pool more than 5 % from the weighted median is excluded as an outlier', () => {
  const found = hop(
    { price: 100, weight: 10 },
    { price: 101, weight: 10 },
    { price: 99, weight: 10 },
    { price: 106, weight: 10 },
  );
  // The median price is 100, and the median distance from it is ln(1.01). Three robust standard deviations, 3 ·
  // 1.4826 · ln(1.01) = 0.0443, are less than the least bound of 5 %. The price 106 is ln(1.06) = 0.058 away, so it
  // is excluded.
  expect(found.price).toBeCloseTo(100, 12);
  expect(found.excluded).toEqual([{ key: 'p3', reason: 'outlier', price: 106 }]);
  expect(found.warnings).toEqual(['outlier_pools_excluded']);
});

test('a vault pool at three times the price of an open pool leaves the hop, even if the vault pool is nine times as deep', () => {
  const found = hop({ price: 1, weight: 1 }, { price: 3, weight: 9, isVault: true });
  expect(found.price).toBe(1);
  expect(found.excluded).toEqual([{ key: 'p1', reason: 'outlier', price: 3 }]);
  expect(found.warnings).toEqual(['outlier_pools_excluded', 'single_pool']);
});

test('vault pools together do not outvote the open pools', () => {
  const lie = { price: 3, weight: 5, isVault: true };
  const found = hop({ price: 1, weight: 1 }, lie, { price: 1.01, weight: 1 }, lie, lie);
  expect(found.pools.map(({ key }) => key)).toEqual(['p0', 'p2']);
});

test('a vault pool whose price is near the open pools keeps its weight by depth', () => {
  const found = hop({ price: 1, weight: 1 }, { price: 1.03, weight: 3, isVault: true });
  expect(found.price).toBeCloseTo((1 + 3 * 1.03) / 4, 14);
  expect(found.excluded).toEqual([]);
});

test('open pools with less than a tenth of the depth do not remove a vault pool', () => {
  expect(hop({ price: 3, weight: 1 }, { price: 1, weight: 9.1, isVault: true }).price).toBe(1);
  expect(hop({ price: 1, weight: 9, isVault: true }).price).toBe(1);
});

test('if prices scatter widely the outlier bound is three robust standard deviations', () => {
  const spread = [1, 1.1, 1.2, 1.3, 1.4].map((price) => ({ price, weight: 1 }));
  // The median price is 1.2. The distances of the five prices from it, as logarithms, are 0, 0.080, 0.087, 0.154 and
  // 0.182. Their median is 0.087 = ln(1.2 / 1.1).
  const bound = 3 * 1.4826 * Math.log(1.2 / 1.1);
  const inside = 1.2 * Math.exp(bound - 1e-9);
  const outside = 1.2 * Math.exp(bound + 1e-9);
  expect(hop(...spread, { price: inside, weight: 0.001 }).excluded).toEqual([]);
  expect(hop(...spread, { price: outside, weight: 0.001 }).excluded).toHaveLength(1);
});

test('many tiny pools do not outvote a deep pool', () => {
  for (const count of [2, 3, 10, 50]) {
    const dust = Array.from({ length: count }, () => ({ price: 1000, weight: 0.5 }));
    const found = hop({ price: 1, weight: 1000 }, ...dust);
    expect(found.price).toBe(1);
    expect(found.excluded).toHaveLength(count);
  }
  const two = hop(
    { price: 1, weight: 500 },
    { price: 1.001, weight: 500 },
    ...[1, 2, 3].map(() => ({ price: 1000, weight: 0.5 })),
  );
  expect(two.price).toBeCloseTo(1.0005, 12);
});

test('of three pools none gets more than 60 % of the weight, and the other two share the remaining weight in proportion to their depth', () => {
  const found = hop({ price: 1, weight: 8 }, { price: 1.02, weight: 1 }, { price: 1.04, weight: 1 });
  expect(weightsOf(found)).toEqual({
    p0: 0.6,
    p1: expect.closeTo(0.2, 14),
    p2: expect.closeTo(0.2, 14),
  });
  expect(found.price).toBeCloseTo(0.6 + 0.2 * 1.02 + 0.2 * 1.04, 14);
  const two = hop({ price: 1, weight: 9 }, { price: 1.02, weight: 1 });
  expect(weightsOf(two)).toEqual({ p0: 0.9, p1: 0.1 });
});

test('dust pools beside a deep pool get no more weight than their depth', () => {
  const dust = [
    { price: 1.048, weight: 5e-6 },
    { price: 1.048, weight: 5e-6 },
  ];
  const found = hop({ price: 1, weight: 1 }, ...dust);
  expect(Math.abs(found.price - 1)).toBeLessThan(1e-6);
  expect(found.deviation()).toBe(0);
  // The limit of 60 % applies if the other pools hold at least a tenth of the depth.
  expect(
    weightsOf(hop({ price: 1, weight: 90.1 }, { price: 1, weight: 5 }, { price: 1, weight: 4.9 })),
  ).toEqual({
    p0: expect.closeTo(0.901, 14),
    p1: expect.closeTo(0.05, 14),
    p2: expect.closeTo(0.049, 14),
  });
});

test('the deviation of two pools is their distance weighted by depth, and 0 if only the deeper pool sets the price', () => {
  const apart = Math.log(1.048);
  expect(hop({ price: 1, weight: 1 }, { price: 1.048, weight: 1 }).deviation()).toBeCloseTo(apart / 2, 14);
  expect(hop({ price: 1, weight: 9 }, { price: 1.048, weight: 1 }).deviation()).toBeCloseTo(0.18 * apart, 14);
  expect(hop({ price: 1, weight: 1 }, { price: 1.048, weight: 1e-5 }).deviation()).toBeLessThan(1e-6);
  const disagreeing = hop({ price: 1, weight: 1.01 }, { price: 1.2, weight: 1 });
  expect(disagreeing.pools).toHaveLength(1);
  expect(disagreeing.deviation()).toBe(0);
});

test('the weights sum to 1, even if one pool is 10^30 times as deep as another', () => {
  for (const ratio of [1e8, 1e15, 1e16, 1e17, 1e30]) {
    const found = hop(
      { price: 1, weight: ratio },
      { price: 1.01, weight: 0.4 },
      { price: 1.02, weight: 0.7 },
    );
    const sum = found.pools.reduce((total, { weight }) => total + weight, 0);
    expect(Math.abs(sum - 1)).toBeLessThan(1e-12);
  }
});

test('of two pools that differ by more than 5 %, only the deeper one sets the price', () => {
  const found = hop({ price: 1.06, weight: 1 }, { price: 1, weight: 2 });
  expect(found).toMatchObject({ price: 1, warnings: ['pool_disagreement', 'single_pool'] });
  expect(found.excluded).toEqual([{ key: 'p0', reason: 'disagrees', price: 1.06 }]);
  expect(hop({ price: 1.04, weight: 1 }, { price: 1, weight: 3 }).price).toBeCloseTo(1.01, 14);
});

test('of two equally deep pools that disagree, the pool with the smaller key sets the price, in any input order', () => {
  const input = (key: string, price: number): HopInput => ({
    key,
    weight: 5,
    price,
    spot: price,
    meanPrice: price,
    traded: true,
    held: false,
    isVault: false,
  });
  const [a, b] = [input('a', 3), input('b', 4)];
  expect([priceHop([a, b]).price, priceHop([b, a]).price]).toEqual([3, 3]);
});

test('two pools that remain after the outliers are excluded can still disagree', () => {
  // The median price is 1.2, and the median distance from it is ln(1.2) = 0.182. The bound is 3 · 1.4826 · 0.182 =
  // 0.811. The price 5 is ln(5 / 1.2) = 1.43 away, so it is excluded. The remaining prices 1 and 1.2 differ by 18 %.
  const found = hop({ price: 1, weight: 1 }, { price: 1.2, weight: 1 }, { price: 5, weight: 0.9 });
  expect(found.price).toBe(1);
  expect(found.warnings).toEqual(['outlier_pools_excluded', 'pool_disagreement', 'single_pool']);
  expect(found.excluded.map(({ reason }) => reason)).toEqual(['outlier', 'disagrees']);
});

test('a price more than 20 % from its mean is replaced by the mean until the pool has traded its depth', () => {
  const held = hop({ price: 1.3, mean: 1, weight: 1, traded: false });
  expect(held).toMatchObject({ price: 1, deviates: true });
  expect(held.warnings).toEqual(['price_deviates_from_twap', 'single_pool']);
  expect(hop({ price: 1.3, mean: 1, weight: 1, traded: true })).toMatchObject({ price: 1.3, deviates: true });
  expect(hop({ price: 1.199, mean: 1, weight: 1, traded: false })).toMatchObject({
    price: 1.199,
    deviates: false,
  });
  expect(hop({ price: 0.83, mean: 1, weight: 1, traded: false }).price).toBe(1);
  expect(hop({ price: 0.84, mean: 1, weight: 1, traded: false }).price).toBe(0.84);
});

test('a pool without a finite positive price is excluded', () => {
  const found = hop({ price: 0, weight: 9 }, { price: Infinity, weight: 9 }, { price: 2, weight: 1 });
  expect(found.price).toBe(2);
  expect(found.excluded).toEqual([
    { key: 'p0', reason: 'no_price', price: 0 },
    { key: 'p1', reason: 'no_price', price: 0 },
  ]);
  expect(hop()).toMatchObject({ price: 0, pools: [], excluded: [] });
});

/**
 * Weighted median by its definition: adds up weights by ascending value, equal values in input order, until the sum is
 * half of the weight.
 */
const plainMedian = (values: readonly (readonly [value: number, weight: number])[]): number => {
  const sorted = [...values].sort(([a], [b]) => a - b);
  const half = sorted.reduce((sum, [, weight]) => sum + weight, 0) / 2;
  let seen = 0;
  return sorted.find(([, weight]) => (seen += weight) >= half)?.[0] ?? NaN;
};

test.each([3, 8, 24, 25, 80])(
  'the deviation of %i pools is the weighted median distance from the median',
  (count) => {
    // Random prices in no order within 5 % of each other. One in three equals its predecessor. The weights
    // have exact sums.
    const places = Array.from({ length: count }, (_, i) => ((i - (i % 3 === 2 ? 1 : 0)) * 37) % count);
    const rows = places.map((place, i) => ({
      price: 1 + (place / count) * 0.04,
      weight: 1 + ((i * 13) % 7),
    }));
    const logs = rows.map(({ price, weight }) => [Math.log(price), weight] as const);
    const median = plainMedian(logs);
    const distances = logs.map(([value, weight]) => [Math.abs(value - median), weight] as const);
    expect(hop(...rows).deviation()).toBe(plainMedian(distances));
  },
);
