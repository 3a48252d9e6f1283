/**
 * The state of all pools at one moment, as pricing needs it: current states, records of earlier epochs, and trades
 * since the running epoch began. Derives the inputs of a route's hop.
 */
import type { Hex } from '../domain/hex';
import { remainingConfidence, UNTRUSTED_MAX, type RemainingDepth } from './confidence';
import { inCapSteps } from './cap';
import { confirmedLiquidity, knownSide } from './depth';
import { decay, heldPart, meanPrice, type LegRecord } from './epoch';
import { priceHop, type HopInput, type HopPool, type HopPrice } from './hop';
import { DEPTH_PART, type Leg, type LegKey, type LegState } from './leg';
import {
  isAnchorRoute,
  type PriceAnchor,
  type PriceRoute,
  type RoutePool,
  type TokenHop,
} from './priceRoute';

export interface Market<L extends Leg = Leg> {
  stateOf(leg: L): LegState;
  /** The newest epoch record of the leg. Undefined if the leg first moved within the running epoch. */
  recordOf(leg: L): LegRecord | undefined;
  /** Whole token1 traded since the running epoch began. */
  tradedIn(leg: L): number;
  /**
   * The part of the leg's ln(price) that came without a swap, as of the start of the running epoch or the
   * last move.
   */
  unswappedIn(leg: L): number;
  /** Highest price in USD of a configured anchor that lost its role. Infinity for other tokens. */
  ceilingOf(token: Hex): number;
  /** Time of the last block before the running epoch, unix seconds. Means are taken at this time. */
  readonly epochTime: number;
}

/**
 * Part of the depth below which a hop has a warning. It compares the depth now with the depth when the route was
 * made.
 */
const DEPTH_FELL = 0.5;

/**
 * Smallest held part of ln(price) that is not a rounding error. Mints and burns move the price of a V2 pool by a few
 * raw units.
 */
const HELD_LOG_MIN = 1e-4;

export interface RouteHop extends HopPrice {
  /** Confidence of the hop now, from its confidence when the route was made. */
  confidenceFrom(confidence: number): number;
  /** Whole next tokens that move the price of the hop by 2 %. Pools that the hop price excludes are left out. */
  depth(): number;
  /**
   * Whole next tokens that the pools of the hop can pay out together, rounded down to a sixteenth of a doubling.
   * Pools that the hop price excludes are left out.
   */
  cap(): number;
  /** Whether new epochs can change the cap without a move of a pool: the mean liquidity of its pools still grows. */
  canCapGrow(): boolean;
}

/**
 * Depth and holdings of one pool of a hop, in whole next tokens. Each is the smaller of two amounts: the amount now,
 * and the amount when the route was made.
 */
interface PoolDepth extends RemainingDepth {
  readonly key: LegKey;
  readonly depth: number;
  readonly payout: number;
  /** `payout` when the mean liquidity has reached the newest one. Infinity if a later epoch confirms the first liquidity. */
  readonly grownPayout: number;
}

/** USD per whole token, for the anchors that have their role. */
export type AnchorPrices = ReadonlyMap<Hex, number>;

/** An anchor is never valued above this multiple of its configured price. */
const ANCHOR_MAX = 1.02;

/**
 * Makes a function that returns the highest allowed USD price of a token: a multiple of an anchor's
 * configured price, and Infinity for other tokens.
 */
export function ceilingsOf(anchors: readonly PriceAnchor[]): (token: Hex) => number {
  const ceilings = new Map(anchors.map(({ address, priceUsd }) => [address, priceUsd * ANCHOR_MAX]));
  return (token) => ceilings.get(token) ?? Infinity;
}

export function anchorPrices(anchors: readonly PriceAnchor[]): AnchorPrices {
  return new Map(anchors.map(({ address, priceUsd }) => [address, priceUsd]));
}

/**
 * The price of a token in the next token of its route, both in whole tokens. If the next token is an anchor, pools with
 * other anchors are part of the hop. The given prices of the anchors convert their prices. A pool that lost depth since
 * the route was made loses weight and confidence with it, from the same block on. A hop with less depth than another
 * route had is not trusted.
 */
