/**
 * The invariant of CryptoSwap, as f(x, D) = Σx − D − D·h = 0 with h = R·g²·(1/K − 1), g = γ + 1 − K, K = Π(n·x)/Dⁿ and
 * R = 1/(γ²·A·nⁿ). x are balances with 18 decimals, times the price scale. The functions find the root with 64 more bits
 * than the contracts keep, so a result differs from theirs only by their rounding. Null stands for balances at which the
 * contracts revert. Source: curvefi/twocrypto-ng TwocryptoMath.vy and curvefi/tricrypto-ng CurveCryptoMathOptimized3.vy.
 */

import { floatBalance, floatD, toFloatCurve, type CryptoCurve } from './cryptoFloat';

/** Bits by which D and x extend the integers of the contracts. */
const EXTRA_BITS = 64n;
/** The root is found when a step is below this number of extended units. */
const STEP_MIN = 1n << 8n;
const STEPS_MAX = 255;
/** Bits of the fraction of h, K and g. */
const FRACTION_BITS = 256n;
const ONE = 1n << FRACTION_BITS;
const GAMMA_UNIT = 10n ** 18n;
/** A_MULTIPLIER of the contracts. */
const AMP_UNIT = 10_000n;
/** The contracts refuse a balance below this part of D, for two and for three tokens. */
const SHARE_MIN_OF_TWO = 200n;
const SHARE_MIN_OF_THREE = 100n;
/** No accepted balance is a smaller part of the sum of all balances. */
const SUM_SHARE_MIN = 10n ** 6n;
/** Balances count as off the curve of D if the sum of both sides differs by more than this part of D: 2^-56. */
const OFF_CURVE_BITS = 56n;
/** The contracts refuse a D above 1e33. */
const SUM_MAX = 10n ** 34n;

const sumOf = (values: readonly bigint[]): bigint => values.reduce((total, each) => total + each, 0n);

/** h, and q = −K·∂h/∂K, both as fractions of ONE. ∂f/∂D = −(1 + h + n·q) and ∂f/∂x = 1 + D·q/x. */
function bendOf(
  { amp, gamma }: CryptoCurve,
  xs: readonly bigint[],
  d: bigint,
): { readonly h: bigint; readonly q: bigint } {
  const n = BigInt(xs.length);
  const product = xs.reduce((part, x) => (part * x * n) / d, ONE);
  const k = product === 0n ? 1n : product;
  const g = ONE + (gamma * ONE) / GAMMA_UNIT - k;
  const square = (g * g) >> FRACTION_BITS;
  const inverse = (ONE * ONE) / k;
  const r = (GAMMA_UNIT ** 2n * AMP_UNIT * ONE) / (gamma * gamma * amp);
  const times = (a: bigint, b: bigint): bigint => (a * b) >> FRACTION_BITS;
  const h = times(times(square, inverse - ONE), r);
  const q = times(times(2n * g, ONE - k) + times(square, inverse), r);
  return { h, q };
}

/** f(x, D). */
const missOf = (xs: readonly bigint[], d: bigint, h: bigint): bigint =>
  sumOf(xs) - d - ((d * h) >> FRACTION_BITS);

/** Whether the contracts accept these balances and parameters at all. */
function isUsable({ amp, gamma }: CryptoCurve, xs: readonly bigint[]): boolean {
  const sum = sumOf(xs);
  return amp > 0n && gamma > 0n && sum <= SUM_MAX && xs.every((x) => x > 0n && x * SUM_SHARE_MIN >= sum);
}

/**
 * Newton's method between 0 and a bound, from a float64 near the root. f falls or rises over the whole range, so a step
 * beyond a bound is halved.
 */
