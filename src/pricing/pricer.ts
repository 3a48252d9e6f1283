/**
 * Computes prices block by block: routes once per epoch, and prices of the tokens whose pools a block changed. A pure
 * state machine: the same blocks in the same order give results with identical bits, also after a restart (`load`)
 * or a reorg (`rewindTo`).
 */
import type { Hex } from '../domain/hex';
import type { UsdPrice } from './confidence';
import type { PricerConfig } from './pricerConfig';
import { addMakers, closeEpoch, epochOf, epochStart, matureAge, type LegRecord } from './epoch';
import { findEpochRoutes } from './routes/findEpochRoutes';
import { followSteps, type LegStep } from './holds';
import { NO_STATE, type Leg, type LegKey } from './leg';
import type { IndexedLeg, IndexedToken, RoutedTokens } from './indexedToken';
import { PoolIndex } from './poolIndex';
import { ceilingsOf, hopNow, legPrice, type CurrentHop, type Market } from './market';
import {
  recordOfFound,
  type HopChange,
  type LegHold,
  type MarketBlock,
  type PriceChanges,
} from './priceBlock';
import {
  HOPS_MAX,
  isAnchorRoute,
  isRouted,
  noRoute,
  sameHop,
  type PriceRoute,
  type TokenHop,
  priceOfPath,
} from './priceRoute';
import { findRecentRoutes } from './routes/recentRoutes';

/** Number of epochs between two searches for legs that did not move for 30 days. */
const DORMANCY_EPOCHS = 16;
/**
 * Largest distance of a leg's price in a hop from its spot price, as ln. Beyond this distance, the hop does not use the
 * spot price.
 */
const SPOT_LOG_MAX = 0.05;

type Routes = Map<IndexedToken, PriceRoute<IndexedLeg>>;

export class Pricer {
  private index = new PoolIndex();
  /** Prices as of the block last applied. */
  private readonly prices = new Map<IndexedToken, UsdPrice | null>();
  /** Hops of the running epoch that no change outdated. */
  private readonly hops = new Map<IndexedToken, CurrentHop>();
  /** The current state of the legs, for pricing hops. */
  private readonly market: Market<IndexedLeg>;
  /**
   * The anchors and the wrapped native token. The peg check compares prices in the pools between these
   * tokens.
   */
  private readonly pegged: ReadonlySet<Hex>;
  private pegLegs: IndexedLeg[] = [];

  constructor(private readonly config: PricerConfig) {
    const pegged = new Set(config.anchors.map(({ address }) => address));
    this.pegged = config.wrappedNative === null ? pegged : pegged.add(config.wrappedNative);
    const epochTime = (): number => this.index.progress.epochTime;
    this.market = {
      stateOf: ({ state }) => state,
      recordOf: ({ record }) => record,
      tradedIn: ({ moves }) => moves?.traded ?? 0,
      unswappedIn: (leg) => this.index.unswappedOf(leg),
      ceilingOf: ceilingsOf(config.anchors),
      get epochTime() {
        return epochTime();
      },
    };
  }

  clear(): void {
    this.index = new PoolIndex();
    this.pegLegs = [];
    this.forgetPrices();
  }

  /**
   * Loads the state at the end of `block`, which is the last block of an epoch or the block before the first ingested
   * one. `legs` has all legs up to `block`. `records` has the newest record of each leg as of the next block.
   */
  load(
    block: { readonly number: number; readonly timestamp: number },
    legs: readonly { readonly leg: Leg; readonly older: boolean }[],
    records: readonly LegRecord[],
  ): void {
    this.clear();
    const { index } = this;
    for (const { leg, older } of legs) this.addLeg(leg, older);
    for (const record of records) index.loadRecord(record);
    index.setProgress({ ...index.progress, block: block.number, time: block.timestamp, ingested: true });
  }

