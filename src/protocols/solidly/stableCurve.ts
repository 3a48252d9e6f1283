/**
 * The curve x³y + y³x = k of stable Solidly pools. x and y are the reserves with 18 decimals. The integer functions
 * round as the contract does (aerodrome-finance/contracts, Pool.sol).
 */
import { powerOfTen } from '../../domain/amounts';

const UNIT = 10n ** 18n;
/** Largest number of Newton steps in the contract. */
export const STEPS_MAX = 255;

/** Decimals by which the pool scales token0 and token1. */
type ScaleDecimals = readonly [decimals0: number, decimals1: number];

/**
 * The marginal price y(3x² + y²) / (x(x² + 3y²)), as raw token1 per raw token0. Only the ratio of the reserves counts.
 * Null if a reserve is 0 or the price is no float64. The relative error is below 2e-15.
 */
export function stablePrice(
  reserve0: bigint,
  reserve1: bigint,
  [decimals0, decimals1]: ScaleDecimals,
): number | null {
  const scale = powerOfTen(decimals0) / powerOfTen(decimals1);
  const ratio = (Number(reserve1) / Number(reserve0)) * scale;
  const price = (ratio * ((3 + ratio * ratio) / (1 + 3 * ratio * ratio))) / scale;
  return Number.isFinite(price) && price > 0 ? price : null;
}

/**
 * Raw amount that a stable pool pays for `amountIn`, from which the fee is already taken. Null if the contract would
 * revert.
 */
export function quoteStable(
  amountIn: bigint,
  zeroForOne: boolean,
  reserves: readonly [bigint, bigint],
  decimals: ScaleDecimals,
  solve: SolveY = solveY,
): bigint | null {
  const units = decimals.map((each) => 10n ** BigInt(each));
  const scale = (raw: bigint, token: 0 | 1): bigint => (raw * UNIT) / (units[token] ?? 1n);
  const [tokenIn, tokenOut] = zeroForOne ? ([0, 1] as const) : ([1, 0] as const);
  const [x, y] = [scale(reserves[tokenIn], tokenIn), scale(reserves[tokenOut], tokenOut)];
  const k = invariant(x, y);
  const isAbove = (x0: bigint, y0: bigint): boolean => invariant(scale(x0, 0), scale(y0, 1)) > k;
  const after = solve(x + scale(amountIn, tokenIn), k, y, isAbove);
  return after === null || after > y ? null : ((y - after) * (units[tokenOut] ?? 1n)) / UNIT;
}

/** Solves invariant(x, y) = k for y. Null if the contract would revert. */
export type SolveY = (
  x: bigint,
  k: bigint,
  start: bigint,
  isAbove: (x: bigint, y: bigint) => boolean,
) => bigint | null;

function invariant(x: bigint, y: bigint): bigint {
  const product = (x * y) / UNIT;
  return (product * ((x * x) / UNIT + (y * y) / UNIT)) / UNIT;
}

export function slope(x: bigint, y: bigint): bigint {
  return (3n * x * ((y * y) / UNIT)) / UNIT + (((x * x) / UNIT) * x) / UNIT;
}

/**
 * Newton's method for the least y with invariant(x, y) ≥ k. The contract decides the last unit by `isAbove`, which scales
 * x as token0 and y as token1 once more, in both directions.
 */
function solveY(
  x: bigint,
  k: bigint,
  start: bigint,
  isAbove: (x: bigint, y: bigint) => boolean,
): bigint | null {
  let y = start;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const reached = invariant(x, y);
    const steepness = slope(x, y);
    if (steepness === 0n) return null;
    const isLow = reached < k;
    const move = ((isLow ? k - reached : reached - k) * UNIT) / steepness;
    if (move === 0n) {
      if (reached === k || (!isLow && invariant(x, y - 1n) < k)) return y;
      if (isLow && isAbove(x, y + 1n)) return y + 1n;
    }
    const least = move === 0n ? 1n : move;
    y = isLow ? y + least : y - least;
    if (y < 0n) return null;
  }
  return null;
}
