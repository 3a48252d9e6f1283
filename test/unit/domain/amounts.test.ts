import { formatUnits as ethersFormatUnits } from 'ethers';
import fc from 'fast-check';

import {
  DECIMALS_MAX,
  formatRatio,
  formatUnits,
  plainNumber,
  unitsToNumber,
} from '../../../src/domain/amounts';
import { agree, exactly, parseDecimal } from './rational';

const UINT256_MAX = (1n << 256n) - 1n;
/** Decimal strings of the API: plain notation, no exponent, no trailing zeros, no sign on zero. */
const PLAIN = /^(?:0|-?(?:0|[1-9]\d*)\.\d*[1-9]|-?[1-9]\d*)$/;

const decimalsOf = fc.integer({ min: 0, max: DECIMALS_MAX });
/** Integers of every magnitude up to 2^256. */
const anySize = fc
  .tuple(fc.bigInt({ min: 0n, max: UINT256_MAX }), fc.integer({ min: 0, max: 256 }))
  .map(([value, bits]) => value & ((1n << BigInt(bits)) - 1n));
const positive = anySize.map((value) => (value === 0n ? 1n : value));

describe('formatUnits writes raw amounts as decimal strings', () => {
  test.each<[bigint, number, string]>([
    [0n, 0, '0'],
    [0n, 18, '0'],
    [1n, 0, '1'],
    [1n, 18, '0.000000000000000001'],
    [1_500n, 3, '1.5'],
    [1_000n, 3, '1'],
    [100n, 0, '100'],
    [999n, 3, '0.999'],
    [-1n, 1, '-0.1'],
    [-25_000n, 3, '-25'],
    [UINT256_MAX, 0, UINT256_MAX.toString()],
    [1n, 77, `0.${'0'.repeat(76)}1`],
    [10n ** 77n, 77, '1'],
    [1n << 256n, 77, '1.15792089237316195423570985008687907853269984665640564039457584007913129639936'],
  ])('formatUnits scales %p by %p decimals to %p', (raw, decimals, text) => {
    expect(formatUnits(raw, decimals)).toBe(text);
  });

  it('formatUnits keeps the exact value in plain notation', () => {
    const property = fc.property(anySize, fc.boolean(), decimalsOf, (size, negative, decimals) => {
      const raw = negative ? -size : size;
      const text = formatUnits(raw, decimals);
      const { numerator, denominator } = parseDecimal(text);
      expect(text).toMatch(PLAIN);
      expect(numerator * 10n ** BigInt(decimals)).toBe(raw * denominator);
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  it('formatUnits equals formatUnits of ethers without a trailing ".0"', () => {
    const property = fc.property(anySize, decimalsOf, (raw, decimals) => {
      expect(formatUnits(raw, decimals)).toBe(ethersFormatUnits(raw, decimals).replace(/\.0$/, ''));
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});

describe('unitsToNumber converts raw amounts to floats', () => {
  it('unitsToNumber returns the float nearest to the exact amount', () => {
    const property = fc.property(anySize, fc.boolean(), decimalsOf, (size, negative, decimals) => {
      const raw = negative ? -size : size;
      const value = unitsToNumber(raw, decimals);
      expect(value).toBe(Number(`${raw}e-${decimals}`));
      expect(agree(exactly(value), { numerator: raw, denominator: 10n ** BigInt(decimals) }, 15)).toBe(true);
      expect(value === 0).toBe(raw === 0n);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('unitsToNumber is exact for amounts that a float can represent', () => {
    expect(unitsToNumber(1_500_000_000_000_000_000n, 18)).toBe(1.5);
    expect(unitsToNumber(123_456_789n, 6)).toBe(123.456789);
    expect(unitsToNumber(-1n, 77)).toBe(-1e-77);
    expect(unitsToNumber(1n << 256n, 0)).toBe(2 ** 256);
  });
});

describe('formatRatio writes a fraction as a decimal string', () => {
  test.each<[bigint, bigint, number | undefined, string]>([
    [0n, 5n, undefined, '0'],
    [1n, 3n, undefined, '0.333333333333333333'],
    [2n, 3n, undefined, '0.666666666666666667'],
    [10n, 5n, undefined, '2'],
    [1n, 8n, undefined, '0.125'],
    [999n, 1_000n, 2, '1'],
    [995n, 1_000n, 2, '1'],
    [994n, 1_000n, 2, '0.99'],
    [99_999n, 1n, 3, '100000'],
    [1_234_567n, 1n, 3, '1230000'],
    [1n, 10n ** 30n, undefined, `0.${'0'.repeat(29)}1`],
    [10n ** 30n, 1n, undefined, `1${'0'.repeat(30)}`],
    [1n, 7n, 1, '0.1'],
  ])('formatRatio writes %p / %p with %p digits as %p', (numerator, denominator, significant, text) => {
    expect(formatRatio(numerator, denominator, significant)).toBe(text);
  });

  it('formatRatio has a relative error below 1e-17 at any size', () => {
    const property = fc.property(anySize, positive, (numerator, denominator) => {
      const text = formatRatio(numerator, denominator);
      expect(text).toMatch(PLAIN);
      expect(agree(parseDecimal(text), { numerator, denominator }, 17)).toBe(true);
    });
    fc.assert(property, { numRuns: 5_000 });
  });

  it('formatRatio has a relative error below 1e-17, even for the widest V3 prices of tokens with 77 decimals', () => {
    const wide = fc.tuple(anySize, anySize).map(([a, b]) => (a * b + 1n) * 10n ** 77n);
    const property = fc.property(wide, positive, fc.boolean(), (a, b, swapped) => {
      const [numerator, denominator] = swapped ? [b, a] : [a, b];
      const text = formatRatio(numerator, denominator);
      expect(text).toMatch(PLAIN);
      expect(agree(parseDecimal(text), { numerator, denominator }, 17)).toBe(true);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('formatRatio never shows more significant digits than requested', () => {
    const property = fc.property(
      positive,
      positive,
      fc.integer({ min: 1, max: 40 }),
      (numerator, denominator, digits) => {
        const shown = formatRatio(numerator, denominator, digits)
          .replace('.', '')
          .replace(/^0+/, '')
          .replace(/0+$/, '');
        expect(shown.length).toBeLessThanOrEqual(digits);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  it('formatRatio rounds half up, in one step', () => {
    const near = fc.constantFrom(5n, 49n, 50n, 51n, 4_999n, 5_001n, 95n, 995n, 1_234_500_001n, 1_234_567n);
    const digitsOf = fc.integer({ min: 1, max: 25 });
    const property = fc.property(
      fc.oneof(positive, near),
      fc.oneof(positive, near),
      digitsOf,
      (a, b, digits) => {
        let exponent = a.toString().length - b.toString().length;
        if (a * tenTo(-exponent) < b * tenTo(exponent)) exponent -= 1;
        const shift = digits - 1 - exponent;
        const [scaled, divisor] = [a * tenTo(shift), b * tenTo(-shift)];
        const rounded = (2n * scaled + divisor) / (2n * divisor);
        const { numerator, denominator } = parseDecimal(formatRatio(a, b, digits));
        expect(numerator * tenTo(shift)).toBe(rounded * tenTo(-shift) * denominator);
      },
    );
    fc.assert(property, { numRuns: 5_000 });
  });
});

/** 10^exponent; 1 for a negative exponent. */
function tenTo(exponent: number): bigint {
  return 10n ** BigInt(Math.max(0, exponent));
}

describe('plainNumber writes floats without exponents', () => {
  test.each<[number, string]>([
    [0, '0'],
    [1, '1'],
    [-1.5, '-1.5'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [-2.5e-9, '-0.0000000025'],
    [1e21, `1${'0'.repeat(21)}`],
    [1.5e21, `15${'0'.repeat(20)}`],
    [123456789.125, '123456789.125'],
    [Number.MIN_VALUE, `0.${'0'.repeat(323)}5`],
    [-0, '0'],
  ])('plainNumber writes %p as %p', (value, text) => {
    expect(plainNumber(value)).toBe(text);
  });

  test.each([Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53 + 2, Number.EPSILON, 1.79e308])(
    'plainNumber writes %p so that parsing returns the same number',
    (value) => {
      expect(plainNumber(value)).toMatch(PLAIN);
      expect(Number(plainNumber(value))).toBe(value);
    },
  );

  it('plainNumber writes every finite number in plain notation, and parsing returns the same number', () => {
    const property = fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = plainNumber(value);
      expect(text).toMatch(PLAIN);
      expect(Number(text)).toBe(value === 0 ? 0 : value);
    });
    fc.assert(property, { numRuns: 5_000 });
  });
});
