/** Computes TVL, depth and yield of a pool by the prices of its tokens. Pure. */
import { countSides } from '../../pricing/cap';
import { isTrusted } from '../../pricing/confidence';
import { isExtremeFee } from '../../domain/swapFee';
import { scalePrice } from '../../domain/prices';
import { shapeOf } from '../../domain/pools/poolShape';
import { DOUBTS } from '../../domain/pools/doubts';
import type { TokenPrice } from '../prices/priceByHops';

const YEAR_SECONDS = 365 * 86_400;
const PRICE_UP_FACTOR = 1.02;
const PRICE_DOWN_FACTOR = 0.98;

/** One token of a pool. */
export interface PoolSide {
  /** Amount of this token in the pool, in whole tokens. */
  readonly amount: number;
  readonly price: TokenPrice;
}

/** USD value by any price, trusted or not; null without a price. */
export function valueOf({ amount, price }: PoolSide): number | null {
  return price.usd === null ? null : amount * price.usd;
}

/** USD value by a trusted price; 0 without a trusted price. */
export function trustedValueOf({ amount, price }: PoolSide): number {
  return trustedUsd(amount, price);
}

/** USD value of an amount in whole tokens, by a trusted price; 0 without a trusted price. */
export function trustedUsd(amount: number, price: TokenPrice): number {
  return isTrusted(price) && price.usd !== null ? amount * price.usd : 0;
}

/**
 * The USD of each token of a pool that TVL includes. This is the token's trusted value, limited to the larger of two
 * amounts: the token's cap, and the worth of the other sides. `weights` is empty for a pool without weights.
 */
export function countedValues(sides: readonly PoolSide[], weights: readonly number[]): number[] {
  return countSides(
    sides.map((side, i) => ({
      usd: trustedValueOf(side),
      capUsd: side.price.capUsd,
      poolWorth: weights.length === 0 ? 1 : (weights[i] ?? 0),
    })),
  );
}

/**
 * TVL in USD, from sides with a trusted price. If a V2 pool has one trusted side, its TVL is twice that side, because
 * the invariant keeps both sides equal in value. The TVL of a concentrated pool is the value of its real balances,
 * which may be in one token only.
 */
export function tvlOf(poolType: number, side0: PoolSide, side1: PoolSide): number {
  const valueUsd = sumBelowCaps(side0, side1) ?? sumOf(countedValues([side0, side1], []));
  const areBothSame = isTrusted(side0.price) === isTrusted(side1.price);
  return areBothSame || !shapeOf(poolType).hasEqualSides ? valueUsd : 2 * valueUsd;
}

/**
 * Sum of the trusted values of two sides, if no cap limits them. Otherwise null. Runs for every pool, so it must be
 * fast.
 */
function sumBelowCaps(side0: PoolSide, side1: PoolSide): number | null {
  const value0 = trustedValueOf(side0);
  const value1 = trustedValueOf(side1);
  return value0 <= side0.price.capUsd && value1 <= side1.price.capUsd ? value0 + value1 : null;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * `countedValues` for a vault pool. If the pool's weights are in doubt, the value of other sides does not raise the
 * limit of a side.
 */
export function countedInVault(
  holdings: readonly PoolSide[],
  weights: readonly number[],
  doubts: number,
): number[] {
  if ((doubts & DOUBTS.managed) > 0) return holdings.map(() => 0);
  return countedValues(holdings, doubts > 0 ? [] : weights);
}

/** Largest TVL of a vault pool, as a multiple of the value of its trusted balances. */
const TVL_PER_TRUSTED_MAX = 2;

/**
 * TVL of a vault pool: the value of its trusted balances, divided by the sum of their weights. Each token's value is
 * proportional to its weight. TVL is at most twice the trusted balances, because anyone can register any weights.
 * Stable pools have no weights; their TVL is the trusted balances alone. The same holds for pools with doubts. The
 * TVL of a pool with an asset manager is 0.
 */
export function tvlOfWeighted(
  holdings: readonly PoolSide[],
  weights: readonly number[],
  doubts: number,
): number {
  const valueUsd = sumOf(countedInVault(holdings, weights, doubts));
  let trustedWeight = 0;
  holdings.forEach(({ price }, i) => {
    if (isTrusted(price)) trustedWeight += weights[i] ?? 0;
  });
  if (weights.length === 0 || !(trustedWeight > 0) || doubts > 0) return valueUsd;
  return valueUsd / Math.min(1, Math.max(trustedWeight, 1 / TVL_PER_TRUSTED_MAX));
}

/** Converts a fractional raw amount to whole tokens. */
export function wholeUnits(raw: number, decimals: number): number {
  return scalePrice(raw, 0, decimals, true);
}

/** The state of a pool in raw units, by base and quote. */
interface DepthState {
  readonly poolType: number;
  readonly baseReserve: number;
  readonly quoteReserve: number;
  /** Active liquidity of a V3 pool, that of a walk over bins, or `weightedLiquidity` of the leg of a weighted pool. */
  readonly liquidity: number;
  /** Marginal price, raw quote per raw base; 0 if there is no price. */
  readonly price: number;
}

interface Depth {
  readonly upQuote: number;
  readonly downQuote: number;
}

/**
 * Depth: raw quote that moves the price by ±2 %. Up: the quote paid in by buyers, L(√(1.02 P) − √P). Down: the value at
 * P of the base paid in by sellers, L(1/√(0.98 P) − 1/√P)·P. Each side is capped by the pool's real balance of the
 * token paid out, because L does not hold beyond the active range. Null without a price, and for stable pools.
 */
export function depthOf({ poolType, baseReserve, quoteReserve, liquidity, price }: DepthState): Depth | null {
  if (!(price > 0) || !Number.isFinite(price)) return null;
  const { liquidity: liquiditySource } = shapeOf(poolType);
  if (liquiditySource === null) return null;
  const sqrtOfProduct = Math.sqrt(baseReserve) * Math.sqrt(quoteReserve);
  const sqrtOfPrice = Math.sqrt(price);
  const virtualQuote = (liquiditySource === 'reserves' ? sqrtOfProduct : liquidity) * sqrtOfPrice;
  return {
    upQuote: Math.min(virtualQuote * (Math.sqrt(PRICE_UP_FACTOR) - 1), baseReserve * price),
    downQuote: Math.min(virtualQuote * (1 / Math.sqrt(PRICE_DOWN_FACTOR) - 1), quoteReserve),
  };
}

/** Annualised fees of a window over the TVL, in percent. Null without TVL, and for a pool with a fee above 10 %. */
export function aprPercent(
  feesUsd: number,
  windowSeconds: number,
  tvlUsd: number,
  feePips: number,
): number | null {
  if (!(tvlUsd > 0) || isExtremeFee(feePips)) return null;
  const percentPerYear = ((feesUsd * YEAR_SECONDS) / windowSeconds / tvlUsd) * 100;
  return Number.isFinite(percentPerYear) ? percentPerYear : null;
}
