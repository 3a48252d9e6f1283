/** The pricer's data about legs and tokens, and what a route search notes of them. PoolIndex makes and changes them. */
import type { Hex } from '../domain/hex';
import type { LegMakers, LegMove, LegMoves, LegRecord } from './epoch';
import type { Leg, LegState } from './leg';
import type { AnchorPrices } from './market';
import type { PriceRoute, RoutePool, TokenHop } from './priceRoute';

export interface IndexedToken {
  readonly address: Hex;
  /** The first digits of the address, as a number. */
  readonly rank: number;
  readonly legs: IndexedLeg[];
  /** Legs of the token that moved within 30 days, in no order. May also contain some legs that did not. */
  live: IndexedLeg[];
  /** The token's route; null if it never had one. */
  route: PriceRoute<IndexedLeg> | null;
  /** The newest hop of the token. */
  hop: TokenHop | null;
  /** The newest search that found a route of the token, and what it found. */
  search: RoutedTokens | null;
  found: RoutedToken | null;
  /** Whether all of `live` lead to one other token, so that no other token can be priced through this one. */
  isLeaf: boolean;
  /** While a search runs: the groups of pools that could price this token, which has no route yet. */
  groups: Group[] | null;
  /** The price that a search computed over a group of pools. Null as soon as a leg of the token has a new record. */
  groupPrice: GroupPrice | null;
}

export interface IndexedLeg extends Leg {
  /** Number of the leg in the order of creation. */
  readonly id: number;
  /** The tokens of token0 and token1. */
  readonly first: IndexedToken;
  readonly second: IndexedToken;
  /** Whether the pool existed before the first ingested block. */
  readonly older: boolean;
  state: LegState;
  /** The newest record; undefined if the leg first moved within the running epoch. */
  record: LegRecord | undefined;
  /** Moves in the running epoch; null without a move. */
  moves: Moves | null;
  /** Whether the lists `live` of its tokens have the leg. */
  isLive: boolean;
  makers: LegMakers;
  /** Block in which the leg first had a price, or had one again after it had none. */
  bornBlock: number;
}

export interface Moves extends Omit<LegMoves, 'makers' | 'bornBlock'> {
  readonly blocks: LegMove[];
  /** Whole token1 traded. */
  traded: number;
  /** The part of ln(price) that came without a swap. */
  unswapped: number;
}

/** The other token of a leg of this token. */
export function otherToken(leg: IndexedLeg, token: IndexedToken): IndexedToken {
  return leg.first === token ? leg.second : leg.first;
}

/** A pool as part of a route that a search tries. */
export interface GroupPool extends RoutePool<IndexedLeg> {
  /** USD value of the known side. */
  readonly backingUsd: number;
  /** Seconds since the leg last moved. */
  readonly ageSeconds: number;
}

/** Key of the group of all anchors: pools with any anchor make one hop together. */
export const ALL_ANCHORS = 'anchors';

/** Pools of one unrouted token with one routed neighbour, or with all anchors. */
export interface Group {
  readonly token: IndexedToken;
  readonly neighbour: Hex | typeof ALL_ANCHORS;
  readonly hops: number;
  /** Depth of the hop with the least depth from the neighbour to the anchor. */
  readonly depthBeyond: number;
  /** Sum over the pools. NaN while pools are added. */
  depth: number;
  /** Sorted by key, unless pools are being added. */
  readonly pools: GroupPool[];
}

/** The price of a token in the next token over a group of pools. */
export interface GroupPrice {
  readonly next: Hex;
  readonly pools: readonly RoutePool<IndexedLeg>[];
  /** The leg of a single pool; null for several pools. */
  readonly onlyLeg: IndexedLeg | null;
  readonly anchors: AnchorPrices;
  /** Whole next tokens per whole token; 0 if no pool has a price. */
  readonly price: number;
  /** Part of each pool in the price, 0–1; null for a pool that the price excludes. */
  readonly shares: readonly (number | null)[];
  /** Deviation of the prices of the pools (HopPrice). */
  readonly deviation: number;
}

/** A token with a price. */
export interface RoutedToken {
  /** USD per whole token. */
  readonly usd: number;
  /** Number of hops to the anchor; 0 for an anchor. */
  readonly hops: number;
  /** Depth in USD of the hop with the least depth on the way to the anchor. Infinity for an anchor. */
  readonly depthUsd: number;
  /** The token in which this token is priced; null for an anchor. */
  readonly next: IndexedToken | null;
  /** Sorted by key. Empty for an anchor. */
  readonly pools: readonly GroupPool[];
  /** Null for an anchor. */
  readonly price: GroupPrice | null;
  /** Whether no epoch confirmed the pools. */
  readonly recent: boolean;
}

/**
 * The tokens that a search found. Each token holds its own result, so finding it needs no map. The results of a search
 * are gone when the next search sets its own.
 */
export class RoutedTokens {
  readonly tokens: IndexedToken[] = [];

  get(token: IndexedToken): RoutedToken | undefined {
    return token.search === this && token.found !== null ? token.found : undefined;
  }

  set(token: IndexedToken, found: RoutedToken): void {
    if (token.search !== this) this.tokens.push(token);
    token.search = this;
    token.found = found;
  }
}
