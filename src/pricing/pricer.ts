/**
 * Prices of a chain as it grows, block by block: routes once per epoch, prices of the tokens whose pools a block touched.
 * A pure state machine over its inputs: the same blocks in the same order give the same bits, wherever it was restarted
 * (`load`) and whatever was taken back in between (`rewindTo`).
 */
import type { Hex } from '../domain/hex';
import { pathConfidence } from './confidence';
import { closeEpoch, epochOf, epochStart, type LegRecord } from './epoch';
import { findRoutes } from './findRoutes';
import { NO_STATE, type Leg, type LegKey, type LegState } from './leg';
import { LiveLegs } from './liveLegs';
import { priceRouteHop, type Market } from './market';
import { addLeg, copyState, emptyState, restoreState, setRoute, type PricerState } from './pricerState';
import {
  HOPS_MAX,
  isAnchorRoute,
  noRoute,
  sameHop,
  sameRoute,
  type PriceAnchor,
  type Route,
  type TokenHop,
} from './route';
import { settle, type Edge, type LegWeight, type Settled, type SettleInput } from './settle';

export interface PricerConfig {
  readonly anchors: readonly PriceAnchor[];
  readonly wrappedNative: Hex | null;
}

/** What one block did to the pools, in whole tokens. */
export interface MarketBlock {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Legs seen for the first time. `older`: their pool was made before the first ingested block. */
  readonly legs: readonly { readonly leg: Leg; readonly older: boolean }[];
  /** State of each leg that moved, at the end of the block. */
  readonly moves: readonly { readonly key: LegKey; readonly state: LegState }[];
  /** Whole token1 traded per leg. */
  readonly traded: readonly { readonly key: LegKey; readonly amount: number }[];
}

export interface TokenPrice {
  /** USD per whole token, > 0. */
  readonly usd: number;
  /** Trust, 0–1. */
  readonly confidence: number;
}

export interface HopChange {
  readonly token: Hex;
  readonly before: TokenHop | undefined;
  readonly after: TokenHop;
  readonly price: TokenPrice | null;
}

/** What a block changed. */
export interface PriceChanges {
  /** Of the epoch that ended before this block. */
  readonly records: readonly LegRecord[];
  readonly routes: readonly Route[];
  readonly hops: readonly HopChange[];
}

interface Snapshot {
  /** The block after which it was taken. */
  readonly block: number;
  readonly state: PricerState;
  /** Blocks applied since. */
  readonly blocks: MarketBlock[];
}

export class Pricer {
  private state: PricerState = emptyState();
  /** Of the state's records. */
  private live = new LiveLegs();
  private readonly snapshots: Snapshot[] = [];
  private prices = new Map<Hex, TokenPrice | null>();
  /** The state of now, as hops are priced by it. */
  private readonly market: Market;
  /** Tokens by whose pools with each other anchors are compared. */
  private readonly pegged: ReadonlySet<Hex>;
  private pegLegs: Leg[] = [];

  constructor(private readonly config: PricerConfig) {
    const pegged = new Set(config.anchors.map(({ address }) => address));
    this.pegged = config.wrappedNative === null ? pegged : pegged.add(config.wrappedNative);
    const now = (): PricerState => this.state;
    this.market = {
      stateOf: (key) => now().states.get(key) ?? NO_STATE,
      recordOf: (key) => now().records.get(key),
      tradedIn: (key) => now().moves.get(key)?.traded ?? 0,
      get epochTime() {
        return now().epochTime;
      },
    };
  }

  /** Forgets everything. */
  clear(): void {
    this.state = emptyState();
    this.live = new LiveLegs();
    this.pegLegs = [];
    this.snapshots.length = 0;
    this.prices.clear();
  }

