/**
 * The invariant of cryptoMath.ts in float64, for the depth of a pool and as the start of the exact search. The search for a
 * root uses only operations whose results are the same in every process.
 */

export interface CryptoCurve {
  /** A as the contract counts it: A · nⁿ · 10,000. */
  readonly amp: bigint;
  /** γ in units where 1e18 means 1. */
  readonly gamma: bigint;
}

interface FloatCurve {
  /** R of cryptoMath.ts. */
  readonly r: number;
  readonly gamma: number;
}

const GAMMA_UNIT = 1e18;
const AMP_UNIT = 1e4;
const STEPS_MAX = 100;
/** Relative size of the last step. */
const STEP_MIN = 1e-14;

export function toFloatCurve(curve: CryptoCurve): FloatCurve {
  const gamma = Number(curve.gamma) / GAMMA_UNIT;
  return { r: AMP_UNIT / (gamma * gamma * Number(curve.amp)), gamma };
}

/** h and q of cryptoMath.ts. */
export function floatBend(
  { r, gamma }: FloatCurve,
  xs: readonly number[],
  d: number,
): { readonly h: number; readonly q: number } {
  let k = 1;
  for (const x of xs) k *= (x * xs.length) / d;
  const g = gamma + 1 - k;
  return { h: r * g * g * (1 / k - 1), q: r * (2 * g * (1 - k) + (g * g) / k) };
}

function floatSum(xs: readonly number[]): number {
  let sum = 0;
  for (const x of xs) sum += x;
  return sum;
}

/** As findRoot of cryptoMath.ts, from the upper bound. */
function floatRoot(
  high: number,
  step: (at: number) => { readonly next: number; readonly isAbove: boolean },
): number {
  let [low, top, at] = [0, high, high];
  for (let count = 0; count < STEPS_MAX; count += 1) {
    const { next, isAbove } = step(at);
    if (isAbove) top = at;
    else low = at;
    const moved = next > low && next < top ? next : (low + top) / 2;
    if (Math.abs(moved - at) < STEP_MIN * at) return moved;
    at = moved;
  }
  return at;
}

export function floatD(curve: FloatCurve, xs: readonly number[]): number {
  const sum = floatSum(xs);
  return floatRoot(sum, (d) => {
    const { h, q } = floatBend(curve, xs, d);
    const miss = sum - d - d * h;
    return { next: d + miss / (1 + h + xs.length * q), isAbove: miss < 0 };
  });
}

/** The balance j with which D stays, whatever balance j is now. */
export function floatBalance(curve: FloatCurve, balances: readonly number[], j: number, d: number): number {
  const xs = [...balances];
  const n = xs.length;
  let high = d / n;
  let others = 0;
  for (const [index, x] of xs.entries()) {
    if (index === j) continue;
    high *= d / (x * n);
    others += x;
  }
  return floatRoot(high, (y) => {
    xs[j] = y;
    const { h, q } = floatBend(curve, xs, d);
    const miss = others + y - d - d * h;
    return { next: y - (miss * y) / (y + d * q), isAbove: miss >= 0 };
  });
}