  /** Loads the routes and hops in force before the next block. */
  loadHops(routes: readonly PriceRoute[], hops: readonly (readonly [Hex, TokenHop])[]): void {
    const { index } = this;
    for (const route of routes) {
      const token = index.tokenOf(route.token);
      const pools = route.pools.flatMap(({ leg: { key }, weight }) => {
        const leg = index.findLeg(key);
        return leg === undefined ? [] : [{ leg, weight }];
      });
      index.setRoute(token, { ...route, pools });
      // The store does not say which tokens have a pool away from its mean. So every loaded token is treated as one.
      index.setWatched(token, true);
    }
    for (const [token, hop] of hops) index.setHop(index.tokenOf(token), hop);
  }

  /** Applies the next block. A reversible block can be undone until `finalise`. */
  apply(block: MarketBlock, reversible: boolean): PriceChanges {
    const { journal } = this.index;
    if (reversible) journal.open(block.number);
    else journal.finaliseAll();
    return this.step(block);
  }

  /** Price at the end of the block last applied; null if the token has none. */
  priceOf(token: Hex): UsdPrice | null {
    const indexedToken = this.index.findToken(token);
    return indexedToken === undefined ? null : this.priceNow(indexedToken);
  }

  /**
   * Whether the price of `token` after the last applied block uses the leg, with a price within 5 % of the leg's spot
   * price. False for a leg that the price excludes or uses with its mean. Always false for an anchor.
   */
  usesSpotPriceOf(token: Hex, key: LegKey): boolean {
    const indexedToken = this.index.findToken(token);
    const leg = this.index.findLeg(key);
    if (leg === undefined || indexedToken === undefined || indexedToken.route === null) return false;
    const pool = this.hopOf(indexedToken, indexedToken.route).pools.find((hopPool) => hopPool.key === key);
    if (pool === undefined) return false;
    const spot = legPrice(indexedToken.route, leg, leg.state.price, this.index.progress.anchors);
    return Math.abs(Math.log(pool.price / spot)) <= SPOT_LOG_MAX;
  }

  /** Highest price of a configured anchor, USD per whole token; Infinity for other tokens. */
  ceilingOf(token: Hex): number {
    return this.market.ceilingOf(token);
  }

  /** Whether the token is an anchor that has its role. */
  isAnchor(token: Hex): boolean {
    return this.index.progress.anchors.has(token);
  }

  routeOf(token: Hex): PriceRoute | undefined {
    return this.index.findToken(token)?.route ?? undefined;
  }

  /** Undoes every reversible block above `number`. */
  rewindTo(number: number): void {
    const { index } = this;
    index.journal.rewindTo(number);
    this.pegLegs = this.pegLegs.filter((leg) => index.findLeg(leg.key) === leg);
    this.forgetPrices();
    if (index.progress.block > number)
      throw new RangeError(`prices cannot be rewound to block ${number}, because later blocks are final`);
  }

  /** Blocks up to `number` become final and can no longer be undone. */
  finalise(number: number): void {
    this.index.journal.finalise(number);
  }

  private step(block: MarketBlock): PriceChanges {
    const { index } = this;
    const touched = new Set<IndexedToken>();
    const routes: Routes = new Map();
    const records = this.openEpoch(block, routes);
    for (const { leg, older } of block.legs) this.addLeg(leg, older);
    const adopted = this.adopt(block, touched, routes);
    const holds: LegHold[] = [];
    for (const { key, steps } of block.moves) this.move(block, index.findLeg(key), steps, touched, holds);
    for (const trade of block.traded) this.trade(block, index.findLeg(trade.key), trade, touched);
    index.setProgress({ ...index.progress, block: block.number, time: block.timestamp, ingested: true });
    this.prices.clear();
    this.routeRecent(block, touched, routes);
    for (const [token, route] of routes) {
      this.setRoute(token, route);
      touched.add(token);
    }
    if (records !== null) this.touchMeans(records, touched);
    this.prices.clear();
    return {
      records: [...(records ?? []), ...adopted],
      routes: [...routes.values()],
      hops: this.changedHops(touched),
      holds,
    };
  }

  private addLeg(leg: Leg, older: boolean): void {
    const entry = this.index.addLeg(leg, older);
    if (entry === null || entry.isVault) return;
    if (this.pegged.has(leg.token0) && this.pegged.has(leg.token1)) this.pegLegs.push(entry);
  }