  /**
   * Takes up what the store knows at the end of `block`, the last one of an epoch or the one before the first ingested:
   * every leg of an earlier block, and its newest record as of the block after.
   */
  load(
    block: { readonly number: number; readonly timestamp: number },
    legs: readonly { readonly leg: Leg; readonly older: boolean }[],
    records: readonly LegRecord[],
  ): void {
    this.clear();
    for (const { leg, older } of legs) this.addLeg(leg, older);
    for (const record of records) {
      this.state.records.set(record.leg.key, record);
      this.state.states.set(record.leg.key, record.state);
      this.live.note(record);
    }
    this.state.block = block.number;
    this.state.time = block.timestamp;
    this.state.ingested = true;
  }

  /** The routes and hops that hold before the next block, read back from the store. */
  loadHops(routes: readonly Route[], hops: readonly (readonly [Hex, TokenHop])[]): void {
    for (const route of routes) {
      setRoute(this.state, route);
      // Which of them have to be looked at again is not known: all.
      this.state.watched.add(route.token);
    }
    for (const [token, hop] of hops) this.state.hops.set(token, hop);
  }

  /** Applies the next block. A reversible one can be taken back until it is settled. */
  apply(block: MarketBlock, reversible: boolean): PriceChanges {
    if (reversible) this.remember(block);
    else this.snapshots.length = 0;
    return this.step(block);
  }

  /** Price at the end of the block last applied; null: none. */
  priceOf(token: Hex): TokenPrice | null {
    const known = this.prices.get(token);
    if (known !== undefined) return known;
    const price = this.computePrice(token);
    this.prices.set(token, price);
    return price;
  }

  routeOf(token: Hex): Route | undefined {
    return this.state.routes.get(token);
  }

  /** Takes back every reversible block above `number`. */
  rewindTo(number: number): void {
    if (this.state.block <= number) return;
    let snapshot = this.snapshots.pop();
    while (snapshot !== undefined && snapshot.block > number) snapshot = this.snapshots.pop();
    if (snapshot === undefined) throw new RangeError(`prices cannot go back to block ${number}`);
    const again = snapshot.blocks.filter((block) => block.number <= number);
    this.state = restoreState(snapshot.state);
    this.live = new LiveLegs(this.state.records.values());
    this.pegLegs = this.pegLegs.filter(({ key }) => this.state.legs.has(key));
    this.prices.clear();
    if (again.length === 0) return;
    this.snapshots.push({ block: snapshot.block, state: copyState(this.state), blocks: again });
    for (const block of again) this.step(block);
  }

  /** Forgets how to take back blocks up to `number`: they are final. */
  settle(number: number): void {
    while ((this.snapshots[1]?.block ?? Infinity) <= number) this.snapshots.shift();
  }

  private remember(block: MarketBlock): void {
    const newest = this.snapshots[this.snapshots.length - 1];
    if (newest === undefined || epochOf(block.number) !== epochOf(this.state.block)) {
      this.snapshots.push({ block: this.state.block, state: copyState(this.state), blocks: [block] });
    } else newest.blocks.push(block);
  }

  private addLeg(leg: Leg, older: boolean): void {
    const known = this.state.legs.has(leg.key);
    addLeg(this.state, leg, older);
    if (!known && this.pegged.has(leg.token0) && this.pegged.has(leg.token1)) this.pegLegs.push(leg);
  }

  private step(block: MarketBlock): PriceChanges {
    const { state } = this;
    const touched = new Set<Hex>();
    const routes = new Map<Hex, Route>();
    const records = this.openEpoch(block, routes);
    for (const { leg, older } of block.legs) this.addLeg(leg, older);
    for (const { key, state: after } of block.moves) this.move(block, key, after, touched);
    for (const { key, amount } of block.traded) this.trade(block, key, amount, touched);
    state.block = block.number;
    state.time = block.timestamp;
    state.ingested = true;
    this.prices.clear();
    this.settleRecent(block, touched, routes);
    for (const [token, route] of routes) {
      setRoute(state, route);
      touched.add(token);
    }
    if (records !== null) this.touchMeans(records, touched);
    this.prices.clear();
    return { records: records ?? [], routes: [...routes.values()], hops: this.changedHops(touched) };
  }