function findRoot(
  bound: bigint,
  near: number,
  step: (at: bigint) => { readonly next: bigint; readonly isAbove: boolean },
): bigint | null {
  const start = near >= 1 && Number.isFinite(near) ? BigInt(Math.floor(near)) << EXTRA_BITS : bound;
  let [low, high, at] = [0n, bound, start < bound ? start : bound];
  for (let count = 0; count < STEPS_MAX; count += 1) {
    const { next, isAbove } = step(at);
    if (isAbove) high = at;
    else low = at;
    const moved = next > low && next < high ? next : (low + high) / 2n;
    const change = moved > at ? moved - at : at - moved;
    if (change < STEP_MIN) return moved >> EXTRA_BITS;
    if (moved === 0n) return null;
    at = moved;
  }
  return null;
}

/** D of these balances. 0 for an empty pool. */
export function findD(curve: CryptoCurve, balances: readonly bigint[]): bigint | null {
  if (balances.every((x) => x === 0n)) return 0n;
  if (!isUsable(curve, balances)) return null;
  const xs = balances.map((x) => x << EXTRA_BITS);
  const n = BigInt(xs.length);
  return findRoot(sumOf(xs), floatD(toFloatCurve(curve), balances.map(Number)), (d) => {
    const { h, q } = bendOf(curve, xs, d);
    const miss = missOf(xs, d, h);
    const slope = ONE + h + n * q;
    return { next: slope > 0n ? d + (miss * ONE) / slope : 0n, isAbove: miss < 0n };
  });
}

/** The balance j with which D stays, whatever balance j is now. */
export function findBalance(
  curve: CryptoCurve,
  balances: readonly bigint[],
  j: number,
  d: bigint,
): bigint | null {
  const others = balances.filter((_each, index) => index !== j);
  if (d <= 0n || d > SUM_MAX || !isUsable(curve, others)) return null;
  const n = BigInt(balances.length);
  const xs = balances.map((x) => x << EXTRA_BITS);
  const extended = d << EXTRA_BITS;
  // The largest balance, at which K is 1.
  const bound = others.reduce((part, x) => (part * d) / (x * n), extended) / n;
  const shareMin = n === 2n ? SHARE_MIN_OF_TWO : SHARE_MIN_OF_THREE;
  if (bound === 0n || others.some((x) => x * shareMin < d)) return null;
  const near = floatBalance(toFloatCurve(curve), balances.map(Number), j, Number(d));
  const y = findRoot(bound, near, (at) => {
    xs[j] = at;
    const { h, q } = bendOf(curve, xs, extended);
    const miss = missOf(xs, extended, h);
    return { next: at - (miss * at * ONE) / (at * ONE + extended * q), isAbove: miss >= 0n };
  });
  return y === null || y * shareMin < d ? null : y;
}

/**
 * Marginal price of i in j, both as x, as a fraction: ∂f/∂xᵢ over ∂f/∂xⱼ. D may not be that of the balances, after a ramp or
 * a withdrawal. The contract then trades along the curve of its D, so the price is that of the balance j on this curve.
 * Null without a price.
 */
export function marginalRatio(
  curve: CryptoCurve,
  balances: readonly bigint[],
  d: bigint,
  [i, j]: readonly [number, number],
): { readonly numerator: bigint; readonly denominator: bigint } | null {
  if (d <= 0n || d > SUM_MAX || i === j || !isUsable(curve, balances)) return null;
  const miss = missOf(balances, d, bendOf(curve, balances, d).h);
  const isOff = (miss < 0n ? -miss : miss) << OFF_CURVE_BITS > d;
  const onCurve = isOff ? findBalance(curve, balances, j, d) : balances[j];
  const xs = balances.map((x, index) => (index === j ? (onCurve ?? 0n) : x));
  const [xi = 0n, xj = 0n] = [xs[i], xs[j]];
  if (xi === 0n || xj === 0n) return null;
  const { q } = bendOf(curve, xs, d);
  const [above, below] = [xi * ONE + d * q, xj * ONE + d * q];
  return above <= 0n || below <= 0n ? null : { numerator: above * xj, denominator: below * xi };
}