  private setRoute(token: IndexedToken, route: PriceRoute<IndexedLeg>): void {
    this.index.setRoute(token, route);
    this.hops.delete(token);
  }

  /** The leg changed, so tokens whose route uses the leg have a new hop, and tokens without a route may get one. */
  private touch(leg: IndexedLeg, touched: Set<IndexedToken>): void {
    for (const token of [leg.first, leg.second]) {
      const isUsed = token.route?.pools.some((pool) => pool.leg === leg) === true;
      if (isUsed) this.hops.delete(token);
      if (isUsed || !isRouted(token.route)) touched.add(token);
    }
  }

  private forgetPrices(): void {
    this.prices.clear();
    this.hops.clear();
  }

  /** On the first block of an epoch: closes the previous epoch and finds the new routes. Otherwise returns null. */
  private openEpoch(block: MarketBlock, routes: Routes): readonly LegRecord[] | null {
    const { index } = this;
    const { progress } = index;
    const epoch = epochOf(block.number);
    if (progress.epoch === epoch) return null;
    const span = { firstBlock: progress.epochFirst, lastBlock: progress.block, lastTime: progress.time };
    const records = index.closeEpoch((recordBefore, moves) => closeEpoch(recordBefore, moves, span));
    const epochFirst = progress.ingested ? epochStart(block.number) : block.number;
    const epochTime = progress.epoch === null && !progress.ingested ? block.timestamp : progress.time;
    // Legs from the store may not have moved for years, so dormant legs are dropped in the first epoch too.
    if (progress.epoch === null || epoch % DORMANCY_EPOCHS === 0) index.dropDormant(epochTime);
    index.setProgress({ ...progress, epoch, epochFirst, epochTime });
    this.hops.clear();
    const routed = this.findRoutes(block.number, routes);
    for (const token of index.routed)
      if (routed.get(token) === undefined) routes.set(token, noRoute(token.address));
    return records;
  }

  /**
   * Finds routes from the records of all legs, and adds each route that differs from the token's present route to
   * `routes`.
   */
  private findRoutes(block: number, routes: Routes): RoutedTokens {
    const { index, config } = this;
    const { anchors, routed, changed } = findEpochRoutes({
      ...config,
      matureAge: matureAge(config.blockSeconds),
      anchorsBefore: index.progress.anchors,
      depths: index.depths,
      block,
      time: index.progress.epochTime,
      tokenOf: ({ address }) => index.tokenOf(address),
      legsOf: (anchor) => this.pegLegs.filter(({ token0, token1 }) => token0 === anchor || token1 === anchor),
    });
    index.setProgress({ ...index.progress, anchors });
    for (const [token, route] of changed) routes.set(token, route);
    return routed;
  }

  /**
   * Takes over legs that were quiet since before the first block. Their state needs no epoch to be confirmed, so the
   * tokens get their routes at once.
   */
  private adopt(
    { number, found = [] }: MarketBlock,
    touched: Set<IndexedToken>,
    routes: Routes,
  ): LegRecord[] {
    const { index } = this;
    const records = found.flatMap((item) => {
      const leg = index.findLeg(item.key);
      if (leg === undefined) return [];
      this.touch(leg, touched);
      const record = recordOfFound(leg, item, index.progress.epochTime);
      index.adopt(leg, record);
      return [record];
    });
    if (records.length > 0) {
      this.findRoutes(number, routes);
      this.hops.clear();
    }
    for (const [token, route] of routes) this.setRoute(token, route);
    return records;
  }

  /**
   * A new epoch has new means. A price or a cap that was limited by a mean may therefore change without a move. The
   * limit may also end, if the mean moved towards the price within the epoch.
   */
  private touchMeans(records: readonly LegRecord[], touched: Set<IndexedToken>): void {
    for (const token of this.index.watched) touched.add(token);
    for (const { leg } of records)
      touched.add(this.index.tokenOf(leg.token0)).add(this.index.tokenOf(leg.token1));
  }

