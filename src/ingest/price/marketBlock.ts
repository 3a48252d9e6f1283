/**
 * Converts rows in raw units into the input of pricing: legs and their states in whole tokens. Fresh blocks
 * and blocks read back from the store share this code, so both give exactly the same prices.
 */
import type { PoolStateRow } from '../../clickhouse/schema/tables';
import { wholeTokens } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import type { LegStep } from '../../pricing/holds';
import type { Leg, LegKey } from '../../pricing/leg';
import {
  legsOf,
  toLegState,
  type DecimalsOf,
  type LegInfo,
  type LegsPool,
  type PricedState,
} from '../../pricing/legState';
import type { FoundLeg, LegHold, MarketBlock } from '../../pricing/priceBlock';
import { getManyTokenProtocol } from '../../protocols/registry';

export interface PricedPool extends LegsPool {
  readonly pool_type: number;
  /** Tick spacing, or the bin step of a pool with bins. */
  readonly tick_spacing: number;
  /** Block of the pool's creation; null if the pool is older than the first ingested block. */
  readonly created_block: number | null;
}

interface PricedSwap {
  readonly ord: number;
  readonly pair: Hex;
  /** Sender of the transaction. Null if the node does not name senders. */
  readonly maker: Hex | null;
  readonly leg: number;
  readonly amount1: bigint;
}

/** A state of a pool, with the position (`ord`) and the kind of the log that caused it. */
interface LoggedState extends PricedState {
  readonly ord: number;
  readonly kind: PoolStateRow['kind'];
  /** Sender of the transaction. Null if the node does not name senders. */
  readonly maker: Hex | null;
}

export interface PricedRows {
  readonly number: number;
  readonly timestamp: number;
  readonly pools: readonly PricedPool[];
  /** The states of the block in log order. */
  readonly states: readonly LoggedState[];
  readonly swaps: readonly PricedSwap[];
}

interface PoolInfo {
  readonly pool: PricedPool;
  readonly legs: readonly LegInfo[];
}

/** Remembers pools, and converts the rows of a block into the input of pricing. */
export class MarketReader {
  private readonly pools = new Map<Hex, PoolInfo>();

  constructor(
    private readonly decimalsOf: DecimalsOf,
    private readonly wrappedNative: Hex | null,
  ) {}

  clear(): void {
    this.pools.clear();
  }

  /** Adds the pool and returns its legs. `older`: the pool existed before the first ingested block. */
  addPool(pool: PricedPool): { readonly leg: Leg; readonly older: boolean }[] {
    const legs = legsOf(pool, this.wrappedNative, getManyTokenProtocol);
    this.pools.set(pool.address, { pool, legs });
    return legs.map(({ leg }) => ({ leg, older: pool.created_block === null }));
  }

  toMarketBlock({ number, timestamp, pools, states, swaps }: PricedRows): MarketBlock {
    const legs = pools.flatMap((pool) => this.addPool(pool));
    const moves: MarketBlock['moves'][number][] = [];
    const foundLegs: FoundLeg[] = [];
    const swapsOf = groupByPair(swaps);
    for (const [pair, statesOfPair] of groupByPair(states)) {
      const info = this.pools.get(pair);
      if (info === undefined) continue;
      const [firstState] = statesOfPair;
      // A found pool has no other state in its block (addFoundPools.ts).
      if (firstState?.kind === 'found') {
        for (const leg of info.legs) {
          const state = toLegState(info.pool, leg, firstState, this.decimalsOf);
          foundLegs.push({ key: leg.leg.key, state, movedAt: firstState.timestamp });
        }
        continue;
      }
      const causes = causesOf(statesOfPair, swapsOf.get(pair) ?? []);
      for (const leg of info.legs)
        moves.push({ key: leg.leg.key, steps: this.toSteps(info.pool, leg, statesOfPair, causes) });
    }
    const traded = [...this.sumTraded(swaps), ...this.listExchanges(states)];
    return { number, timestamp, legs, moves, found: foundLegs, traded };
  }