  /** On the first block of an epoch: what the one before was, and the routes that follow from it. Else null. */
  private openEpoch(block: MarketBlock, routes: Map<Hex, Route>): readonly LegRecord[] | null {
    const { state, config } = this;
    const epoch = epochOf(block.number);
    if (state.epoch === epoch) return null;
    const records = this.closeRunning();
    const first = state.epoch === null && !state.ingested;
    state.epoch = epoch;
    state.epochFirst = state.ingested ? epochStart(block.number) : block.number;
    state.epochTime = first ? block.timestamp : state.time;
    this.live.dropDormant(state.epochTime);
    const found = findRoutes({
      ...config,
      epoch,
      time: state.epochTime,
      legsOf: (anchor) => this.pegLegs.filter(({ token0, token1 }) => token0 === anchor || token1 === anchor),
      recordOf: (key) => state.records.get(key),
      liveOf: (token) => this.live.of(token),
    });
    state.anchors = found.anchors;
    for (const [token, { route }] of found.settled) {
      const known = state.routes.get(token);
      if (known === undefined || !sameRoute(known, route)) routes.set(token, route);
    }
    for (const token of state.routed) {
      if (!found.settled.has(token)) routes.set(token, noRoute(token));
    }
    for (const route of routes.values()) setRoute(state, route);
    return records;
  }

  /**
   * A new epoch has new means: what is held to one may change without a move, and so may what was not, where the leg's
   * mean came closer to what its price was inside the epoch.
   */
  private touchMeans(records: readonly LegRecord[], touched: Set<Hex>): void {
    for (const token of this.state.watched) touched.add(token);
    for (const { leg } of records) touched.add(leg.token0).add(leg.token1);
  }

  private closeRunning(): readonly LegRecord[] {
    const { state } = this;
    const span = { firstBlock: state.epochFirst, lastBlock: state.block, lastTime: state.time };
    const records: LegRecord[] = [];
    for (const [key, moves] of state.moves) {
      const record = closeEpoch(state.records.get(key), moves, span);
      state.records.set(key, record);
      this.live.note(record);
      records.push(record);
    }
    state.moves = new Map();
    return records;
  }

  private move(block: MarketBlock, key: LegKey, after: LegState, touched: Set<Hex>): void {
    const { state } = this;
    const entry = state.legs.get(key);
    if (entry === undefined) return;
    const { leg, older } = entry;
    const before = state.moves.get(key);
    const blocks = [...(before?.blocks ?? []), { block: block.number, time: block.timestamp, state: after }];
    state.moves.set(key, { leg, older, blocks, traded: before?.traded ?? 0 });
    state.states.set(key, after);
    touched.add(leg.token0).add(leg.token1);
  }

  /** A trade without a move (a swap that leaves no state behind) may be what a price far from its mean waits for. */
  private trade(block: MarketBlock, key: LegKey, amount: number, touched: Set<Hex>): void {
    const { state } = this;
    const entry = state.legs.get(key);
    if (entry === undefined) return;
    if (!state.moves.has(key)) this.move(block, key, state.states.get(key) ?? NO_STATE, touched);
    touched.add(entry.leg.token0).add(entry.leg.token1);
    const moves = state.moves.get(key);
    if (moves !== undefined) state.moves.set(key, { ...moves, traded: moves.traded + amount });
  }

