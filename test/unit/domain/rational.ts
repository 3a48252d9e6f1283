/** Exact BigInt fractions, for measuring the error of a float or a decimal string. */

export interface Rational {
  readonly numerator: bigint;
  /** > 0. */
  readonly denominator: bigint;
}

/** The exact value of a finite float64. */
export function exactly(value: number): Rational {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const biased = Number((word >> 52n) & 0x7ffn);
  const fraction = word & ((1n << 52n) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const exponent = BigInt(Math.max(biased, 1) - 1075);
  const sign = word >> 63n === 1n ? -1n : 1n;
  return exponent >= 0n
    ? { numerator: (sign * mantissa) << exponent, denominator: 1n }
    : { numerator: sign * mantissa, denominator: 1n << -exponent };
}

/** The value of a decimal string in plain notation. Throws for any other text. */
export function parseDecimal(text: string): Rational {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (sign === undefined) throw new Error(`not a plain decimal: ${text}`);
  const digits = BigInt(whole + fraction);
  return { numerator: sign === '-' ? -digits : digits, denominator: 10n ** BigInt(fraction.length) };
}

/** True if |a − b| ≤ 10^−digits · |b|. */
export function agree(a: Rational, b: Rational, digits: number): boolean {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  const size = b.numerator * a.denominator;
  return absolute(difference) * 10n ** BigInt(digits) <= absolute(size);
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
