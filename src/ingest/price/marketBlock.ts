/**
 * Converts rows in raw units into the input of pricing: legs and their states in whole tokens. Fresh blocks
 * and blocks read back from the store share this code, so both give bit-identical prices.
 */
import type { Hex } from '../../domain/hex';
import { wholeTokens } from '../../domain/amounts';
import type { Leg, LegKey, LegState } from '../../pricing/leg';
import {
  legsOf,
  toLegState,
  type DecimalsOf,
  type LegInfo,
  type LegsPool,
  type PricedState,
} from '../../pricing/legState';
import type { MarketBlock } from '../../pricing/pricer';

export interface PricedPool extends LegsPool {
  /** Null: the pool is older than the first ingested block. */
  readonly created_block: number | null;
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

interface PoolInfo {
  readonly pool: PricedPool;
  readonly legs: readonly LegInfo[];
}

/** Remembers pools and turns blocks of rows into market blocks. */
export class MarketReader {
  private readonly pools = new Map<Hex, PoolInfo>();

  constructor(private readonly decimalsOf: DecimalsOf) {}

  clear(): void {
    this.pools.clear();
  }

  /** Adds the pool and returns its legs. */
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
        moves.push({ key: leg.leg.key, state: toLegState(info.pool, leg, state, this.decimalsOf) });
    }
    return { number, timestamp, legs, moves, traded: this.sumTraded(swaps) };
  }

  private sumTraded(swaps: readonly PricedSwap[]): { key: LegKey; amount: number }[] {
    const sums = new Map<LegKey, number>();
    for (const { pair, leg, amount1 } of swaps) {
      const info = this.pools.get(pair)?.legs.find((candidate) => candidate.leg.number === leg);
      if (info === undefined) continue;
      const decimals = this.decimalsOf(info.leg.token1);
      if (decimals === null) continue;
      const amount = wholeTokens(amount1 < 0n ? -amount1 : amount1, decimals);
      sums.set(info.leg.key, (sums.get(info.leg.key) ?? 0) + amount);
    }
    return [...sums].map(([key, amount]) => ({ key, amount }));
  }
}
