/** Compares quotes with the published formulas in exact fractions, and their limit with the marginal price. */
import fc from 'fast-check';

import { EMPTY_STATE } from '../../../src/domain/pool';
import { balancerV2 } from '../../../src/protocols/balancerV2/balancerV2';
import { ONE } from '../../../src/protocols/balancerV2/weightedPool';
import { emptyManyTokenState } from '../../../src/protocols/manyTokenPool';
import { sqrtRatioAtTick } from '../../../src/protocols/ticks/tickMath';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { runsOf } from '../../support/run/runs';
import { fraction, outGivenIn } from './balancer/weightedMath';

const PIPS = 1_000_000n;
const numRuns = runsOf(2_500);
const amount = (max: bigint) => fc.bigInt({ min: 1n, max });
const isToken0In = fc.boolean();

test('a V2 quote is the largest amount that the check of UniswapV2Pair.swap() lets out', () => {
  const reserve = amount((1n << 100n) - 1n);
  fc.assert(
    fc.property(
      reserve,
      reserve,
      amount(1n << 90n),
      isToken0In,
      (reserve0, reserve1, amountIn, zeroForOne) => {
        const pool = { feePips: 2_900 };
        const out = uniswapV2.quote(pool, { ...EMPTY_STATE, reserve0, reserve1 }, amountIn, zeroForOne)!;
        const [into, other] = zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
        const paid = (into + amountIn) * PIPS - amountIn * BigInt(pool.feePips);
        const isAllowed = (amountOut: bigint) => paid * (other - amountOut) >= into * other * PIPS;
        expect([isAllowed(out), isAllowed(out + 1n)]).toEqual([true, false]);
      },
    ),
    { numRuns },
  );
});

/**
 * A swap of L at √P moves 1/√P by Δ/L or √P by Δ/L (Uniswap V3 whitepaper, 6.2.3). The contract rounds √P once and the
 * amount once or twice, so it pays at most the exact amount, and hardly less.
 */
test('a V3 quote within the range is the amount of the whitepaper, rounded in favour of the pool', () => {
  const range = fc.integer({ min: -400_000, max: 400_000 });
  let quoted = 0;
  fc.assert(
    fc.property(
      range,
      amount(1n << 100n),
      amount(1n << 80n),
      isToken0In,
      (tick, liquidity, amountIn, down) => {
        const pool = { feePips: 500, tickSpacing: 200 };
        const sqrtPriceX96 = (sqrtRatioAtTick(tick) + sqrtRatioAtTick(tick + 1)) / 2n;
        const state = { ...EMPTY_STATE, sqrtPriceX96, liquidity, tick };
        const out = uniswapV3.quote(pool, state, amountIn, down);
        if (out === null) return;
        quoted += 1;
        const paid = (amountIn * (PIPS - BigInt(pool.feePips))) / PIPS;
        // Down: out = L·√P − L/(1/√P + paid/L). Up: out = L/√P − L/(√P + paid/L). The root is times 2^96.
        const exact = down
          ? fraction(paid * liquidity * sqrtPriceX96 ** 2n, ((liquidity << 96n) + paid * sqrtPriceX96) << 96n)
          : fraction((paid * liquidity) << 192n, sqrtPriceX96 * (liquidity * sqrtPriceX96 + (paid << 96n)));
        const best = exact.numerator / exact.denominator;
        // One unit of √P is worth L / 2^96 of token1, or L·2^96 / P of token0.
        const rootUnit = down ? liquidity >> 96n : (liquidity << 96n) / sqrtPriceX96 ** 2n;
        expect(out <= best && best - out <= rootUnit + 2n).toBe(true);
      },
    ),
    { numRuns },
  );
  expect(quoted).toBeGreaterThan(numRuns / 10);
});

test('a V3 quote is null where the swap would leave its range of ticks', () => {
  const state = { ...EMPTY_STATE, sqrtPriceX96: sqrtRatioAtTick(5), liquidity: 10n ** 18n, tick: 5 };
  const quote = (amountIn: bigint, down: boolean) =>
    uniswapV3.quote({ feePips: 3_000, tickSpacing: 60 }, state, amountIn, down);
  expect(quote(10n ** 14n, true)).toBeGreaterThan(0n);
  expect(quote(10n ** 15n, true)).toBeNull();
  expect(quote(10n ** 15n, false)).toBeGreaterThan(0n);
  expect(quote(10n ** 16n, false)).toBeNull();
});

test('a weighted quote is outGivenIn of WeightedMath.sol', () => {
  const [weightIn, weightOut] = [(8n * ONE) / 10n, (2n * ONE) / 10n];
  const state = {
    ...emptyManyTokenState(`0x${'11'.repeat(32)}`),
    tokens: [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`] as const,
    balances: [10n ** 21n, 5n * 10n ** 21n],
    weights: [weightIn, weightOut],
    swapFee: 3n * 10n ** 15n,
  };
  for (const amountIn of [10n ** 15n, 10n ** 18n, 10n ** 20n]) {
    const into = { balance: fraction(10n ** 21n), weight: weightIn };
    const out = { balance: fraction(5n * 10n ** 21n), weight: weightOut };
    const exact = outGivenIn(into, out, fraction(amountIn * 997n, 1_000n));
    const quote = Number(balancerV2.quote(state, 0, 1, amountIn, 0));
    expect(quote / (Number(exact.numerator) / Number(exact.denominator))).toBeCloseTo(1, 11);
  }
  expect(balancerV2.quote({ ...state, doubts: 1 }, 0, 1, 1_000n, 0)).toBeNull();
});

test('quotes of small amounts approach the marginal price', () => {
  const reserves = { reserve0: 10n ** 30n, reserve1: 7n * 10n ** 29n };
  const state = {
    ...EMPTY_STATE,
    ...reserves,
    sqrtPriceX96: sqrtRatioAtTick(30),
    liquidity: 10n ** 30n,
    tick: 30,
  };
  for (const protocol of [uniswapV2, uniswapV3]) {
    const out = protocol.quote({ feePips: 0, tickSpacing: 60 }, state, 10n ** 18n, true);
    expect(Number(out) / 1e18 / protocol.spotPrice(state)!).toBeCloseTo(1, 10);
  }
});
