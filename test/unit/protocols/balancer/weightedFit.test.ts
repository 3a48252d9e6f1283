/**
 * Compares swaps of weighted pools with WeightedMath. A swap with honest rounding always fits the pool's
 * weights, and a swap with an invented amount never does.
 */
import fc from 'fast-check';

import { fitsWeights, type WeightedSwap } from '../../../../src/protocols/balancerV2/weightedMath';
import { ONE } from '../../../../src/protocols/balancerV2/weightedPool';
import { fraction, outGivenIn } from './weightedMath';

const UNIT = 10n ** 18n;

/** A pool that holds 1,000 of the token in and 5,000 of the token out, with weights 80/20 and a fee of 0.3 %. */
const POOL = {
  balanceIn: 1_000n * UNIT,
  balanceOut: 5_000n * UNIT,
  weightIn: (8n * ONE) / 10n,
  weightOut: (2n * ONE) / 10n,
  feePips: 3_000,
};

/** The amount out by a 256-bit reference, rounded down. Amounts in must be small against the balance. */
function fairOut(pool: Omit<WeightedSwap, 'amountIn' | 'amountOut'>, amountIn: bigint): bigint {
  const paid = fraction(amountIn * BigInt(1_000_000 - pool.feePips), 1_000_000n);
  const into = { balance: fraction(pool.balanceIn), weight: pool.weightIn };
  const out = { balance: fraction(pool.balanceOut), weight: pool.weightOut };
  const { numerator, denominator } = outGivenIn(into, out, paid);
  return numerator / denominator;
}

const scaled = (value: bigint, part: number): bigint => (value * BigInt(Math.round(part * 1e6))) / 1_000_000n;

test('the reference agrees with a swap computed by hand', () => {
  // The amount in is 10, or 9.97 after the fee. The exponent of the formula is 0.8 / 0.2 = 4.
  const out = Number(fairOut(POOL, 10n * UNIT)) / 1e18;
  expect(out).toBeCloseTo(5_000 * (1 - (1_000 / 1_009.97) ** 4), 9);
});

test('a swap that pays the amount of the formula fits the weights, and a swap that pays 2 % more or less does not', () => {
  const amountIn = 10n * UNIT;
  const out = fairOut(POOL, amountIn);
  const fits = (amountOut: bigint): boolean => fitsWeights({ ...POOL, amountIn, amountOut });
  expect([1, 0.995, 1.005, 0.98, 1.02, 0.5, 3].map((part) => fits(scaled(out, part)))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a swap fits the weights that made it, and no other weights', () => {
  const amountIn = 10n * UNIT;
  const amountOut = fairOut(POOL, amountIn);
  const half = ONE / 2n;
  expect(fitsWeights({ ...POOL, weightIn: half, weightOut: half, amountIn, amountOut })).toBe(false);
});

test('a swap of a few raw units fits the pool weights, for tokens with any decimals', () => {
  const dust = { ...POOL, balanceIn: 3n * 10n ** 11n, balanceOut: 7n * 10n ** 30n };
  for (const amountIn of [0n, 1n, 2n, 3n, 10n]) {
    const amountOut = fairOut(dust, amountIn);
    // The vault may round the amount in up by a unit, and the amount out down.
    expect(fitsWeights({ ...dust, amountIn: amountIn + 1n, amountOut })).toBe(true);
    const turned = { ...dust, balanceIn: dust.balanceOut, balanceOut: dust.balanceIn };
    expect(fitsWeights({ ...turned, amountIn, amountOut: 0n })).toBe(true);
  }
});

test('if the fee is unknown, a swap fits the weights with any fee up to 10 %, and with no higher fee', () => {
  const amountIn = 10n * UNIT;
  const outWith = (feePips: number): bigint => fairOut({ ...POOL, feePips }, amountIn);
  const fits = (amountOut: bigint): boolean => fitsWeights({ ...POOL, feePips: 0, amountIn, amountOut });
  expect([0, 3_000, 100_000, 150_000].map((feePips) => fits(outWith(feePips)))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('a swap against an empty balance gives the whole other balance, never NaN', () => {
  const empty = { ...POOL, balanceIn: 0n, amountIn: 5n * UNIT };
  expect(fitsWeights({ ...empty, amountOut: POOL.balanceOut })).toBe(true);
  expect(fitsWeights({ ...empty, amountOut: POOL.balanceOut / 2n })).toBe(false);
  expect(fitsWeights({ ...POOL, balanceOut: 0n, amountIn: UNIT, amountOut: 0n })).toBe(true);
  expect(fitsWeights({ ...POOL, balanceOut: 0n, amountIn: UNIT, amountOut: UNIT })).toBe(false);
});

/** Integers of every magnitude from 1 up to 2^bits. */
const upTo = (bits: number): fc.Arbitrary<bigint> =>
  fc
    .tuple(fc.integer({ min: 1, max: bits }), fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }))
    .map(([some, value]) => value & ((1n << BigInt(some)) - 1n) || 1n);

test('every swap with the rounding errors of WeightedMath fits the weights, with a given amount in or a given amount out', () => {
  const anySwap = fc.record({
    balanceIn: upTo(112),
    balanceOut: upTo(112),
    percentIn: fc.integer({ min: 1, max: 99 }),
    percentOut: fc.integer({ min: 1, max: 99 }),
    feePips: fc.integer({ min: 1, max: 100_000 }),
    /** WeightedMath limits the amount in to 30 % of the balance (MAX_IN_RATIO). */
    partIn: fc.double({ min: 0, max: 0.3, noNaN: true }),
    /**
     * Rounding of the vault's powers, from −1 to 1 times the largest error. LogExpMath errs by at most 1e-14 of the
     * power, divUp by 1e-18.
     */
    error: fc.double({ min: -1, max: 1, noNaN: true }),
    shift: fc.integer({ min: -1, max: 1 }),
  });
  fc.assert(
    fc.property(anySwap, ({ percentIn, percentOut, partIn, error, shift, ...pool }) => {
      const [weightIn, weightOut] = [(BigInt(percentIn) * ONE) / 100n, (BigInt(percentOut) * ONE) / 100n];
      const amountIn = BigInt(Math.floor(Number(pool.balanceIn) * partIn));
      const paid = Number(amountIn) * (1 - pool.feePips / 1e6);
      const power = (1 + paid / Number(pool.balanceIn)) ** (-percentIn / percentOut);
      const left = 1 - power * (1 + error * 1e-14) + error * 2e-18;
      const amountOut = BigInt(Math.max(0, Math.floor(Number(pool.balanceOut) * left) + shift));
      const swap = { ...pool, weightIn, weightOut, amountIn, amountOut };
      return fitsWeights(swap) && fitsWeights({ ...swap, amountIn: amountIn + 1n });
    }),
    { numRuns: 3_000, seed: 20_261_126 },
  );
});
