/**
 * Converts the rows of a pool and its state, in raw units, to legs and their states in whole tokens. New blocks,
 * blocks read back from the store, and audits use this module. Their results therefore have identical bits.
 */
import { powerOfTen, wholeTokens } from '../domain/amounts';
import type { Hex } from '../domain/hex';
import { pricedAs } from '../domain/pools/nativeCoin';
import { scalePrice } from '../domain/prices';
import { shapeOf } from '../domain/pools/poolShape';
import { makeLeg, NO_STATE, type Leg, type LegState } from './leg';

/** Value of `walked_liquidity` in a state whose ticks were not walked. */
export const NOT_WALKED = -1;

/** The part of a pool's row that determines its legs. */
export interface LegsPool {
  readonly address: Hex;
  readonly protocol: string;
  readonly token0: Hex;
  readonly token1: Hex;
  /** All tokens of a pool of a protocol of many tokens; empty for a pool of a protocol of two tokens. */
  readonly tokens: readonly Hex[];
  /** Weights of the tokens, where 10^18 means 1; empty if the pool has no weights. */
  readonly weights: readonly bigint[];
}

export interface PricedState {
  readonly pair: Hex;
  /** Time of the state, unix seconds. */
  readonly timestamp: number;
  /** The type of the pool in this state. */
  readonly pool_type: number;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly liquidity: bigint;
  /** Price: raw token1 per raw token0; 0 if there is no price. */
  readonly price: number;
  readonly balances: readonly bigint[];
  /** Numbers of the protocol of a pool of many tokens. */
  readonly params: readonly bigint[];
  /** Reasons why a vault pool backs no price, as in pool_states. 0 means that the pool has no doubt. */
  readonly doubts: number;
  /**
   * `liquidity` of the pool's WalkedDepth (V3), raw units. NOT_WALKED means that the depth comes from the active
   * liquidity and the balances.
   */
  readonly walked_liquidity: number;
  readonly near0: number;
  readonly near1: number;
}

/** Decimals of a token. Null if unknown; its legs then have no price. */
export type DecimalsOf = (token: Hex) => number | null;

/** How a protocol prices two tokens of a pool of many tokens: a part of ManyTokenProtocol. */
interface LegPricing {
  readonly isVault: boolean;
  exchangesWithoutSwap?(state: Pick<PricedState, 'params'>): boolean;
  legState(
    state: Pick<PricedState, 'timestamp' | 'balances' | 'params' | 'doubts'> & Pick<LegsPool, 'weights'>,
    index0: number,
    index1: number,
    decimals: readonly [number, number],
  ): LegState;
}

export interface LegInfo {
  readonly leg: Leg;
  /** Null for a pool of a protocol of two tokens. */
  readonly pricing: LegPricing | null;
  /** Indexes of the leg's tokens in the pool's `tokens`. */
  readonly index0: number;
  readonly index1: number;
}

/**
 * The legs of a pool: one per pair of tokens. A leg names the native coin by the wrapped coin, and a pool that exchanges
 * the two has no leg. `pricingOf` finds the protocol of a pool of many tokens by its name.
 */
export function legsOf(
  pool: LegsPool,
  wrappedNative: Hex | null,
  pricingOf: (protocol: string) => LegPricing,
): LegInfo[] {
  const { address, tokens } = pool;
  if (tokens.length === 0) {
    const [token0, token1] = [pricedAs(pool.token0, wrappedNative), pricedAs(pool.token1, wrappedNative)];
    if (token0 === token1) return [];
    return [{ leg: makeLeg(address, 1, token0, token1), pricing: null, index0: 0, index1: 1 }];
  }
  const pricing = pricingOf(pool.protocol);
  const legs: LegInfo[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    for (let j = i + 1; j < tokens.length; j += 1) {
      const token0 = tokens[i];
      const token1 = tokens[j];
      if (token0 === undefined || token1 === undefined) continue;
      const leg = { ...makeLeg(address, 256 * i + j, token0, token1), isVault: pricing.isVault };
      legs.push({ leg, pricing, index0: i, index1: j });
    }
  }
  return legs;
}

/**
 * State of a leg from the state of its pool. If the pool has no price, or decimals are unknown, the leg has no price.
 */
export function toLegState(
  pool: LegsPool,
  { leg, pricing, index0, index1 }: LegInfo,
  state: PricedState,
  decimalsOf: DecimalsOf,
): LegState {
  const decimals0 = decimalsOf(leg.token0);
  const decimals1 = decimalsOf(leg.token1);
  if (decimals0 === null || decimals1 === null) return { ...NO_STATE };
  if (pricing !== null) {
    const { timestamp, balances, params, doubts } = state;
    const priced = { timestamp, balances, params, doubts, weights: pool.weights };
    return pricing.legState(priced, index0, index1, [decimals0, decimals1]);
  }
  const price = scalePrice(state.price, decimals0, decimals1, true);
  const shape = shapeOf(state.pool_type);
  if (shape.isWalked) return { price, ...concentratedDepth(state, decimals0, decimals1) };
  const reserve0 = wholeTokens(state.reserve0, decimals0);
  const reserve1 = wholeTokens(state.reserve1, decimals1);
  const liquidity = Math.sqrt(reserve0) * Math.sqrt(reserve1);
  return { price, liquidity: shape.reservesPart * liquidity, reserve0, reserve1 };
}

/**
 * The liquidity and reserves for the depth. For a walked pool, they are the amounts that it pays out near its price.
 * For any other pool, its active liquidity and balances.
 */
function concentratedDepth(
  state: PricedState,
  decimals0: number,
  decimals1: number,
): Pick<LegState, 'liquidity' | 'reserve0' | 'reserve1'> {
  const { walked_liquidity: walkedLiquidity, near0, near1 } = state;
  const scale = 10 ** ((decimals0 + decimals1) / 2);
  if (walkedLiquidity >= 0) {
    return {
      liquidity: walkedLiquidity / scale,
      reserve0: near0 / powerOfTen(decimals0),
      reserve1: near1 / powerOfTen(decimals1),
    };
  }
  return {
    liquidity: Number(state.liquidity) / scale,
    reserve0: wholeTokens(state.reserve0, decimals0),
    reserve1: wholeTokens(state.reserve1, decimals1),
  };
}