  /**
   * Adds the price parts that changed without a swap (`unswapped`) to the last state of each pool in the block.
   */
  addHolds(states: readonly PoolStateRow[], holds: readonly LegHold[]): readonly PoolStateRow[] {
    if (holds.length === 0) return states;
    const unswapped = new Map(holds.map((hold) => [hold.key, hold.unswapped]));
    const seenPairs = new Set<Hex>();
    return [...states]
      .reverse()
      .map((state) => {
        const legs = seenPairs.has(state.pair) ? [] : (this.pools.get(state.pair)?.legs ?? []);
        seenPairs.add(state.pair);
        if (!legs.some(({ leg }) => unswapped.has(leg.key))) return state;
        return { ...state, unswapped: legs.map(({ leg }) => unswapped.get(leg.key) ?? 0) };
      })
      .reverse();
  }

  private toSteps(
    pool: PricedPool,
    leg: LegInfo,
    states: readonly LoggedState[],
    causes: readonly LegStep['cause'][],
  ): LegStep[] {
    return states.map((state, i) => ({
      state: toLegState(pool, leg, state, this.decimalsOf),
      cause: causes[i] ?? 'other',
    }));
  }

  /** The makers of exchanges that are no trades, such as wraps. Their amounts confirm no price. */
  private listExchanges(states: readonly LoggedState[]): MarketBlock['traded'] {
    return states.flatMap(({ pair, kind, params, maker }) => {
      const legs = kind === 'collect' ? (this.pools.get(pair)?.legs ?? []) : [];
      return legs
        .filter(({ pricing }) => pricing?.exchangesWithoutSwap?.({ params }) === true)
        .map(({ leg }) => ({ key: leg.key, amount: 0, makers: [maker] }));
    });
  }

  private sumTraded(swaps: readonly PricedSwap[]): MarketBlock['traded'] {
    const sums = new Map<LegKey, { key: LegKey; amount: number; makers: (Hex | null)[] }>();
    for (const { pair, leg, amount1, maker } of swaps) {
      const info = this.pools.get(pair)?.legs.find((candidate) => candidate.leg.number === leg);
      if (info === undefined) continue;
      const decimals = this.decimalsOf(info.leg.token1);
      if (decimals === null) continue;
      const amount = wholeTokens(amount1 < 0n ? -amount1 : amount1, decimals);
      const { key } = info.leg;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { key, amount, makers: [maker] });
      else {
        sum.amount += amount;
        sum.makers.push(maker);
      }
    }
    return [...sums.values()];
  }
}

function groupByPair<Row extends { readonly pair: Hex }>(rows: readonly Row[]): Map<Hex, Row[]> {
  const groups = new Map<Hex, Row[]>();
  for (const row of rows) {
    const samePair = groups.get(row.pair);
    if (samePair === undefined) groups.set(row.pair, [row]);
    else samePair.push(row);
  }
  return groups;
}

/**
 * Finds the event that caused each state of a pool. A Sync comes right before its Swap, Mint or Burn, so a swap
 * that follows a Sync caused the state of this Sync. Any other state has the kind of its event.
 */
function causesOf(states: readonly LoggedState[], swaps: readonly PricedSwap[]): LegStep['cause'][] {
  let swapIndex = 0;
  return states.map(({ ord, kind, pool_type }, i) => {
    if (kind !== 'sync') return kind === 'swap' ? 'swap' : 'other';
    const nextOrd = states[i + 1]?.ord ?? Infinity;
    while (swapIndex < swaps.length && (swaps[swapIndex]?.ord ?? 0) < ord) swapIndex += 1;
    if (swapIndex >= swaps.length || (swaps[swapIndex]?.ord ?? 0) >= nextOrd) return 'other';
    // A donation within a swap shows only in x·y = k: its product of the reserves does not grow otherwise.
    return shapeOf(pool_type).price === 'reserves' ? 'reserve_swap' : 'swap';
  });
}
