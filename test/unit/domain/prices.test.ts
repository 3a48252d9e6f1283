import fc from 'fast-check';

import { formatPrice, scalePrice, type PriceState } from '../../../src/domain/prices';
import { EMPTY_STATE } from '../../../src/domain/pool';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { agree, exactly, parseDecimal, type Rational } from './rational';

const UINT112_MAX = (1n << 112n) - 1n;
const SQRT_PRICE_MIN = 4_295_128_739n;
const SQRT_PRICE_MAX = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n;

/** Decimals from 0 to 77. Larger results of decimals() are rejected, so prices never use them. */
const decimalsOf = fc.oneof(fc.integer({ min: 0, max: 77 }), fc.constantFrom(0, 6, 8, 18, 77));

const reserve = fc
  .tuple(fc.bigInt({ min: 1n, max: UINT112_MAX }), fc.integer({ min: 0, max: 111 }))
  .map(([value, shift]) => (value >> BigInt(shift)) + (value >> BigInt(shift) === 0n ? 1n : 0n));
const v2State = fc
  .tuple(
    fc.oneof(reserve, fc.constantFrom(1n, UINT112_MAX)),
    fc.oneof(reserve, fc.constantFrom(1n, UINT112_MAX)),
  )
  .map(([reserve0, reserve1]): PriceState => ({ reserve0, reserve1, sqrtPriceX96: 0n }));
const v3State = fc
  .oneof(
    fc
      .tuple(fc.bigInt({ min: SQRT_PRICE_MIN, max: SQRT_PRICE_MAX }), fc.integer({ min: 0, max: 127 }))
      .map(([value, shift]) => value >> BigInt(shift)),
    fc.constantFrom(SQRT_PRICE_MIN, SQRT_PRICE_MAX),
  )
  .map((value): PriceState => ({
    reserve0: 0n,
    reserve1: 7n,
    sqrtPriceX96: value < SQRT_PRICE_MIN ? SQRT_PRICE_MIN : value,
  }));
const anyState = fc.oneof(v2State, v3State);

/** The price in quote tokens per base token, computed from the definition. */
function exactPrice(
  state: PriceState,
  decimals0: number,
  decimals1: number,
  baseIsToken0: boolean,
): Rational {
  const v3 = state.sqrtPriceX96 > 0n;
  const raw: Rational = v3
    ? { numerator: state.sqrtPriceX96 ** 2n, denominator: 2n ** 192n }
    : { numerator: state.reserve1, denominator: state.reserve0 };
  const numerator = raw.numerator * 10n ** BigInt(decimals0);
  const denominator = raw.denominator * 10n ** BigInt(decimals1);
  return baseIsToken0 ? { numerator, denominator } : { numerator: denominator, denominator: numerator };
}

describe('formatPrice writes prices as decimal strings', () => {
  test.each<[Partial<PriceState>, number, number, boolean, string | null]>([
    [{ reserve0: 1_000_000_000_000_000_000n, reserve1: 42_170n }, 18, 6, true, '0.04217'],
    [{ reserve0: 1_000_000_000_000_000_000n, reserve1: 42_170n }, 18, 6, false, '23.7135404315864359'],
    [{ reserve0: 3n, reserve1: 1n }, 0, 0, true, '0.333333333333333333'],
    [{ reserve0: 1n, reserve1: UINT112_MAX }, 0, 0, true, '5192296858534827630000000000000000'],
    [{ sqrtPriceX96: 1n << 96n }, 18, 6, true, '1000000000000'],
    [{ sqrtPriceX96: 1n << 97n }, 8, 8, false, '0.25'],
    [{ reserve1: 5n }, 18, 18, true, null],
    [{ reserve0: 5n }, 18, 18, true, null],
    [{}, 18, 18, false, null],
  ])(
    'the price %p with %p and %p decimals and base token0 %p is written as %p',
    (state, decimals0, decimals1, base, text) => {
      expect(formatPrice({ ...EMPTY_STATE, ...state }, decimals0, decimals1, base)).toBe(text);
    },
  );

  it('formatPrice is exact to 17 digits in both directions with any decimals', () => {
    const property = fc.property(
      anyState,
      decimalsOf,
      decimalsOf,
      fc.boolean(),
      (state, decimals0, decimals1, base) => {
        const text = formatPrice(state, decimals0, decimals1, base) ?? '';
        expect(text).toMatch(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
        expect(agree(parseDecimal(text), exactPrice(state, decimals0, decimals1, base), 17)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: 4_000 });
  });
});

describe('scalePrice scales raw prices to whole tokens', () => {
  it('scalePrice equals the decimal string to 15 digits in both directions with any decimals', () => {
    const property = fc.property(
      anyState,
      decimalsOf,
      decimalsOf,
      fc.boolean(),
      (state, decimals0, decimals1, base) => {
        const protocol = state.sqrtPriceX96 > 0n ? uniswapV3 : uniswapV2;
        const raw = protocol.spotPrice({ ...EMPTY_STATE, ...state }) ?? 0;
        const price = scalePrice(raw, decimals0, decimals1, base);
        const text = formatPrice(state, decimals0, decimals1, base) ?? '0';
        expect(agree(exactly(price), parseDecimal(text), 15)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: 6_000 });
  });

  test.each([0, -1, NaN, Infinity, -Infinity])('scalePrice of the raw price %p is 0', (raw) => {
    expect(scalePrice(raw, 18, 6, true)).toBe(0);
    expect(scalePrice(raw, 18, 6, false)).toBe(0);
  });

  it('scalePrice is 0 if a float cannot represent the price', () => {
    expect(scalePrice(1e300, 77, 0, true)).toBe(0);
    expect(scalePrice(1e-300, 0, 77, false)).toBe(0);
    expect(scalePrice(5e-324, 0, 0, false)).toBe(0);
  });

  it('scalePrice is exact for ordinary prices', () => {
    expect(scalePrice(0.5, 18, 18, true)).toBe(0.5);
    expect(scalePrice(0.5, 18, 18, false)).toBe(2);
    expect(scalePrice(42_170 / 1e18, 18, 6, true)).toBeCloseTo(0.04217, 15);
  });
});