  /** Tokens of touched legs that have no route get one at once where the other side has a price. */
  private settleRecent(block: MarketBlock, touched: ReadonlySet<Hex>, routes: Map<Hex, Route>): void {
    const { state } = this;
    const waiting = [...touched].filter((token) => !this.hasRoute(token));
    if (waiting.length === 0) return;
    const legs = waiting.flatMap((token) => state.legsOf.get(token) ?? []);
    const settled = new Map<Hex, Settled>();
    const known = (token: Hex): void => {
      if (settled.has(token) || !this.hasRoute(token)) return;
      const route = state.routes.get(token);
      const price = this.priceOf(token);
      if (route !== undefined && price !== null) settled.set(token, { route, usd: price.usd });
    };
    for (const { token0, token1 } of legs) {
      known(token0);
      known(token1);
    }
    if (settled.size === 0) return;
    const before = new Set(settled.keys());
    const input: SettleInput<Edge> = {
      market: this.market,
      anchors: state.anchors,
      recent: true,
      // A token that has a route keeps it: only legs on to tokens without one are followed.
      edgesOf: (token) => this.unroutedLegs(token).map((leg) => ({ leg })),
      weigh: ({ leg }) => this.weighNow(leg, block.timestamp),
    };
    settle(
      input,
      settled,
      legs.map((leg) => ({ leg })),
    );
    for (const [token, { route }] of settled) if (!before.has(token)) routes.set(token, route);
  }

  /** Legs of the token whose other token has no route. */
  private unroutedLegs(token: Hex): readonly Leg[] {
    const legs = this.state.legsOf.get(token) ?? [];
    return legs.filter((leg) => !this.hasRoute(leg.token0 === token ? leg.token1 : leg.token0));
  }

  private hasRoute(token: Hex): boolean {
    return this.state.routed.has(token);
  }

  private weighNow(leg: Leg, time: number): LegWeight | null {
    const { state } = this;
    const now = state.states.get(leg.key);
    if (now === undefined || !(now.price > 0) || !(now.liquidity > 0)) return null;
    const moved = state.moves.has(leg.key) ? time : (state.records.get(leg.key)?.movedAt ?? time);
    return { state: now, liquidity: now.liquidity, age: time - moved };
  }

  private hopOf(route: Route): TokenHop {
    const { anchors } = this.state;
    if (isAnchorRoute(route)) {
      return { next: route.next, price: anchors.get(route.token) ?? 0, confidence: route.confidence };
    }
    if (route.hops === 0) return { next: route.next, price: 0, confidence: 0 };
    const { price, deviates } = priceRouteHop(route, this.market, anchors);
    if (deviates) this.state.watched.add(route.token);
    return { next: route.next, price, confidence: price > 0 ? route.confidence : 0 };
  }

  private computePrice(token: Hex): TokenPrice | null {
    const path: TokenHop[] = [];
    let at = token;
    for (let step = 0; step <= HOPS_MAX; step += 1) {
      const route = this.state.routes.get(at);
      if (route === undefined || !this.hasRoute(at)) return null;
      const hop = this.hopOf(route);
      path.push(hop);
      if (isAnchorRoute(route)) return productOf(path);
      at = route.next;
    }
    return null;
  }

  /** Hops of the tokens that differ from what was last said of them, in the order of the tokens. */
  private changedHops(touched: ReadonlySet<Hex>): HopChange[] {
    const { state } = this;
    const changes: HopChange[] = [];
    for (const token of [...touched].sort()) {
      const route = state.routes.get(token);
      if (route === undefined) continue;
      const before = state.hops.get(token);
      state.watched.delete(token);
      const after = this.hopOf(route);
      if (before !== undefined && sameHop(before, after)) continue;
      if (before === undefined && !(after.price > 0)) continue;
      state.hops.set(token, after);
      changes.push({ token, before, after, price: this.priceOf(token) });
    }
    return changes;
  }
}

/** From the token to the anchor: price(T) = hop(T) · price(next). */
function productOf(path: readonly TokenHop[]): TokenPrice | null {
  let usd = 1;
  for (let i = path.length - 1; i >= 0; i -= 1)
    usd = (path[i]?.price ?? 0) * (i === path.length - 1 ? 1 : usd);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  return { usd, confidence: pathConfidence(path.slice(0, -1).map((hop) => hop.confidence)) };
}
