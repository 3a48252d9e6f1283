/**
 * Solidly and its forks: pools of two tokens on the curve x·y = k (volatile) or x³y + y³x = k (stable). A Sync before each
 * Mint, Burn and Swap holds the reserves. The fee leaves the pool with the swap, so it is no part of the reserves.
 */
import type { PoolState } from '../../domain/pool';
import { POOL_STABLE, POOL_V2 } from '../../domain/pools/poolShape';
import type { PoolTerms, Protocol, SwapEvent } from '../protocol';
import { uniswapV2 } from '../uniswapV2/uniswapV2';
import {
  decodeSolidlyCreation,
  decodeSolidlyEvent,
  SOLIDLY_CREATIONS,
  SOLIDLY_EVENTS,
} from './solidlyEvents';
import { solidlyQuestions } from './solidlyQuestions';
import { quoteStable, stablePrice } from './stableCurve';

const PIPS = 1_000_000n;

export const solidly = {
  name: 'solidly',
  hasManyTokens: false,
  poolTypes: [POOL_V2, POOL_STABLE],
  keptTopics: [],
  locksSharesAtZero: true,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: null,
  creationTopics: SOLIDLY_CREATIONS,
  eventTopics: SOLIDLY_EVENTS,
  hasSync: true,
  hasShareTransfers: true,
  hasTokenTransfers: false,
  decodeCreation: decodeSolidlyCreation,
  decodeEvent: decodeSolidlyEvent,
  applyEvent: uniswapV2.applyEvent,
  spotPrice,
  swapFeePips,
  quote,
  ...solidlyQuestions,
} satisfies Protocol;

function spotPrice(state: PoolState, { poolType, scaleDecimals }: PoolTerms): number | null {
  if (poolType !== POOL_STABLE) return uniswapV2.spotPrice(state);
  return scaleDecimals == null ? null : stablePrice(state.reserve0, state.reserve1, scaleDecimals);
}

/**
 * The fee is what came in and did not stay in the reserves. Forks split it in different ways (Fees, TankFees, GaugeFees, or
 * no event), but each part leaves the pool before the Sync. If the reserves before are unknown, or changed in another
 * way, the result is the pool's fee.
 */
function swapFeePips(
  { feePips }: PoolTerms,
  { amount0, amount1 }: SwapEvent,
  before: PoolState | null,
  after: PoolState,
): number {
  if (before === null || before.reserve0 === 0n || before.reserve1 === 0n) return feePips;
  const [amountIn, kept] =
    amount0 > 0n ? [amount0, after.reserve0 - before.reserve0] : [amount1, after.reserve1 - before.reserve1];
  const fee = amountIn - kept;
  if (amountIn <= 0n || fee < 0n || fee > amountIn) return feePips;
  return Number((fee * PIPS + amountIn / 2n) / amountIn);
}

/** The contract takes the fee in whole basis points. */
function quote(pool: PoolTerms, state: PoolState, amountIn: bigint, isToken0In: boolean): bigint | null {
  const paid = amountIn - (amountIn * BigInt(pool.feePips)) / PIPS;
  const { reserve0, reserve1 } = state;
  if (amountIn <= 0n || reserve0 === 0n || reserve1 === 0n) return null;
  if (pool.poolType === POOL_STABLE)
    return pool.scaleDecimals == null
      ? null
      : quoteStable(paid, isToken0In, [reserve0, reserve1], pool.scaleDecimals);
  const [reserveIn, reserveOut] = isToken0In ? [reserve0, reserve1] : [reserve1, reserve0];
  return (paid * reserveOut) / (reserveIn + paid);
}
