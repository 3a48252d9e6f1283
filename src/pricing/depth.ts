/**
 * Computes the depth of a leg from its liquidity. Only the side whose token has a price gives depth. The real balances
 * of both tokens limit the depth, so a pool that holds almost none of one token has almost no depth.
 */
import { meanLiquidity, type LegRecord } from './epoch';
import { DEPTH_PART, type LegState } from './leg';

/** Largest depth, as an exponent of 2. Larger depths are lowered to it, so that sums stay finite. */
const OCTAVES_MAX = 960;

interface KnownSide {
  /** USD value of the known side. */
  readonly backingUsd: number;
  /** USD of the known side's token that move the price by 2 %. */
  readonly depthUsd: number;
}

const NOTHING: KnownSide = { backingUsd: 0, depthUsd: 0 };

/**
 * Values the known side of a leg. `usd` is the price of its token, which is token0 or token1. The depth is at most the
 * real balance of either token, valued at the pool's price.
 */
export function knownSide(
  { state, liquidity }: { readonly state: LegState; readonly liquidity: number },
  isToken0: boolean,
  usd: number,
): KnownSide {
  const { price, reserve0, reserve1 } = state;
  if (!(price > 0) || !(liquidity > 0)) return NOTHING;
  const sqrtPrice = Math.sqrt(price);
  const virtualReserve = isToken0 ? liquidity / sqrtPrice : liquidity * sqrtPrice;
  const realReserve = isToken0 ? reserve0 : reserve1;
  const otherReserve = isToken0 ? reserve1 / price : reserve0 * price;
  const depth = Math.min(virtualReserve * DEPTH_PART, realReserve, otherReserve);
  const depthUsd = depth * usd;
  const backingUsd = Math.min(virtualReserve, realReserve, depth / DEPTH_PART) * usd;
  return Number.isFinite(depthUsd) && Number.isFinite(backingUsd) ? { backingUsd, depthUsd } : NOTHING;
}

/** Rounds to an eighth of a doubling, so that routes do not change with every trade. */
export function inSteps(depthUsd: number): number {
  return 2 ** Math.min(OCTAVES_MAX, Math.round(Math.log2(depthUsd) * 8) / 8);
}

/** Rounds a depth down to a power of 2. 0 stays 0. */
export function inDoublings(depthUsd: number): number {
  return depthUsd > 0 ? 2 ** Math.min(OCTAVES_MAX, Math.floor(Math.log2(depthUsd))) : 0;
}

/**
 * Liquidity for the route search: the 30-minute mean at `time`, at most the liquidity of the record's state.
 * `time` is not before the record.
 */
export function confirmedLiquidity(record: LegRecord, time: number): number {
  return Math.min(meanLiquidity(record, time), record.state.liquidity);
}

/**
 * Liquidity for prices of the current block: the smaller one of the present liquidity and the liquidity that an earlier
 * epoch confirms.
 */
export function presentLiquidity(record: LegRecord | undefined, state: LegState, epochTime: number): number {
  if (record === undefined) return state.liquidity;
  return Math.min(confirmedLiquidity(record, epochTime), state.liquidity);
}
