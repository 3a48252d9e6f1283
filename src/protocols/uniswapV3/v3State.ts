/**
 * Applies events to the state of a V3 pool, and computes its price. V3 pools have no reserves, so balances are summed
 * from the logs. A burn releases tokens but leaves them in the pool; a collect takes them out (UniswapV3Pool.sol).
 */
import { clampAmount, UINT256_MAX } from '../../domain/amounts';
import { moveBalances, type PoolState } from '../../domain/pool';
import type { BurnEvent, MintEvent, PoolEvent, SwapEvent } from '../protocol';

const UINT128_MAX = (1n << 128n) - 1n;
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
    case 'curve':
      return state;
  }
}

/**
 * The fields are listed one by one, because spreading an object is several times slower and most events are swaps.
 */
function afterSwap(state: PoolState, { amount0, amount1, after }: SwapEvent): PoolState {
  const { sqrtPriceX96, liquidity, tick } = after ?? state;
  return {
    reserve0: clampAmount(state.reserve0 + amount0, UINT256_MAX),
    reserve1: clampAmount(state.reserve1 + amount1, UINT256_MAX),
    sqrtPriceX96,
    liquidity,
    tick,
  };
}

/** Active liquidity changes only if the position covers the current tick: tickLower ≤ tick < tickUpper. */
function moveLiquidity(state: PoolState, event: MintEvent | BurnEvent, sign: bigint): PoolState {
  const { liquidity: moved, tickLower, tickUpper } = event;
  if (moved === null || tickLower === null || tickUpper === null) return state;
  if (state.tick < tickLower || state.tick >= tickUpper) return state;
  const liquidity = clampAmount(state.liquidity + sign * moved, UINT128_MAX);
  return liquidity === state.liquidity ? state : { ...state, liquidity };
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
