/**
 * Applies events to the state of a V3 pool, and computes its price. V3 pools have no reserves, so balances are summed
 * from the logs. A burn releases tokens but leaves them in the pool; a collect takes them out (UniswapV3Pool.sol).
 */
import type { PoolState } from '../../domain/pool';
import type { BurnEvent, MintEvent, PoolEvent, SwapEvent } from '../protocol';

const UINT128_MAX = (1n << 128n) - 1n;
const UINT256_MAX = (1n << 256n) - 1n;
const TWO_POW_96 = 2 ** 96;

/** The state after the event; the same object if nothing changed. */
export function applyV3Event(state: PoolState, event: PoolEvent): PoolState {
  switch (event.kind) {
    case 'swap':
      return afterSwap(state, event);
    case 'initialize':
      return { ...state, sqrtPriceX96: event.sqrtPriceX96, tick: event.tick };
    case 'mint':
      return moveLiquidity(moveBalances(state, event.amount0, event.amount1), event, 1n);
    case 'burn':
      return moveLiquidity(state, event, -1n);
    case 'collect':
    case 'collect_protocol':
      return moveBalances(state, -event.amount0, -event.amount1);
    case 'flash':
      return moveBalances(state, event.amount0, event.amount1);
    case 'sync':
    case 'fee':
    case 'swap_fee':
      return state;
  }
}

/**
 * The fields are listed one by one, because spreading an object is several times slower and most events are swaps.
 */
function afterSwap(state: PoolState, { amount0, amount1, after }: SwapEvent): PoolState {
  const { sqrtPriceX96, liquidity, tick } = after ?? state;
  return {
    reserve0: clamp(state.reserve0 + amount0, UINT256_MAX),
    reserve1: clamp(state.reserve1 + amount1, UINT256_MAX),
    sqrtPriceX96,
    liquidity,
    tick,
  };
}

/**
 * Balances stay within 0 … 2^256 − 1. They would fall below zero if tokens reached the pool without an event.
 * They would exceed the maximum if a hostile token made `Flash` report any payment. Neither case may stop the
 * ingester.
 */
export function moveBalances(state: PoolState, delta0: bigint, delta1: bigint): PoolState {
  const reserve0 = clamp(state.reserve0 + delta0, UINT256_MAX);
  const reserve1 = clamp(state.reserve1 + delta1, UINT256_MAX);
  if (reserve0 === state.reserve0 && reserve1 === state.reserve1) return state;
  return { ...state, reserve0, reserve1 };
}

/** Active liquidity changes only if the position covers the current tick: tickLower ≤ tick < tickUpper. */
function moveLiquidity(state: PoolState, event: MintEvent | BurnEvent, sign: bigint): PoolState {
  const { liquidity: moved, tickLower, tickUpper } = event;
  if (moved === null || tickLower === null || tickUpper === null) return state;
  if (state.tick < tickLower || state.tick >= tickUpper) return state;
  const liquidity = clamp(state.liquidity + sign * moved, UINT128_MAX);
  return liquidity === state.liquidity ? state : { ...state, liquidity };
}

function clamp(value: bigint, maximum: bigint): bigint {
  if (value < 0n) return 0n;
  return value > maximum ? maximum : value;
}

/**
 * The price (sqrtPriceX96 / 2^96)², raw token1 per raw token0. The conversion and the square round correctly,
 * and the division by a power of two is exact: relative error below 4e-16.
 */
export function v3SpotPrice(state: PoolState): number | null {
  const root = Number(state.sqrtPriceX96) / TWO_POW_96;
  const price = root * root;
  return Number.isFinite(price) && price > 0 ? price : null;
}
