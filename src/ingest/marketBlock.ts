/**
 * From rows in raw units to what pricing reads: legs and their states in whole tokens. The same for blocks just decoded
 * and for blocks read back from the store, so that both give the same bits.
 */
import type { Hex } from '../domain/hex';
import { wholeTokens } from '../domain/amounts';
import { scalePrice } from '../domain/prices';
import { makeLeg, weightedLiquidity, type Leg, type LegKey, type LegState } from '../pricing/leg';
import type { MarketBlock } from '../pricing/pricer';

const V3 = 3;

/** The part of a pool's row that makes its legs. */
export interface PricedPool {
  readonly address: Hex;
  readonly pool_type: number;
  readonly token0: Hex;
  readonly token1: Hex;
  /** Empty for pools of two tokens. */
  readonly tokens: readonly Hex[];
  /** Times 10^18; empty where there are none. */
  readonly weights: readonly bigint[];
  /** Null: made before the first ingested block. */
  readonly created_block: number | null;
}

export interface PricedState {
  readonly pair: Hex;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly liquidity: bigint;
  /** Raw token1 per raw token0; 0: none. */
  readonly price: number;
  readonly balances: readonly bigint[];
}

export interface PricedSwap {
  readonly pair: Hex;
  readonly leg: number;
  readonly amount1: bigint;
}

export interface PricedRows {
  readonly number: number;
  readonly timestamp: number;
  readonly pools: readonly PricedPool[];
  /** In log order. */
  readonly states: readonly PricedState[];
  readonly swaps: readonly PricedSwap[];
}

/** Decimals of a token; 0 where it does not tell. */
export type DecimalsOf = (token: Hex) => number;

interface LegInfo {
  readonly leg: Leg;
  readonly index0: number;
  readonly index1: number;
}

interface PoolInfo {
  readonly pool: PricedPool;
  readonly legs: readonly LegInfo[];
}

/** Knows the pools seen so far and turns blocks of rows into market blocks. */
export class MarketReader {
  private readonly pools = new Map<Hex, PoolInfo>();

  constructor(private readonly decimalsOf: DecimalsOf) {}

  clear(): void {
    this.pools.clear();
  }

  /** Legs of a pool, which is known from now on. */
  addPool(pool: PricedPool): { readonly leg: Leg; readonly older: boolean }[] {
    const legs = legsOf(pool);
    this.pools.set(pool.address, { pool, legs });
    return legs.map(({ leg }) => ({ leg, older: pool.created_block === null }));
  }

  toMarketBlock({ number, timestamp, pools, states, swaps }: PricedRows): MarketBlock {
    const legs = pools.flatMap((pool) => this.addPool(pool));
    const last = new Map<Hex, PricedState>();
    for (const state of states) last.set(state.pair, state);
    const moves: { key: LegKey; state: LegState }[] = [];
    for (const [pair, state] of last) {
      const info = this.pools.get(pair);
      if (info === undefined) continue;
      for (const leg of info.legs)
        moves.push({ key: leg.leg.key, state: this.toLegState(info.pool, leg, state) });
    }
    return { number, timestamp, legs, moves, traded: this.sumTraded(swaps) };
  }

  private sumTraded(swaps: readonly PricedSwap[]): { key: LegKey; amount: number }[] {
    const sums = new Map<LegKey, number>();
    for (const { pair, leg, amount1 } of swaps) {
      const info = this.pools.get(pair)?.legs.find((candidate) => candidate.leg.number === leg);
      if (info === undefined) continue;
      const amount = wholeTokens(amount1 < 0n ? -amount1 : amount1, this.decimalsOf(info.leg.token1));
      sums.set(info.leg.key, (sums.get(info.leg.key) ?? 0) + amount);
    }
    return [...sums].map(([key, amount]) => ({ key, amount }));
  }

  private toLegState(pool: PricedPool, { leg, index0, index1 }: LegInfo, state: PricedState): LegState {
    const decimals0 = this.decimalsOf(leg.token0);
    const decimals1 = this.decimalsOf(leg.token1);
    if (pool.tokens.length > 0) return weightedState(pool, state, index0, index1, decimals0, decimals1);
    const reserve0 = wholeTokens(state.reserve0, decimals0);
    const reserve1 = wholeTokens(state.reserve1, decimals1);
    const price = scalePrice(state.price, decimals0, decimals1, true);
    const liquidity =
      pool.pool_type === V3
        ? Number(state.liquidity) / 10 ** ((decimals0 + decimals1) / 2)
        : Math.sqrt(reserve0) * Math.sqrt(reserve1);
    return { price, liquidity, reserve0, reserve1 };
  }
}

function legsOf(pool: PricedPool): LegInfo[] {
  const { address, tokens } = pool;
  if (tokens.length === 0) {
    return [{ leg: makeLeg(address, 1, pool.token0, pool.token1), index0: 0, index1: 1 }];
  }
  const legs: LegInfo[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    for (let j = i + 1; j < tokens.length; j += 1) {
      const token0 = tokens[i];
      const token1 = tokens[j];
      if (token0 === undefined || token1 === undefined) continue;
      legs.push({ leg: makeLeg(address, 256 * i + j, token0, token1), index0: i, index1: j });
    }
  }
  return legs;
}

/** Spot price (B1/w1)/(B0/w0) (Balancer WeightedMath); without weights there is no price. */
function weightedState(
  pool: PricedPool,
  state: PricedState,
  index0: number,
  index1: number,
  decimals0: number,
  decimals1: number,
): LegState {
  const reserve0 = wholeTokens(state.balances[index0] ?? 0n, decimals0);
  const reserve1 = wholeTokens(state.balances[index1] ?? 0n, decimals1);
  const weight0 = Number(pool.weights[index0] ?? 0n) / 1e18;
  const weight1 = Number(pool.weights[index1] ?? 0n) / 1e18;
  const price = reserve1 / weight1 / (reserve0 / weight0);
  const priced = weight0 > 0 && weight1 > 0 && price > 0 && Number.isFinite(price);
  const liquidity = priced ? weightedLiquidity(reserve0, reserve1, weight0, weight1) : 0;
  return { price: priced ? price : 0, liquidity, reserve0, reserve1 };
}
