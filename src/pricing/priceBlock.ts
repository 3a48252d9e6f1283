/** The input of the pricer for one block, and its result. */
import type { Hex } from '../domain/hex';
import type { UsdPrice } from './confidence';
import { BORN_BEFORE, type LegRecord } from './epoch';
import type { LegStep } from './holds';
import type { Leg, LegKey, LegState } from './leg';
import type { PriceRoute, TokenHop } from './priceRoute';

/** A leg that did not move since before the first ingested block. */
export interface FoundLeg {
  readonly key: LegKey;
  readonly state: LegState;
  /** Time of the leg's last move, unix seconds. */
  readonly movedAt: number;
}

/**
 * Makes an epoch record of a leg that has been quiet since `movedAt`: its means equal its state.
 * `epochTime` is the end of the last epoch.
 */
export function recordOfFound(leg: Leg, { state, movedAt }: FoundLeg, epochTime: number): LegRecord {
  return {
    leg,
    state,
    depthLiquidity: state.liquidity,
    depthWeight: 1,
    meanLog: state.price > 0 ? Math.log(state.price) : 0,
    traded: 0,
    at: epochTime,
    movedAt: Math.min(movedAt, epochTime),
    unswapped: 0,
    makers: [],
    bornBlock: BORN_BEFORE,
  };
}

/** The effects of one block on pools, in whole tokens. */
export interface MarketBlock {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
  /** New legs. `older`: the pool was created before the first ingested block. */
  readonly legs: readonly { readonly leg: Leg; readonly older: boolean }[];
  /** States of each moved leg, in log order. */
  readonly moves: readonly { readonly key: LegKey; readonly steps: readonly LegStep[] }[];
  /** Legs that were quiet since before the first ingested block, and that become known with this block. */
  readonly found?: readonly FoundLeg[];
  /** Whole token1 traded per leg, and the makers of the trades in log order. A maker is null if unknown. */
  readonly traded: readonly {
    readonly key: LegKey;
    readonly amount: number;
    readonly makers: readonly (Hex | null)[];
  }[];
}

/** The part of ln(price) of a leg that came without a swap. */
export interface LegHold {
  readonly key: LegKey;
  /** As in LegMoves. */
  readonly unswapped: number;
}

export interface HopChange {
  readonly token: Hex;
  readonly before: TokenHop | undefined;
  readonly after: TokenHop;
  /** Null if the token has no price now. */
  readonly price: UsdPrice | null;
}

/** Changes of one block. */
export interface PriceChanges {
  /** Records of the epoch that ended before this block. */
  readonly records: readonly LegRecord[];
  readonly routes: readonly PriceRoute[];
  readonly hops: readonly HopChange[];
  /** Held parts of the price, for legs that moved in this block and whose price changed without a swap. */
  readonly holds: readonly LegHold[];
}