export function priceRouteHop<L extends Leg>(
  route: Pick<PriceRoute<L>, 'token' | 'next' | 'pools' | 'otherDepthUsd'>,
  market: Market<L>,
  anchors: AnchorPrices,
): RouteHop {
  const depths = route.pools.map((pool) => remainingDepth(route, pool, market, anchors));
  const hop = priceHop(
    route.pools.map((pool, i) => hopInput(route, pool, depths[i]?.remainingShare ?? 1, market, anchors)),
  );
  let weights = 0;
  let remainingWeight = 0;
  for (const depth of depths) {
    weights += depth.weight;
    remainingWeight += depth.weight * depth.remainingShare;
  }
  const isUnchanged = remainingWeight === weights;
  // The pools of the route lost so much depth that another route of the token is deeper, so the price is not
  // trusted.
  const isOutranked = remainingWeight < route.otherDepthUsd;
  if (isOutranked || remainingWeight < weights * DEPTH_FELL) hop.warnings.push('depth_fell');
  // Fields are listed, because a spread takes several times as long, and each block prices hundreds of hops.
  const { price, pools, excluded, warnings, deviation, deviates } = hop;
  return {
    price,
    pools,
    excluded,
    warnings,
    deviation,
    deviates,
    confidenceFrom: (confidence) => {
      const remaining = isUnchanged ? confidence : remainingConfidence(confidence, depths);
      return isOutranked ? Math.min(remaining, UNTRUSTED_MAX) : remaining;
    },
    depth: () => sumUsed(depths, hop, ({ depth }) => depth),
    cap: () => inCapSteps(sumUsed(depths, hop, ({ payout }) => payout)),
    canCapGrow: () =>
      depths.some(({ payout, grownPayout }) => payout !== grownPayout) &&
      inCapSteps(sumUsed(depths, hop, ({ payout }) => payout)) !==
        inCapSteps(sumUsed(depths, hop, ({ grownPayout }) => grownPayout)),
  };
}

export interface CurrentHop {
  readonly hop: TokenHop;
  /** Whether a new epoch may change the hop without a move of its pools: a price or liquidity differs from its mean. */
  readonly mayChangeAtEpoch: boolean;
  /** The pools that made the price. Empty for an anchor and without a price. */
  readonly pools: readonly HopPool[];
}

/** The hop of a route now. Depends only on the pools of the route, the anchors and the epoch. */
export function hopNow<L extends Leg>(
  route: PriceRoute<L>,
  market: Market<L>,
  anchors: AnchorPrices,
): CurrentHop {
  const { next } = route;
  if (isAnchorRoute(route)) {
    const hop = { next, price: anchors.get(route.token) ?? 0, confidence: route.confidence, cap: Infinity };
    return { hop, mayChangeAtEpoch: false, pools: [] };
  }
  const noHop = { next, price: 0, confidence: 0, cap: 0 };
  if (route.hops === 0) return { hop: noHop, mayChangeAtEpoch: false, pools: [] };
  const routeHop = priceRouteHop(route, market, anchors);
  const mayChangeAtEpoch = routeHop.deviates || routeHop.canCapGrow();
  if (!(routeHop.price > 0)) return { hop: noHop, mayChangeAtEpoch, pools: [] };
  const { price, pools, confidenceFrom, cap } = routeHop;
  const hop = { next, price, confidence: confidenceFrom(route.confidence), cap: cap() };
  return { hop, mayChangeAtEpoch, pools };
}

/**
 * The price of a hop when its route is made. No pool can have lost depth yet, so this is `priceRouteHop` without the
 * depths.
 */
export function priceNewHop<L extends Leg>(
  route: Pick<PriceRoute<L>, 'token' | 'next' | 'pools'>,
  market: Market<L>,
  anchors: AnchorPrices,
): HopPrice {
  return priceHop(route.pools.map((pool) => hopInput(route, pool, 1, market, anchors)));
}

/** Sums `valueOf` over the pools of a hop, without the pools that the price of the hop excludes. */
function sumUsed(
  depths: readonly PoolDepth[],
  { excluded }: HopPrice,
  valueOf: (pool: PoolDepth) => number,
): number {
  let sum = 0;
  const excludedKeys = excluded.length === 0 ? null : new Set(excluded.map(({ key }) => key));
  for (const pool of depths) if (excludedKeys === null || !excludedKeys.has(pool.key)) sum += valueOf(pool);
  return sum;
}

