/** What a pool holds is worth: TVL, depth and yield by the prices of its tokens. Pure. */
import { scalePrice } from '../../domain/prices';
import { isTrusted, type TokenPrice } from '../prices/priceBook';

const CONSTANT_PRODUCT = 2;
const CONCENTRATED = 3;
const WEIGHTED = 4;
const YEAR_SECONDS = 365 * 86_400;
const UP = 1.02;
const DOWN = 0.98;

/** One token of a pool. */
export interface PoolSide {
  /** What of it is in the pool, whole tokens. */
  readonly amount: number;
  readonly price: TokenPrice;
}

/** USD by whatever price there is; null without one. */
export function valueOf({ amount, price }: PoolSide): number | null {
  return price.usd === null ? null : amount * price.usd;
}

/** USD by a price that is trusted; 0 without one. */
export function trustedValueOf(side: PoolSide): number {
  return isTrusted(side.price) ? (valueOf(side) ?? 0) : 0;
}

/**
 * TVL in USD: trusted sides only. A single one is doubled where the invariant makes both sides worth the same (V2); a
 * concentrated pool counts its real balances, which may lie on one side alone.
 */
export function tvlOf(poolType: number, side0: PoolSide, side1: PoolSide): number {
  const value = trustedValueOf(side0) + trustedValueOf(side1);
  const both = isTrusted(side0.price) === isTrusted(side1.price);
  return both || poolType !== CONSTANT_PRODUCT ? value : 2 * value;
}

/**
 * TVL of a pool of several tokens: its trusted balances, over the part of the weights that they stand for, since each
 * token's value is in proportion to its weight. Without weights (stable pools) the trusted balances alone.
 */
export function tvlOfWeighted(holdings: readonly PoolSide[], weights: readonly number[]): number {
  let value = 0;
  let weight = 0;
  holdings.forEach((side, i) => {
    if (!isTrusted(side.price)) return;
    value += trustedValueOf(side);
    weight += weights[i] ?? 0;
  });
  return weights.length === 0 || !(weight > 0) ? value : value / Math.min(weight, 1);
}

/** A raw amount that is no integer any more, in whole tokens. */
export function wholeUnits(raw: number, decimals: number): number {
  return scalePrice(raw, 0, decimals, true);
}

/** The state of a pool in raw units, seen from its base. */
export interface DepthState {
  readonly poolType: number;
  readonly baseReserve: number;
  readonly quoteReserve: number;
  /** Active liquidity of a V3 pool; of a weighted one `weightedLiquidity` of the two. */
  readonly liquidity: number;
  /** Marginal price, raw quote per raw base; 0: none. */
  readonly price: number;
}

export interface Depth {
  readonly up: number;
  readonly down: number;
}

/**
 * Raw quote that moves the price by ±2 %: upwards the quote that buyers put in, L(√(1.02 P) − √P), downwards what the base
 * that sellers put in is worth at the price, L(1/√(0.98 P) − 1/√P)·P. Neither is more than what the pool really has of
 * the token that leaves it: beyond the active range L does not hold. Null where there is no price or no such formula.
 */
export function depthOf({ poolType, baseReserve, quoteReserve, liquidity, price }: DepthState): Depth | null {
  if (!(price > 0) || !Number.isFinite(price)) return null;
  if (poolType !== CONSTANT_PRODUCT && poolType !== CONCENTRATED && poolType !== WEIGHTED) return null;
  const product = Math.sqrt(baseReserve) * Math.sqrt(quoteReserve);
  const root = Math.sqrt(price);
  const virtualQuote = (poolType === CONSTANT_PRODUCT ? product : liquidity) * root;
  return {
    up: Math.min(virtualQuote * (Math.sqrt(UP) - 1), baseReserve * price),
    down: Math.min(virtualQuote * (1 / Math.sqrt(DOWN) - 1), quoteReserve),
  };
}

/** Fees of a window, annualised, over the TVL they were earned on, in percent; null without TVL. */
export function aprPercent(fees: number, windowSeconds: number, tvl: number): number | null {
  if (!(tvl > 0)) return null;
  const apr = ((fees * YEAR_SECONDS) / windowSeconds / tvl) * 100;
  return Number.isFinite(apr) ? apr : null;
}
