/**
 * Scales amounts by decimals, and writes numbers without exponents. All other modules use these functions.
 */

/** Largest accepted number of decimals of a token. A larger answer of `decimals()` is treated as unknown (null). */
export const DECIMALS_MAX = 77;

/** Number of decimal places of stored USD values. */
export const USD_DECIMALS = 12;

/** Writes a raw amount in whole tokens, without exponent or trailing zeros: `(1500n, 3)` gives `"1.5"`. */
export function formatUnits(raw: bigint, decimals: number): string {
  const isNegative = raw < 0n;
  const digits = (isNegative ? -raw : raw).toString().padStart(decimals + 1, '0');
  const wholePart = decimals === 0 ? digits : digits.slice(0, -decimals);
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return (isNegative ? '-' : '') + (fraction === '' ? wholePart : `${wholePart}.${fraction}`);
}

/** Converts a raw amount to whole tokens, as the nearest float64. */
export function unitsToNumber(raw: bigint, decimals: number): number {
  return Number(formatUnits(raw, decimals));
}

/** Powers of ten as the nearest floats. They are parsed from text, because `10 ** n` is not the nearest float
 * for every n. */
const POWERS = Array.from({ length: 512 }, (_, exponent) => Number(`1e${exponent}`));

/** 10^exponent for an integer exponent ≥ 0; Infinity above 308. */
export function powerOfTen(exponent: number): number {
  return POWERS[exponent] ?? Infinity;
}

/** Converts a raw amount to whole tokens, faster than `unitsToNumber`. The relative error is at most two
 * roundings of 2^-53. */
export function wholeTokens(raw: bigint, decimals: number): number {
  return Number(raw) / powerOfTen(decimals);
}

/**
 * Writes numerator / denominator as a decimal string of `significant` digits, rounded half up, without
 * trailing zeros. Both must be ≥ 0, the denominator > 0.
 */
export function formatRatio(numerator: bigint, denominator: bigint, significant = 18): string {
  if (numerator === 0n) return '0';
  // The numbers of digits give the size of the ratio within one digit, so the quotient has one or two digits
  // more than the result. The division truncates, so the only rounding is the one to the result's digits.
  const exponent = numerator.toString().length - denominator.toString().length;
  const shift = significant + 1 - exponent;
  const scaledNumerator = shift >= 0 ? numerator * 10n ** BigInt(shift) : numerator;
  const divisor = shift >= 0 ? denominator : denominator * 10n ** BigInt(-shift);
  const quotient = scaledNumerator / divisor;
  const roundingUnit = 10n ** BigInt(quotient.toString().length - significant);
  return shiftDecimal(((quotient + roundingUnit / 2n) / roundingUnit) * roundingUnit, shift);
}

/** Writes value · 10^−shift without exponent or trailing zeros. */
function shiftDecimal(value: bigint, shift: number): string {
  return shift >= 0 ? formatUnits(value, shift) : (value * 10n ** BigInt(-shift)).toString();
}

/** Writes a finite float64 without exponent: `1e-7` gives `"0.0000001"`. */
export function plainNumber(value: number): string {
  const text = value.toString();
  const exponentParts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (exponentParts === null) return text;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = exponentParts;
  const exponent = Number(exponentText);
  const digits = BigInt(whole + fraction);
  return sign + shiftDecimal(digits, fraction.length - exponent);
}

/** The largest uint256. */
export const UINT256_MAX = (1n << 256n) - 1n;

/** The nearest value from 0 to the maximum. */
export function clampAmount(value: bigint, maximum: bigint): bigint {
  if (value < 0n) return 0n;
  return value > maximum ? maximum : value;
}
