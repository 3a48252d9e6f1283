/** The tokens that a change of liquidity moves, to the last unit: Pool.modifyLiquidity of @uniswap/v4-core. */
import type { PoolState } from '../../domain/pool';
import { sqrtRatioAtTick } from '../ticks/tickMath';

const Q96 = 1n << 96n;

/** Raw amounts, not negative: of what is added rounded up, of what is removed (`change` below 0) rounded down. */
export function principalOf(
  { sqrtPriceX96, tick }: Pick<PoolState, 'sqrtPriceX96' | 'tick'>,
  tickLower: number,
  tickUpper: number,
  change: bigint,
): { readonly amount0: bigint; readonly amount1: bigint } {
  if (sqrtPriceX96 === 0n) return { amount0: 0n, amount1: 0n };
  const [lower, upper] = [sqrtRatioAtTick(tickLower), sqrtRatioAtTick(tickUpper)];
  const [divide, liquidity] = change > 0n ? [divideUp, change] : [divideDown, -change];
  const amount0 = (from: bigint, to: bigint): bigint =>
    divide(divide((liquidity << 96n) * (to - from), to), from);
  const amount1 = (from: bigint, to: bigint): bigint => divide(liquidity * (to - from), Q96);
  if (tick < tickLower) return { amount0: amount0(lower, upper), amount1: 0n };
  if (tick >= tickUpper) return { amount0: 0n, amount1: amount1(lower, upper) };
  return { amount0: amount0(sqrtPriceX96, upper), amount1: amount1(lower, sqrtPriceX96) };
}

function divideDown(numerator: bigint, denominator: bigint): bigint {
  return numerator / denominator;
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
