/** Scaling by decimals, and numbers in plain notation: the only place where either is done. */

/** The most decimals a token is believed to have; what `decimals()` says beyond it is taken as nonsense (null). */
export const DECIMALS_MAX = 77;

/** Decimal places of USD in the store. */
export const USD_DECIMALS = 12;

/** A raw amount in whole tokens, plain notation, no trailing zeros: `(1500n, 3)` → `"1.5"`. */
export function formatUnits(raw: bigint, decimals: number): string {
  const negative = raw < 0n;
  const digits = (negative ? -raw : raw).toString().padStart(decimals + 1, '0');
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return (negative ? '-' : '') + (fraction === '' ? whole : `${whole}.${fraction}`);
}

/** A raw amount in whole tokens as a float64, correctly rounded up to the float's 53 bits. */
export function unitsToNumber(raw: bigint, decimals: number): number {
  return Number(formatUnits(raw, decimals));
}

/** Powers of ten as the nearest floats; parsed, because `10 ** n` is not the nearest one for every n. */
const POWERS = Array.from({ length: 512 }, (_, exponent) => Number(`1e${exponent}`));

/** 10^exponent for an integer exponent from 0 on; Infinity beyond 308. */
export function powerOfTen(exponent: number): number {
  return POWERS[exponent] ?? Infinity;
}

/** A raw amount in whole tokens, fast: the nearest float of the amount over the power of ten, off by 2^-53 at most twice. */
export function wholeTokens(raw: bigint, decimals: number): number {
  return Number(raw) / powerOfTen(decimals);
}

/**
 * numerator / denominator as a plain decimal string of `significant` digits (rounded half up), no trailing zeros.
 * Both must be ≥ 0, the denominator > 0.
 */
export function formatRatio(numerator: bigint, denominator: bigint, significant = 18): string {
  if (numerator === 0n) return '0';
  // The digit counts give the size of the ratio but for one digit, so the quotient has one or two digits more than are
  // shown: cut off, never rounded, or it would be rounded twice.
  const exponent = numerator.toString().length - denominator.toString().length;
  const shift = significant + 1 - exponent;
  const scaled = shift >= 0 ? numerator * 10n ** BigInt(shift) : numerator;
  const divisor = shift >= 0 ? denominator : denominator * 10n ** BigInt(-shift);
  const quotient = scaled / divisor;
  const unit = 10n ** BigInt(quotient.toString().length - significant);
  return shiftDecimal(((quotient + unit / 2n) / unit) * unit, shift);
}

/** value · 10^−shift in plain notation, no trailing zeros. */
function shiftDecimal(value: bigint, shift: number): string {
  return shift >= 0 ? formatUnits(value, shift) : (value * 10n ** BigInt(-shift)).toString();
}

/** A finite float64 in plain notation without an exponent: `1e-7` → `"0.0000001"`. */
export function plainNumber(value: number): string {
  const text = value.toString();
  const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = parts;
  const exponent = Number(exponentText);
  const digits = BigInt(whole + fraction);
  return sign + shiftDecimal(digits, fraction.length - exponent);
}
