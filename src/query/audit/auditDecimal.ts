/**
 * Computes exact sums and products of decimal strings, so that readers of an audit can repeat each sum to the last
 * digit.
 */
import { formatRatio, formatUnits } from '../../domain/amounts';

/** Number of decimal places of sums and products in answers. */
const PRINTED_DECIMALS = 18;
/** Decimals of a weight. */
const WEIGHT_DECIMALS = 18;
const WEIGHT_ONE = 10n ** BigInt(WEIGHT_DECIMALS);

interface Exact {
  readonly digits: bigint;
  /** Number of decimal places: the value is digits / 10^scale. */
  readonly scale: number;
}

/** Parses a decimal string ≥ 0 without exponent. */
function parseExact(text: string): Exact {
  const [whole = '0', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

function multiply(a: Exact, b: Exact): Exact {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

function add(a: Exact, b: Exact): Exact {
  const scale = Math.max(a.scale, b.scale);
  const digitsAtScale = ({ digits, scale: from }: Exact): bigint => digits * 10n ** BigInt(scale - from);
  return { digits: digitsAtScale(a) + digitsAtScale(b), scale };
}

function printExact({ digits, scale }: Exact): string {
  return formatRatio(digits, 10n ** BigInt(scale), PRINTED_DECIMALS);
}

export function sumOfProducts(factorPairs: readonly (readonly [string, string])[]): string {
  return printExact(
    factorPairs.reduce<Exact>((sum, [a, b]) => add(sum, multiply(parseExact(a), parseExact(b))), {
      digits: 0n,
      scale: 0,
    }),
  );
}

export function productOf(factors: readonly string[]): string {
  return printExact(factors.map(parseExact).reduce(multiply, { digits: 1n, scale: 0 }));
}

/** a / b, to 18 digits; b > 0. */
export function quotientOf(a: string, b: string): string {
  const [dividend, divisor] = [parseExact(a), parseExact(b)];
  return formatRatio(
    dividend.digits * 10n ** BigInt(divisor.scale),
    divisor.digits * 10n ** BigInt(dividend.scale),
    PRINTED_DECIMALS,
  );
}

/**
 * Weights with 18 decimals that sum to exactly 1. The largest weight takes the rounding error, because the error may
 * be larger than the smallest weight.
 */
export function printWeights(weights: readonly number[]): string[] {
  const rounded = weights.map((weight) => parseExact(weight.toFixed(WEIGHT_DECIMALS)).digits);
  const remainder = WEIGHT_ONE - rounded.reduce((sum, weight) => sum + weight, 0n);
  const largest = weights.indexOf(Math.max(...weights));
  return rounded.map((weight, i) =>
    formatUnits(i === largest ? weight + remainder : weight, WEIGHT_DECIMALS),
  );
}
