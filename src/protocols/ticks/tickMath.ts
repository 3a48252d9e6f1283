/**
 * Uniswap V3's tick and liquidity arithmetic in exact integers: the tokens of a position between two ticks at a price.
 * TickMath.sol and SqrtPriceMath.sol of @uniswap/v3-core.
 */
import { UINT256_MAX } from '../../domain/amounts';

export const TICK_MIN = -887_272;
export const TICK_MAX = 887_272;

const Q96 = 1n << 96n;

/** The constants √1.0001^(−2^i) times 2^128, i = 0 … 19 (TickMath.getSqrtRatioAtTick). */
const FACTORS: readonly bigint[] = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
];

/** √(1.0001^tick) · 2^96, rounded up as in the contract. Throws a RangeError for ticks beyond ±887,272. */
export function sqrtRatioAtTick(tick: number): bigint {
  if (!Number.isInteger(tick) || tick < TICK_MIN || tick > TICK_MAX)
    throw new RangeError(`tick: got ${tick}; allowed: an integer from ${TICK_MIN} to ${TICK_MAX}`);
  const size = Math.abs(tick);
  let ratio = 1n << 128n;
  FACTORS.forEach((factor, bit) => {
    if ((size & (1 << bit)) !== 0) ratio = (ratio * factor) >> 128n;
  });
  if (tick > 0) ratio = UINT256_MAX / ratio;
  return (ratio >> 32n) + (ratio % (1n << 32n) === 0n ? 0n : 1n);
}

interface PositionAmounts {
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Raw amounts of the two tokens for liquidity between two ticks at a price, rounded down, without fees. */
export function amountsOfLiquidity(
  sqrtPriceX96: bigint,
  tickLower: number,
  tickUpper: number,
  liquidity: bigint,
): PositionAmounts {
  const lower = sqrtRatioAtTick(tickLower);
  const upper = sqrtRatioAtTick(tickUpper);
  if (sqrtPriceX96 <= lower) return { amount0: amount0Delta(lower, upper, liquidity), amount1: 0n };
  if (sqrtPriceX96 >= upper) return { amount0: 0n, amount1: amount1Delta(lower, upper, liquidity) };
  return {
    amount0: amount0Delta(sqrtPriceX96, upper, liquidity),
    amount1: amount1Delta(lower, sqrtPriceX96, liquidity),
  };
}

/** Amount of token0 by SqrtPriceMath.getAmount0Delta, rounded down: L · (√b − √a) / (√a · √b). */
export function amount0Delta(lower: bigint, upper: bigint, liquidity: bigint): bigint {
  return ((liquidity << 96n) * (upper - lower)) / upper / lower;
}

/** Amount of token1 by SqrtPriceMath.getAmount1Delta, rounded down: L · (√b − √a). */
export function amount1Delta(lower: bigint, upper: bigint, liquidity: bigint): bigint {
  return (liquidity * (upper - lower)) / Q96;
}
