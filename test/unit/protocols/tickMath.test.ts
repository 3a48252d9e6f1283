/** Compares tick and liquidity arithmetic with the contract's constants and with plain fractions. */
import {
  amountsOfLiquidity,
  sqrtRatioAtTick,
  TICK_MAX,
  TICK_MIN,
} from '../../../src/protocols/ticks/tickMath';

test('the square-root ratios at the lowest and highest tick equal the constants of TickMath.sol', () => {
  expect(sqrtRatioAtTick(TICK_MIN)).toBe(4_295_128_739n);
  expect(sqrtRatioAtTick(TICK_MAX)).toBe(1461446703485210103287273052203988822378723970342n);
  expect(sqrtRatioAtTick(0)).toBe(1n << 96n);
});

test('the square-root ratio at the ticks ±2^n equals √1.0001^tick to 10 digits', () => {
  for (let size = 1; size < TICK_MAX; size *= 2) {
    for (const tick of [size, -size]) {
      const exact = Math.exp((tick / 2) * Math.log(1.0001));
      expect(Math.abs(Number(sqrtRatioAtTick(tick)) / 2 ** 96 / exact - 1)).toBeLessThan(1e-10);
    }
  }
});

test('the square-root ratio rises with the tick', () => {
  let before = 0n;
  for (let tick = TICK_MIN; tick <= TICK_MAX; tick += 997) {
    const ratio = sqrtRatioAtTick(tick);
    expect(ratio > before).toBe(true);
    before = ratio;
  }
});

test('a tick that is out of range or not an integer is refused', () => {
  for (const tick of [TICK_MIN - 1, TICK_MAX + 1, 0.5, NaN])
    expect(() => sqrtRatioAtTick(tick)).toThrow(RangeError);
});

test('a position is all token0 below its range, all token1 above it, and both inside', () => {
  const [lower, upper, liquidity] = [-600, 1_200, 10n ** 24n];
  const root = (tick: number): number => Number(sqrtRatioAtTick(tick)) / 2 ** 96;
  const below = amountsOfLiquidity(sqrtRatioAtTick(-601), lower, upper, liquidity);
  const above = amountsOfLiquidity(sqrtRatioAtTick(1_201), lower, upper, liquidity);
  const inside = amountsOfLiquidity(sqrtRatioAtTick(300), lower, upper, liquidity);
  const whole0 = 1e24 * (1 / root(lower) - 1 / root(upper));
  const whole1 = 1e24 * (root(upper) - root(lower));
  expect(below.amount1).toBe(0n);
  expect(above.amount0).toBe(0n);
  expect(Math.abs(Number(below.amount0) / whole0 - 1)).toBeLessThan(1e-9);
  expect(Math.abs(Number(above.amount1) / whole1 - 1)).toBeLessThan(1e-9);
  expect(Math.abs(Number(inside.amount0) / (1e24 * (1 / root(300) - 1 / root(upper))) - 1)).toBeLessThan(
    1e-9,
  );
  expect(Math.abs(Number(inside.amount1) / (1e24 * (root(300) - root(lower))) - 1)).toBeLessThan(1e-9);
});
