/**
 * The depth of a StableSwap pool near its price, in float64. A constant product pool of the same depth would overestimate
 * a pool that is far from its balance, so the depth is that of a real move of the price by 2 %.
 */
import { curveAt, invariantOf, toXp, type CurvePool } from './curvePool';
import type { StableCurve } from './stableMath';

/** Part of the price that is left after the move. */
const PRICE_LEFT = 0.98;
/** A constant product pool pays out this part of its virtual reserve until the price has moved. */
const PAID_PART = 1 - Math.sqrt(PRICE_LEFT);
/** Largest factor by which a balance grows in the search for the move. */
const GROWTH_MAX = 2 ** 64;
/** Each bisection halves the error of the balance's binary logarithm, which is 64 at the start and 2^-42 at the end. */
const BISECTIONS = 48;
/** A rate of this number means 1. */
const RATE_UNIT = 1e18;

/**
 * The liquidity of the constant product pool of tokens i and j with the same depth, in raw units: √(reserve i · reserve j).
 * The smaller result of both directions counts. 0 if the pool has no price.
 */
export function curveLiquidity(pool: CurvePool, i: number, j: number, timestamp: number): number {
  const [rateI, rateJ] = [Number(pool.rates[i] ?? 0n), Number(pool.rates[j] ?? 0n)];
  const d = invariantOf(pool, pool.balances, timestamp);
  if (d === null || d === 0n || !(rateI * rateJ > 0)) return 0;
  const liquidity = stableLiquidity(toXp(pool, pool.balances), curveAt(pool, timestamp), d, i, j);
  return (liquidity * RATE_UNIT) / Math.sqrt(rateI) / Math.sqrt(rateJ);
}

/** The same in units of 1e-18, by balances with 18 decimals and their D. */
export function stableLiquidity(
  balances: readonly bigint[],
  { amp, ampUnit }: StableCurve,
  d: bigint,
  i: number,
  j: number,
): number {
  const xp = balances.map(Number);
  const ann = (Number(amp) / Number(ampUnit)) * xp.length;
  const towards = (into: number, out: number): number => liquidityTowards(xp, ann, Number(d), into, out);
  return Math.min(towards(i, j), towards(j, i));
}

/** The liquidity that a swap of i for j meets until the price of i in j has fallen by 2 %. */
function liquidityTowards(xp: readonly number[], ann: number, d: number, i: number, j: number): number {
  const [start = 0, before = 0] = [xp[i], xp[j]];
  const price = priceOf(xp, ann, d, i, j);
  const moved = (x: number): number[] => withMove(xp, ann, d, i, j, x);
  let [low, high] = [start, start * GROWTH_MAX];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = Math.sqrt(low) * Math.sqrt(high);
    if (priceOf(moved(middle), ann, d, i, j) > PRICE_LEFT * price) low = middle;
    else high = middle;
  }
  const paid = before - (moved(low)[j] ?? before);
  const liquidity = paid / PAID_PART / Math.sqrt(price);
  return Number.isFinite(liquidity) && liquidity > 0 ? liquidity : 0;
}

/** The marginal price of i in j, as in marginalPrice of stableMath.ts. k is the K of its invariant. */
function priceOf(xp: readonly number[], ann: number, d: number, i: number, j: number): number {
  const n = xp.length;
  const k = xp.reduce((part, x) => (part * d) / (x * n), d);
  return (ann + k / (xp[i] ?? 0)) / (ann + k / (xp[j] ?? 0));
}

/** The balances with x of token i, and the j that keeps D: the positive root of y² + b·y = c. */
function withMove(xp: readonly number[], ann: number, d: number, i: number, j: number, x: number): number[] {
  const n = xp.length;
  const balances = xp.map((each, index) => (index === i ? x : each));
  const others = balances.filter((_each, index) => index !== j);
  const c = (others.reduce((part, each) => (part * d) / (each * n), d) * d) / (ann * n);
  const b = others.reduce((total, each) => total + each, 0) + d / ann - d;
  const root = Math.sqrt(b * b + 4 * c);
  // Both forms give the same root. Each avoids the difference of two numbers that may be nearly equal.
  const y = b > 0 ? (2 * c) / (b + root) : (root - b) / 2;
  return balances.map((each, index) => (index === j ? y : each));
}
