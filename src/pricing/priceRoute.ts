/** A route: the pools, with weights, that price a token in the next token on its way to an anchor. */
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import { HOP_WARNINGS } from './hop';
import type { Leg } from './leg';
import { capAlong } from './cap';
import { pathConfidence, type UsdPrice } from './confidence';

/** A token with a given USD price. */
export interface PriceAnchor {
  readonly address: Hex;
  /** USD per whole token, > 0. */
  readonly priceUsd: number;
}

export const ROUTE_WARNINGS = [
  ...HOP_WARNINGS,
  'recent_pool',
  'young_pool',
  'private_route',
  'stale_price',
  'thin_anchor',
  'anchor_depeg',
  'anchor_above_peg',
] as const;
export type RouteWarning = (typeof ROUTE_WARNINGS)[number];

export interface RoutePool<L extends Leg = Leg> {
  readonly leg: L;
  /**
   * Weight of the pool: the USD that move its price by 2 %, rounded to an eighth of a doubling. The weights
   * of a route do not sum to 1.
   */
  readonly weight: number;
}

export interface PriceRoute<L extends Leg = Leg> {
  readonly token: Hex;
  /** The token in which the route prices `token`; ZERO_ADDRESS for an anchor. */
  readonly next: Hex;
  /** Number of hops to the anchor; 0 for an anchor. */
  readonly hops: number;
  /** Confidence of this hop, 0–1. */
  readonly confidence: number;
  /** Depth in USD of the hop with the least depth on the way to the anchor. Infinity for an anchor. */
  readonly depthUsd: number;
  /**
   * Depth in USD of the deepest other route that the token could have had, rounded down to a power of 2; 0 without
   * another route.
   */
  readonly otherDepthUsd: number;
  /** Whether the route uses liquidity that no closed epoch has confirmed. */
  readonly recent: boolean;
  /** Whether no pool of the hop moved for a day. */
  readonly stale: boolean;
  /** Sorted by key. */
  readonly pools: readonly RoutePool<L>[];
  /** Sorted alphabetically. */
  readonly warnings: readonly RouteWarning[];
}

/** Largest number of hops from a token to an anchor. */
export const HOPS_MAX = 4;

/** The stored route of a token that has lost its route. */
export function noRoute(token: Hex): PriceRoute<never> {
  return {
    token,
    next: ZERO_ADDRESS,
    hops: 0,
    confidence: 0,
    depthUsd: 0,
    otherDepthUsd: 0,
    recent: false,
    stale: false,
    pools: [],
    warnings: [],
  };
}

export function isAnchorRoute(route: PriceRoute): boolean {
  return route.hops === 0 && route.confidence > 0;
}

/** Whether a token has a route. False if it never had one, or lost it. */
export function isRouted(route: PriceRoute | null): boolean {
  return route !== null && (route.hops > 0 || isAnchorRoute(route));
}

export function sameRoute(a: PriceRoute, b: PriceRoute): boolean {
  return (
    a.next === b.next &&
    a.hops === b.hops &&
    a.confidence === b.confidence &&
    a.depthUsd === b.depthUsd &&
    a.otherDepthUsd === b.otherDepthUsd &&
    a.recent === b.recent &&
    a.stale === b.stale &&
    samePools(a.pools, b.pools) &&
    a.warnings.length === b.warnings.length &&
    a.warnings.every((warning, i) => warning === b.warnings[i])
  );
}

/** Whether two routes have the same pools, with the same weights. */
export function samePools(a: readonly RoutePool[], b: readonly RoutePool[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1)
    if (a[i]?.leg.key !== b[i]?.leg.key || a[i]?.weight !== b[i]?.weight) return false;
  return true;
}

/** The hop from a token to the next one. If `next` is zero, `price` is USD, or 0 for none. */
export interface TokenHop {
  readonly next: Hex;
  readonly price: number;
  readonly confidence: number;
  /** Whole next tokens that the pools of the hop can pay out together; Infinity for an anchor, 0 without a price. */
  readonly cap: number;
}

export function sameHop(a: TokenHop, b: TokenHop): boolean {
  return a.next === b.next && a.price === b.price && a.confidence === b.confidence && a.cap === b.cap;
}

/**
 * Multiplies from the anchor to the token: price(T) = hop(T) · price(next). `path`: from the token to the anchor, whose
 * hop is in USD. Null: no price.
 */
export function priceOfPath(path: readonly TokenHop[]): UsdPrice | null {
  let usd = 1;
  for (let i = path.length - 1; i >= 0; i -= 1)
    usd = (path[i]?.price ?? 0) * (i === path.length - 1 ? 1 : usd);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  const hops = path.slice(0, -1);
  const capUsd = capAlong(hops, path.at(-1)?.price ?? 0);
  return { usd, confidence: pathConfidence(hops.map((hop) => hop.confidence)), capUsd };
}
