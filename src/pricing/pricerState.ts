/** Everything a pricer remembers between blocks. Values in the maps are not changed in place, so a copy is cheap. */
import type { Hex } from '../domain/hex';
import type { LegMoves, LegRecord } from './epoch';
import type { Leg, LegKey, LegState } from './leg';
import type { AnchorPrices } from './market';
import { isAnchorRoute, type Route, type TokenHop } from './route';

export interface PricerState {
  /** The block last applied. */
  block: number;
  /** Its time, unix seconds. */
  time: number;
  /** Whether any block was ever applied: before, the epoch is only partly known. */
  ingested: boolean;
  /** The running epoch; null before the first block. */
  epoch: number | null;
  /** First block of it that was ingested. */
  epochFirst: number;
  /** Time of the last block before it. */
  epochTime: number;
  anchors: AnchorPrices;
  legs: Map<LegKey, { readonly leg: Leg; readonly older: boolean }>;
  legsOf: Map<Hex, Leg[]>;
  states: Map<LegKey, LegState>;
  records: Map<LegKey, LegRecord>;
  /** Of the running epoch. */
  moves: Map<LegKey, LegMoves>;
  /** Of every token that ever had one: set by setRoute. */
  routes: Map<Hex, Route>;
  /** Tokens of them that have one now. */
  routed: Set<Hex>;
  /** What was last said of each token. */
  hops: Map<Hex, TokenHop>;
  /** Tokens with a pool away from its mean: a new epoch may change their hop without a move. */
  watched: Set<Hex>;
}

export function emptyState(): PricerState {
  return {
    block: -1,
    time: 0,
    ingested: false,
    epoch: null,
    epochFirst: 0,
    epochTime: 0,
    anchors: new Map(),
    legs: new Map(),
    legsOf: new Map(),
    states: new Map(),
    records: new Map(),
    moves: new Map(),
    routes: new Map(),
    routed: new Set(),
    hops: new Map(),
    watched: new Set(),
  };
}

/** A copy to go back to. The index of legs by token is left out: it grows in place and is made again (restoreState). */
export function copyState(state: PricerState): PricerState {
  return {
    ...state,
    legs: new Map(state.legs),
    legsOf: new Map(),
    states: new Map(state.states),
    records: new Map(state.records),
    moves: new Map(state.moves),
    routes: new Map(state.routes),
    routed: new Set(state.routed),
    hops: new Map(state.hops),
    watched: new Set(state.watched),
  };
}

/** A copy in force again. */
export function restoreState(copy: PricerState): PricerState {
  const state = { ...copy, legs: new Map(), legsOf: new Map() };
  for (const { leg, older } of copy.legs.values()) addLeg(state, leg, older);
  return state;
}

export function addLeg(state: PricerState, leg: Leg, older: boolean): void {
  if (state.legs.has(leg.key)) return;
  state.legs.set(leg.key, { leg, older });
  for (const token of [leg.token0, leg.token1]) {
    const known = state.legsOf.get(token);
    if (known === undefined) state.legsOf.set(token, [leg]);
    else known.push(leg);
  }
}

/** The token's route is this one from now on, or, by noRoute, it has none any more. */
export function setRoute(state: PricerState, route: Route): void {
  state.routes.set(route.token, route);
  if (route.hops > 0 || isAnchorRoute(route)) state.routed.add(route.token);
  else state.routed.delete(route.token);
}
