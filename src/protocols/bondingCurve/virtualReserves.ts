/**
 * Virtual reserves as concentrated liquidity. A curve x·y = k over virtual reserves is one position of liquidity L = √k
 * from its first price upwards (white paper of Uniswap v3, 2.1). So the state of a bonding curve is that of a pool with
 * ticks, and its real balances are its reserves.
 */
import type { PoolState } from '../../domain/pool';
import { sqrtRatioAtTick, TICK_MAX, TICK_MIN } from '../ticks/tickMath';

const Q96 = 1n << 96n;
const UINT128_MAX = (1n << 128n) - 1n;
const LOG_OF_TICK = Math.log(1.0001);

/** Raw virtual reserves, both > 0. */
interface VirtualReserves {
  readonly virtual0: bigint;
  readonly virtual1: bigint;
}

/**
 * √price, tick and liquidity of these reserves. Null if one is 0 or less, or if the price or the liquidity is out of the
 * range of Uniswap V3.
 */
export function toLiquidity({
  virtual0,
  virtual1,
}: VirtualReserves): Pick<PoolState, 'sqrtPriceX96' | 'tick' | 'liquidity'> | null {
  if (virtual0 <= 0n || virtual1 <= 0n) return null;
  const liquidity = squareRoot(virtual0 * virtual1);
  const sqrtPriceX96 = squareRoot((virtual1 << 192n) / virtual0);
  if (liquidity > UINT128_MAX) return null;
  if (sqrtPriceX96 < sqrtRatioAtTick(TICK_MIN) || sqrtPriceX96 >= sqrtRatioAtTick(TICK_MAX)) return null;
  return { sqrtPriceX96, tick: tickOf(sqrtPriceX96), liquidity };
}

/** The virtual reserves of a state, to the precision of √price and liquidity. Null without liquidity. */
export function toReserves({ sqrtPriceX96, liquidity }: PoolState): VirtualReserves | null {
  if (sqrtPriceX96 === 0n || liquidity === 0n) return null;
  const half = sqrtPriceX96 / 2n;
  return {
    virtual0: ((liquidity << 96n) + half) / sqrtPriceX96,
    virtual1: (liquidity * sqrtPriceX96 + Q96 / 2n) / Q96,
  };
}

/** The largest tick whose √price is not above this one. */
function tickOf(sqrtPriceX96: bigint): number {
  let tick = Math.floor((2 * Math.log(Number(sqrtPriceX96) / 2 ** 96)) / LOG_OF_TICK);
  tick = Math.min(Math.max(tick, TICK_MIN), TICK_MAX);
  while (tick > TICK_MIN && sqrtRatioAtTick(tick) > sqrtPriceX96) tick -= 1;
  while (tick < TICK_MAX && sqrtRatioAtTick(tick + 1) <= sqrtPriceX96) tick += 1;
  return tick;
}

/** The square root, rounded down. */
function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
