/**
 * Checks a swap of a Balancer V2 weighted pool against the pool's weights, with outGivenIn of WeightedMath.sol
 * (balancer/balancer-v2-monorepo). Any contract may register a pool and claim any weights. Only its swaps show
 * whether the claim is true.
 */
import { EXTREME_FEE_PIPS } from '../../domain/swapFee';

/** Largest part of the swap's amount by which the swap may differ from the formula. */
const TOLERANCE = 0.01;
/**
 * Error of the formula as a part of the balance. WeightedMath computes with 18 decimals, so its error grows with the
 * balance and not with the amount.
 */
const BALANCE_ERROR = 1e-12;
/** Largest error, in raw units, that rounding and the scaling by decimals cause. */
const ROUNDING_UNITS = 2;
const PIPS_ONE = 1_000_000;

/** Balances before the swap, and amounts, are in raw units. In weights, 1e18 means 1. */
export interface WeightedSwap {
  readonly balanceIn: bigint;
  readonly balanceOut: bigint;
  readonly weightIn: bigint;
  readonly weightOut: bigint;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** Fee in pips (1e6 = 100 %). 0 means unknown: the swap then fits if some fee up to 10 % explains it. */
  readonly feePips: number;
}

/** Whether the weights explain the swap within this part of its amount, rounding, and 1e-12 of the balances. */
export function fitsWeights(swap: WeightedSwap, tolerance = TOLERANCE): boolean {
  const slackIn = ROUNDING_UNITS + Number(swap.balanceIn) * BALANCE_ERROR;
  const slackOut = ROUNDING_UNITS + Number(swap.balanceOut) * BALANCE_ERROR;
  const [feeMin, feeMax] = swap.feePips > 0 ? [swap.feePips, swap.feePips] : [0, EXTREME_FEE_PIPS];
  const outMin = outGivenIn(swap, Number(swap.amountIn) - slackIn, feeMax) * (1 - tolerance) - slackOut;
  const outMax = outGivenIn(swap, Number(swap.amountIn) + slackIn, feeMin) * (1 + tolerance) + slackOut;
  const amountOut = Number(swap.amountOut);
  return amountOut >= outMin && amountOut <= outMax;
}

/** Raw tokens out: B_o · (1 − (B_i / (B_i + amount · (1 − fee)))^(w_i / w_o)). */
export function outGivenIn(
  {
    balanceIn,
    balanceOut,
    weightIn,
    weightOut,
  }: Pick<WeightedSwap, 'balanceIn' | 'balanceOut' | 'weightIn' | 'weightOut'>,
  amountIn: number,
  feePips: number,
): number {
  if (!(amountIn > 0)) return 0;
  const paid = amountIn * (1 - Math.min(feePips, PIPS_ONE) / PIPS_ONE);
  // log1p and expm1 keep small amounts exact. An empty balance gives the whole balance of the other token.
  const growth = Math.log1p(paid / Number(balanceIn));
  return Number(balanceOut) * -Math.expm1(-growth * (Number(weightIn) / Number(weightOut)));
}
