/**
 * The StableSwap invariant Ann·Σx + D = Ann·D + K with K = D^(n+1) / (n^n·Πx) and Ann = A·n. The integer functions round
 * as the contracts do, so a result is the contract's own. x are balances with 18 decimals. Null stands for a call that
 * reverts, and for a D or y that does not converge. Sources: curvefi/stableswap-ng (CurveStableSwapNG.vy),
 * curvefi/curve-factory (Plain2Basic.vy, Plain3Basic.vy, MetaUSD.vy), curvefi/curve-contract (StableSwap3Pool.vy,
 * StableSwapSTETH.vy, StableSwapAave.vy, StableSwapGUSD.vy) and
 * pancakeswap/pancake-smart-contracts (PancakeStableSwapThreePool.sol).
 */
import { UINT256_MAX } from '../../domain/amounts';

/** Steps of Newton's method after which the contracts give up. */
const STEPS_MAX = 255;
/** Bits by which the exact price extends the integers of the contract. */
const EXTRA_BITS = 64n;
/** Largest relative error of the contract's D: 2^-36. */
const ERROR_BITS = 36n;
/** Above all products of two numbers with 256 and EXTRA_BITS bits. */
const UNLIMITED = 1n << 700n;

export interface StableCurve {
  /** A as the contract counts it: A · `ampUnit`. */
  readonly amp: bigint;
  readonly ampUnit: bigint;
  /**
   * Pancake's port divides by n for each balance, and goes on with the last D and y if they do not converge. StableSwap-NG
   * divides by n^n at the end, and reverts.
   */
  readonly isPancake: boolean;
  /** Whether a contract that divides as Pancake's port reverts like StableSwap-NG. */
  readonly reverts?: boolean;
  /** Whether each divisor of D is larger by 1, as in the pools of stETH and Aave. */
  readonly addsOne?: boolean;
}

/** D of these balances. */
export function getD(xp: readonly bigint[], curve: StableCurve): bigint | null {
  const sum = xp.reduce((total, x) => total + x, 0n);
  if (sum === 0n) return 0n;
  if (xp.some((x) => x <= 0n) || curve.amp * BigInt(xp.length) < curve.ampUnit) return null;
  let d = sum;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const next = stepD(xp, sum, curve, d, UINT256_MAX);
    if (next === null || isNear(next, d)) return next;
    d = next;
  }
  return curve.isPancake && curve.reverts !== true ? d : null;
}

/** One step towards D. Null if a product is above the largest number of the contract. */
function stepD(
  xp: readonly bigint[],
  sum: bigint,
  { amp, ampUnit, isPancake, addsOne = false }: StableCurve,
  d: bigint,
  maximum: bigint,
): bigint | null {
  const n = BigInt(xp.length);
  const ann = amp * n;
  let part = d;
  for (const x of xp) {
    if (part * d > maximum) return null;
    part = (part * d) / (isPancake ? x * n + BigInt(addsOne) : x);
  }
  if (!isPancake) part /= n ** n;
  const numerator = ((ann * sum) / ampUnit + part * n) * d;
  return numerator > maximum ? null : numerator / (((ann - ampUnit) * d) / ampUnit + (n + 1n) * part);
}

/** The balance j with which the pool keeps D. `others` are all other balances, in order. */
export function solveBalance(others: readonly bigint[], curve: StableCurve, d: bigint): bigint | null {
  const { amp, ampUnit, isPancake, reverts = false } = curve;
  const n = BigInt(others.length + 1);
  const ann = amp * n;
  if (ann === 0n || others.some((x) => x <= 0n)) return null;
  const product = others.reduce((part, x) => (part * d) / (x * n), d);
  const c = (product * d * ampUnit) / (ann * n);
  const b = others.reduce((total, x) => total + x, 0n) + (d * ampUnit) / ann;
  let y = d;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const divisor = 2n * y + b - d;
    if (divisor <= 0n || y * y + c > UINT256_MAX) return null;
    const next = (y * y + c) / divisor;
    if (isNear(next, y)) return next;
    y = next;
  }
  return isPancake && !reverts ? y : null;
}

const isNear = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) <= 1n;

/**
 * The marginal price (Ann + K/xi) / (Ann + K/xj) of i in j, as a fraction. `d` is the contract's D, which has an error of
 * some units. Two more steps with 64 more bits remove the error. Null if they move D by more than rounding can.
 */
export function marginalPrice(
  xp: readonly bigint[],
  curve: StableCurve,
  d: bigint,
  [i, j]: readonly [number, number],
): { readonly numerator: bigint; readonly denominator: bigint } | null {
  const exact = xp.map((x) => x << EXTRA_BITS);
  const sum = exact.reduce((total, x) => total + x, 0n);
  const step = (from: bigint): bigint => stepD(exact, sum, curve, from, UNLIMITED) ?? 0n;
  const start = d << EXTRA_BITS;
  const refined = step(step(start));
  const error = refined > start ? refined - start : start - refined;
  if (refined === 0n || error << ERROR_BITS > refined) return null;
  const n = BigInt(xp.length);
  const ann = curve.amp * n;
  const product = exact.reduce((all, x) => all * x, n ** n);
  const k = (curve.ampUnit * refined ** (n + 1n)) / product;
  const [xi = 1n, xj = 1n] = [exact[i], exact[j]];
  return { numerator: (ann * xi + k) * xj, denominator: (ann * xj + k) * xi };
}