/** The depth of a route's pool when the routes of the epoch were made, and the part of it that is left now. */
function remainingDepth<L extends Leg>(
  route: Pick<PriceRoute, 'token' | 'next'>,
  { leg, weight }: RoutePool<L>,
  market: Market<L>,
  anchors: AnchorPrices,
): PoolDepth {
  const { key } = leg;
  const record = market.recordOf(leg);
  const knownIsToken0 = leg.token0 !== route.token;
  const ratio = ratioOf(leg, route, anchors);
  const confirmed = record === undefined ? 0 : confirmedLiquidity(record, market.epochTime);
  // The depth that the epoch confirmed and the current depth are amounts of the leg's token with the
  // known price, not USD, because only their ratio is used.
  const confirmedSide =
    record === undefined ? null : knownSide({ state: record.state, liquidity: confirmed }, knownIsToken0, 1);
  // No epoch has confirmed this liquidity, so the route is recent and never trusted.
  const state = market.stateOf(leg);
  const currentSide =
    confirmedSide !== null && state === record?.state
      ? confirmedSide
      : knownSide({ state, liquidity: state.liquidity }, knownIsToken0, 1);
  if (confirmedSide === null || !(confirmedSide.depthUsd > 0)) {
    const [depth, payout] = [currentSide.depthUsd * ratio, currentSide.backingUsd * ratio];
    const grownPayout = record === undefined ? payout : Infinity;
    return { key, weight, backingUsd: weight / DEPTH_PART, remainingShare: 1, depth, payout, grownPayout };
  }
  // Within the epoch, a pool that moved gets a new record, and its hop is computed again at the next epoch anyway.
  const grownSide =
    record !== undefined && state === record.state && confirmed < state.liquidity
      ? knownSide({ state, liquidity: state.liquidity }, knownIsToken0, 1)
      : null;
  const payout = Math.min(confirmedSide.backingUsd, currentSide.backingUsd) * ratio;
  return {
    key,
    weight,
    backingUsd: weight * (confirmedSide.backingUsd / confirmedSide.depthUsd),
    remainingShare: Math.min(1, currentSide.depthUsd / confirmedSide.depthUsd),
    depth: Math.min(confirmedSide.depthUsd, currentSide.depthUsd) * ratio,
    payout,
    grownPayout: grownSide === null ? payout : grownSide.backingUsd * ratio,
  };
}

/**
 * Returns how many whole tokens `next` one whole token of the other side of the leg is worth: 1 if this side is `next`,
 * otherwise the ratio of their anchor prices.
 */
function ratioOf(
  leg: Leg,
  { token, next }: Pick<PriceRoute, 'token' | 'next'>,
  anchors: AnchorPrices,
): number {
  const other = leg.token0 === token ? leg.token1 : leg.token0;
  return other === next ? 1 : (anchors.get(other) ?? 0) / (anchors.get(next) ?? Infinity);
}

function hopInput<L extends Leg>(
  route: Pick<PriceRoute, 'token' | 'next'>,
  { leg, weight }: RoutePool<L>,
  remainingShare: number,
  market: Market<L>,
  anchors: AnchorPrices,
): HopInput {
  const fromToken0 = leg.token0 === route.token;
  const ratio = ratioOf(leg, route, anchors);
  const record = market.recordOf(leg);
  const spot = market.stateOf(leg).price;
  const mean = record === undefined ? 0 : meanPrice(record, market.epochTime);
  const ceiling = market.ceilingOf(route.token) / (anchors.get(route.next) ?? 0);
  const unswapped = mean > 0 ? market.unswappedIn(leg) : 0;
  const heldLog = unswapped === 0 ? 0 : heldPart(unswapped, spot, Math.log(mean));
  const isHeld = Math.abs(heldLog) > HELD_LOG_MIN;
  return {
    key: leg.key,
    weight: weight * remainingShare,
    spot: convertPrice(spot, fromToken0, ratio),
    price: Math.min(ceiling, convertPrice(isHeld ? spot * Math.exp(-heldLog) : spot, fromToken0, ratio)),
    meanPrice: Math.min(ceiling, convertPrice(mean, fromToken0, ratio)),
    held: isHeld,
    isVault: leg.isVault === true,
    traded: record === undefined || tradedDepth(record, market.tradedIn(leg), market.epochTime),
  };
}

/**
 * Converts a price of a leg (whole token1 per whole token0) to whole next tokens per whole token of the route.
 * Returns 0 if there is no price.
 */
export function legPrice(
  route: Pick<PriceRoute, 'token' | 'next'>,
  leg: Leg,
  price: number,
  anchors: AnchorPrices,
): number {
  return convertPrice(price, leg.token0 === route.token, ratioOf(leg, route, anchors));
}

function convertPrice(price: number, fromToken0: boolean, ratio: number): number {
  return price > 0 ? (fromToken0 ? price : 1 / price) * ratio : 0;
}

/** Whether the leg traded at least its own 2 % depth within the window. */
function tradedDepth(record: LegRecord, tradedSince: number, epochTime: number): boolean {
  const depth = DEPTH_PART * record.depthLiquidity * Math.sqrt(record.state.price);
  return decay(record, epochTime) + tradedSince >= depth;
}
