/**
 * Balancer's WeightedMath.sol with 80 decimal digits, without fee and limits, as a reference for prices.
 * Powers use series of logarithm and exponential, which are valid for bases near 1 only.
 */
import type { Rational } from '../../domain/rational';

const ONE = 10n ** 80n;

/** Natural logarithm of value / ONE, in units of ONE: 2 artanh((v − 1) / (v + 1)). */
function ln(value: bigint): bigint {
  const x = ((value - ONE) * ONE) / (value + ONE);
  const square = (x * x) / ONE;
  let sum = 0n;
  let power = x;
  for (let n = 1n; power !== 0n; n += 2n) {
    sum += power / n;
    power = (power * square) / ONE;
  }
  return 2n * sum;
}

function exp(value: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term !== 0n; n += 1n) {
    term = (term * value) / ONE / n;
    sum += term;
  }
  return sum;
}

/** base^(numerator / denominator). */
function pow(base: Rational, numerator: bigint, denominator: bigint): Rational {
  const logarithm = ln((base.numerator * ONE) / base.denominator);
  return { numerator: exp((logarithm * numerator) / denominator), denominator: ONE };
}

export const fraction = (numerator: bigint, denominator = 1n): Rational => ({ numerator, denominator });
const plus = (a: Rational, b: Rational): Rational =>
  fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
const minus = (a: Rational, b: Rational): Rational => plus(a, fraction(-b.numerator, b.denominator));
const times = (a: Rational, b: Rational): Rational =>
  fraction(a.numerator * b.numerator, a.denominator * b.denominator);
export const over = (a: Rational, b: Rational): Rational => times(a, fraction(b.denominator, b.numerator));

/** One token of a leg, with its balance and weight. */
export interface Side {
  readonly balance: Rational;
  readonly weight: bigint;
}

/** Amount out by WeightedMath.sol: aO = bO · (1 − (bI / (bI + aI))^(wI / wO)). */
export function outGivenIn(into: Side, out: Side, amountIn: Rational): Rational {
  const base = over(into.balance, plus(into.balance, amountIn));
  return times(out.balance, minus(fraction(1n), pow(base, into.weight, out.weight)));
}

/** Price of `token` in units of `unit`: (B_unit / w_unit) / (B_token / w_token). */
export function priceOf(token: Side, unit: Side): Rational {
  return over(over(unit.balance, fraction(unit.weight)), over(token.balance, fraction(token.weight)));
}
