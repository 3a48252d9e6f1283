/**
 * A leg: two tokens of a pool that trade against each other. A two-token pool has one leg, a weighted pool one per
 * pair of its tokens. The state of a leg is in whole tokens and is the same for all pool kinds: the marginal price P
 * (token1 per token0) and the liquidity L. The virtual reserves are L/√P and L·√P. In a constant product pool they are
 * the real reserves; a concentrated or weighted pool behaves like them near its price.
 */
import type { Hex } from '../domain/hex';

/** Key of a leg: the pool's address and the leg's number. */
export type LegKey = string;

export interface Leg {
  readonly key: LegKey;
  readonly pair: Hex;
  /** Number of the leg in its pool: 256 · index of token0 + index of token1. */
  readonly number: number;
  readonly token0: Hex;
  readonly token1: Hex;
  /**
   * A pool of a vault. Anyone may write the contract of such a pool, so others may be unable to trade its price back to
   * the market price.
   */
  readonly isVault?: boolean;
}

/** State at the end of a block, in whole tokens. */
export interface LegState {
  /** Price: whole token1 per whole token0; 0 if there is no price. */
  readonly price: number;
  /** V2: √(reserve0 · reserve1); V3: liquidity by a walk of the ticks, or active; weighted: `weightedLiquidity`. */
  readonly liquidity: number;
  /**
   * Real balances. For a V3 pool whose ticks were walked: the amounts that the pool pays out within ±50 % of the price.
   */
  readonly reserve0: number;
  readonly reserve1: number;
}

export const NO_STATE: LegState = { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };

/**
 * Part of the virtual reserve that moves a constant product pool's price by +2 %: √1.02 − 1. A move by −2 % takes a
 * larger part, 1/√0.98 − 1.
 */
export const DEPTH_PART = Math.sqrt(1.02) - 1;

export function legKey(pair: Hex, number: number): LegKey {
  return number === 1 ? pair : `${pair}/${number}`;
}

export function makeLeg(pair: Hex, number: number, token0: Hex, token1: Hex): Leg {
  return { key: legKey(pair, number), pair, number, token0, token1 };
}
