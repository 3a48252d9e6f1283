/**
 * The StableSwap invariant Ann·Σx + D = Ann·D + D^(n+1) / (n^n·Πx) with Ann = A·n, for the oracles and the simulated
 * contracts. Shares no code with the product.
 */

/** Ann is `ann` / `unit`. */
export interface StableTerms {
  readonly ann: bigint;
  readonly unit: bigint;
  /** Whether the contract divides by n with each balance, as Balancer and Pancake do, or once by n^n. */
  readonly dividesEach: boolean;
  /** Added to each divisor by the first contracts of Curve. */
  readonly plus?: bigint;
  /** Whether a contract that divides with each balance reverts like StableSwap-NG. */
  readonly reverts?: boolean;
  /** Whether the contract reverts where a product is above 2^256 − 1. */
  readonly isChecked?: boolean;
}

/** Newton's method needs far fewer steps. */
const STEPS_MAX = 255;
const FRACTION_BITS = 256n;
const LARGEST = (1n << 256n) - 1n;

const sumOf = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);
const isNear = (a: bigint, b: bigint): boolean => a - b <= 1n && b - a <= 1n;

/**
 * D as the contracts compute it, in whole numbers. `xs` are balances with 18 decimals, all above 0. Far from the balance,
 * Newton's method may not end. StableSwap-NG then reverts, which is null here, and the others use the last D. Also null where
 * a number is too large for a contract that checks it.
 */
export function findContractD(
  xs: readonly bigint[],
  { ann, unit, dividesEach, plus = 0n, reverts = false, isChecked = false }: StableTerms,
): bigint | null {
  const n = BigInt(xs.length);
  const sum = sumOf(xs);
  let d = sum;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    let part = d;
    for (const x of xs) {
      if (isChecked && part * d > LARGEST) return null;
      part = (part * d) / (dividesEach ? x * n + plus : x);
    }
    if (!dividesEach) part /= n ** n;
    const numerator = ((ann * sum) / unit + part * n) * d;
    if (isChecked && numerator > LARGEST) return null;
    const next = numerator / (((ann - unit) * d) / unit + (n + 1n) * part);
    if (isNear(next, d)) return next;
    d = next;
  }
  return dividesEach && !reverts ? d : null;
}

/** D of balances for which the contract does not revert. */
export function contractD(xs: readonly bigint[], terms: StableTerms): bigint {
  const d = findContractD(xs, terms);
  if (d === null) throw new RangeError(`the contract finds no D of ${xs.join(', ')}`);
  return d;
}

/** The balance y that keeps D beside the balances `others`, as the contracts compute it. */
export function contractY(others: readonly bigint[], terms: StableTerms, d: bigint): bigint {
  const y = findContractY(others, terms, d);
  if (y === null) throw new RangeError(`the contract finds no balance beside ${others.join(', ')}`);
  return y;
}

/** Null where a number is too large for a contract that checks it. */
export function findContractY(
  others: readonly bigint[],
  { ann, unit, isChecked = false }: StableTerms,
  d: bigint,
): bigint | null {
  const n = BigInt(others.length + 1);
  let c = d;
  for (const x of others) {
    if (isChecked && c * d > LARGEST) return null;
    c = (c * d) / (x * n);
  }
  if (isChecked && c * d * unit > LARGEST) return null;
  c = (c * d * unit) / (ann * n);
  const b = sumOf(others) + (d * unit) / ann;
  let y = d;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if (isChecked && y * y + c > LARGEST) return null;
    const next = (y * y + c) / (2n * y + b - d);
    if (isNear(next, y)) return next;
    y = next;
  }
  return y;
}

/**
 * The marginal price of token i in token j, both with 18 decimals: the ratio of the derivatives Ann + D^(n+1) / (n^n·Πx) / x.
 * D is solved with many more bits than the contract has. Null if a balance is 0.
 */
export function stablePriceOf(
  balances: readonly bigint[],
  { ann, unit }: Pick<StableTerms, 'ann' | 'unit'>,
  i: number,
  j: number,
): readonly [bigint, bigint] | null {
  if (balances.some((balance) => balance === 0n)) return null;
  const xs = balances.map((balance) => balance << FRACTION_BITS);
  const [n, sum] = [BigInt(xs.length), sumOf(xs)];
  const product = xs.reduce((all, x) => all * x, n ** n);
  let d = sum;
  let part = 0n;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    part = d ** (n + 1n) / product;
    const next = ((ann * sum + unit * n * part) * d) / ((ann - unit) * d + unit * (n + 1n) * part);
    if (isNear(next, d)) break;
    d = next;
  }
  const slopeAt = (index: number): bigint => ann * xs[index]! + unit * part;
  return [slopeAt(i) * xs[j]!, slopeAt(j) * xs[i]!];
}
