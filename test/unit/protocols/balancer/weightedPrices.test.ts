import fc from 'fast-check';

import type { Hex } from '../../../../src/domain/hex';
import { EMPTY_STATE } from '../../../../src/domain/pool';
import { uniswapV2 } from '../../../../src/protocols/uniswapV2/uniswapV2';
import { ONE, weightedSpotPrice } from '../../../../src/protocols/balancerV2/weightedPool';
import { emptyManyTokenState } from '../../../../src/protocols/manyTokenPool';
import type { ManyTokenState } from '../../../../src/protocols/manyTokenProtocol';
import { agree, exactly, type Rational } from '../../domain/rational';
import { fraction, outGivenIn, over, priceOf, type Side } from './weightedMath';

const UINT112_MAX = (1n << 112n) - 1n;
const UINT256_MAX = (1n << 256n) - 1n;
/** The constant _MIN_WEIGHT of WeightedMath.sol. */
const WEIGHT_MIN = ONE / 100n;

const tokenOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`;

function poolOf(balances: readonly bigint[], weights: readonly bigint[] | null): ManyTokenState {
  const tokens = balances.map((_balance, index) => tokenOf(index));
  return { ...emptyManyTokenState(`0x${'ab'.repeat(32)}`), tokens, balances, weights };
}

/** Random integers of every magnitude from 1 up to the bound. */
const upTo = (maximum: bigint): fc.Arbitrary<bigint> =>
  fc
    .tuple(fc.integer({ min: 1, max: maximum.toString(2).length }), fc.bigInt({ min: 0n, max: maximum }))
    .map(([bits, value]) => value & ((1n << BigInt(bits)) - 1n) || 1n);

/** Random weights of at least 1 % that add up to exactly 1. */
const weightsOf = (count: number): fc.Arbitrary<bigint[]> =>
  fc.array(fc.bigInt({ min: 0n, max: 10n ** 9n }), { minLength: count, maxLength: count }).map((parts) => {
    const whole = parts.reduce((sum, part) => sum + part, 0n) || 1n;
    const free = ONE - WEIGHT_MIN * BigInt(count);
    const weights = parts.map((part) => WEIGHT_MIN + (free * part) / whole);
    const rest = ONE - weights.reduce((sum, weight) => sum + weight, 0n);
    return weights.map((weight, index) => (index === 0 ? weight + rest : weight));
  });

/** A random pool of 2 to 8 tokens, and two different tokens of the pool. */
const anyPool = fc
  .integer({ min: 2, max: 8 })
  .chain((count) =>
    fc
      .tuple(
        fc.array(upTo(UINT112_MAX), { minLength: count, maxLength: count }),
        weightsOf(count),
        fc.nat({ max: count - 1 }),
        fc.integer({ min: 1, max: count - 1 }),
      )
      .map(([balances, weights, i, step]) => ({ pool: poolOf(balances, weights), i, j: (i + step) % count })),
  );

function sideOf(pool: ManyTokenState, index: number): Side {
  return { balance: fraction(pool.balances[index]!), weight: pool.weights![index]! };
}

function expectClose(value: number | null, exact: Rational, digits: number): void {
  if (value === null) throw new Error('the value is null');
  expect(Number.isFinite(value) && value > 0 && agree(exactly(value), exact, digits)).toBe(true);
}

describe('the marginal price of a weighted pool follows from balances and weights', () => {
  it('the marginal price of a weighted pool is (B_j / w_j) / (B_i / w_i) to 15 digits at any size', () => {
    const property = fc.property(anyPool, ({ pool, i, j }) => {
      const exact = priceOf(sideOf(pool, i), sideOf(pool, j));
      expectClose(weightedSpotPrice(pool, i, j), exact, 15);
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  it('the marginal price of a weighted pool equals the price of a tiny swap by WeightedMath to 9 digits', () => {
    const property = fc.property(anyPool, ({ pool, i, j }) => {
      const [into, out] = [sideOf(pool, i), sideOf(pool, j)];
      const amountIn = fraction(pool.balances[i]!, 10n ** 14n);
      const exchanged = over(outGivenIn(into, out, amountIn), amountIn);
      expectClose(weightedSpotPrice(pool, i, j), exchanged, 9);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('the marginal price of a pool with two equal weights equals the price of a V2 pair', () => {
    const property = fc.property(upTo(UINT112_MAX), upTo(UINT112_MAX), (reserve0, reserve1) => {
      const pair = uniswapV2.spotPrice({ ...EMPTY_STATE, reserve0, reserve1 })!;
      expectClose(
        weightedSpotPrice(poolOf([reserve0, reserve1], [ONE / 2n, ONE / 2n]), 0, 1),
        exactly(pair),
        15,
      );
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('the marginal price of a weighted pool is finite and positive for any balances and weights', () => {
    const word = upTo(UINT256_MAX);
    const property = fc.property(word, word, word, word, (balance0, balance1, weight0, weight1) => {
      const pool = poolOf([balance0, balance1], [weight0, weight1]);
      expectClose(weightedSpotPrice(pool, 0, 1), fraction(balance1 * weight0, balance0 * weight1), 15);
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it('the marginal price of a weighted pool is null without weights, with an empty side, or for tokens that form no leg', () => {
    const half = [ONE / 2n, ONE / 2n];
    const full = poolOf([5n, 7n], half);
    const none: [ManyTokenState, number, number][] = [
      [poolOf([5n, 7n], null), 0, 1],
      [poolOf([0n, 7n], half), 0, 1],
      [poolOf([5n, 0n], half), 0, 1],
      [emptyManyTokenState(full.poolId), 0, 1],
      [full, 1, 1],
      [full, 0, 2],
      [full, -1, 0],
    ];
    for (const [pool, i, j] of none) expect(weightedSpotPrice(pool, i, j)).toBeNull();
  });
});
