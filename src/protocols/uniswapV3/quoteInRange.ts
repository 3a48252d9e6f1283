/**
 * The amount that a V3 pool pays out while its price stays between two neighbouring multiples of the tick spacing, where
 * the active liquidity cannot change. Formulas: SwapMath.sol and SqrtPriceMath.sol of @uniswap/v3-core.
 */
import type { Pool, PoolState } from '../../domain/pool';
import { amount0Delta, amount1Delta, sqrtRatioAtTick, TICK_MAX, TICK_MIN } from '../ticks/tickMath';

const PIPS = 1_000_000n;

/** Raw units, rounded as the contract does. Null beyond the range, and for a pool without price or liquidity. */
export function quoteInRange(
  { feePips, tickSpacing }: Pick<Pool, 'feePips' | 'tickSpacing'>,
  { sqrtPriceX96: start, liquidity, tick }: PoolState,
  amountIn: bigint,
  isToken0In: boolean,
): bigint | null {
  if (amountIn <= 0n || start === 0n || liquidity === 0n || tickSpacing <= 0) return null;
  const paid = (amountIn * (PIPS - BigInt(feePips))) / PIPS;
  const lower = Math.floor(tick / tickSpacing) * tickSpacing;
  if (isToken0In) {
    const scaled = liquidity << 96n;
    const end = divideUp(scaled * start, scaled + paid * start);
    return end < sqrtRatioAtTick(Math.max(lower, TICK_MIN)) ? null : amount1Delta(end, start, liquidity);
  }
  const end = start + (paid << 96n) / liquidity;
  const upper = sqrtRatioAtTick(Math.min(lower + tickSpacing, TICK_MAX));
  return end > upper ? null : amount0Delta(start, end, liquidity);
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