  private move(
    { number, timestamp }: MarketBlock,
    leg: IndexedLeg | undefined,
    steps: readonly LegStep[],
    touched: Set<IndexedToken>,
    holds: LegHold[],
  ): void {
    const lastStep = steps[steps.length - 1];
    if (leg === undefined || lastStep === undefined) return;
    const { state } = lastStep;
    const isReborn = !(leg.state.price > 0) && state.price > 0 && (!leg.older || leg.state !== NO_STATE);
    const unswapped = isReborn ? 0 : followSteps(this.index.unswappedOf(leg), leg.state, steps);
    const bornBlock = isReborn ? number : leg.bornBlock;
    this.index.move(leg, { block: number, time: timestamp, state }, unswapped, bornBlock);
    if (unswapped !== 0) holds.push({ key: leg.key, unswapped });
    this.touch(leg, touched);
  }

  /** A trade without a move (a swap that stores no state) may confirm a price that is far from its mean. */
  private trade(
    block: MarketBlock,
    leg: IndexedLeg | undefined,
    { amount, makers }: MarketBlock['traded'][number],
    touched: Set<IndexedToken>,
  ): void {
    if (leg === undefined) return;
    if (leg.moves === null) this.move(block, leg, [{ state: leg.state, cause: 'swap' }], touched, []);
    this.touch(leg, touched);
    this.index.trade(leg, amount, addMakers(leg.makers, makers));
  }

  /**
   * Gives tokens without a route a route within the epoch, if a touched leg connects them to a token with a price.
   */
  private routeRecent(block: MarketBlock, touched: ReadonlySet<IndexedToken>, routes: Routes): void {
    const { anchors } = this.index.progress;
    const context = {
      ...{ market: this.market, anchors, matureAge: matureAge(this.config.blockSeconds) },
      priceOf: (token: IndexedToken) => this.priceNow(token),
    };
    for (const [token, route] of findRecentRoutes(touched, block, context)) routes.set(token, route);
  }

  private hopOf(token: IndexedToken, route: PriceRoute<IndexedLeg>): CurrentHop {
    const cached = this.hops.get(token);
    if (cached !== undefined) return cached;
    const hop = hopNow(route, this.market, this.index.progress.anchors);
    this.hops.set(token, hop);
    return hop;
  }

  private priceNow(token: IndexedToken): UsdPrice | null {
    const cached = this.prices.get(token);
    if (cached !== undefined) return cached;
    const price = this.computePrice(token);
    this.prices.set(token, price);
    return price;
  }

  private computePrice(token: IndexedToken): UsdPrice | null {
    const path: TokenHop[] = [];
    let current: IndexedToken | undefined = token;
    for (let step = 0; step <= HOPS_MAX && current !== undefined; step += 1) {
      const { route }: IndexedToken = current;
      if (route === null || !isRouted(route)) return null;
      path.push(this.hopOf(current, route).hop);
      if (isAnchorRoute(route)) return priceOfPath(path);
      current = this.index.findToken(route.next);
    }
    return null;
  }

  /** Changed hops of the touched tokens, in token order. */
  private changedHops(touched: ReadonlySet<IndexedToken>): HopChange[] {
    const { index } = this;
    const changes: HopChange[] = [];
    for (const token of [...touched].sort(byAddress)) {
      if (token.route === null) continue;
      const { hop: hopNow, mayChangeAtEpoch } = this.hopOf(token, token.route);
      index.setWatched(token, mayChangeAtEpoch);
      const hopBefore = token.hop ?? undefined;
      if (hopBefore !== undefined && sameHop(hopBefore, hopNow)) continue;
      if (hopBefore === undefined && !(hopNow.price > 0)) continue;
      index.setHop(token, hopNow);
      changes.push({ token: token.address, before: hopBefore, after: hopNow, price: this.priceNow(token) });
    }
    return changes;
  }
}

function byAddress(a: IndexedToken, b: IndexedToken): number {
  return a.address < b.address ? -1 : 1;
}
