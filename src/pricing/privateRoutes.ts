/**
 * Private routes go through a token that has no market besides the anchors and the priced token. The owner of that
 * token may be the only one who can trade it, so other traders cannot correct a false price. Direct pools beat a
 * private route, and a private route without direct pools is never trusted. The wrapped native token is exempt.
 */
import type { Hex } from '../domain/hex';
import { UNTRUSTED_MAX } from './confidence';
import { knownSide } from './depth';
import { DORMANT_SECONDS } from './epoch';
import type { IndexedLeg, IndexedToken } from './poolIndex';
import { HOPS_MAX, type PriceRoute } from './priceRoute';
import type { LegWeight, RouteSearch, RoutedTokens } from './searchRoutes';

/** Smallest USD value on the known side of a pool that makes the pool a market. */
const MARKET_MIN_USD = 1_000;

interface PrivateContext {
  /** Null if it is not configured. */
  readonly wrappedNative: Hex | null;
  findToken(address: Hex): IndexedToken | undefined;
  /** Weight of the leg. Null if route searches do not use the leg. */
  weigh(leg: IndexedLeg): LegWeight | null;
}

/**
 * Searches again without the private routes of tokens with direct pools. Limits the confidence of the remaining
 * private routes.
 */
export function avoidPrivateRoutes(
  search: (isBarred: RouteSearch['isBarred']) => RoutedTokens,
  context: PrivateContext,
): RoutedTokens {
  let routed = search(() => false);
  let privateEntries = privateRoutes(routed, context);
  const barredNeighbours = new Map<IndexedToken, Hex>();
  for (const [token, { next }] of privateEntries)
    if (hasDirectPool(token, routed, context)) barredNeighbours.set(token, next);
  if (barredNeighbours.size > 0) {
    routed = search((token, neighbour) => barredNeighbours.get(token) === neighbour);
    privateEntries = privateRoutes(routed, context);
  }
  for (const [token, route] of privateEntries) {
    const warnings = [...route.warnings, 'private_route' as const].sort();
    const confidence = Math.min(route.confidence, UNTRUSTED_MAX);
    const usd = routed.get(token)?.usd ?? 0;
    routed.set(token, { usd, route: { ...route, confidence, warnings } });
  }
  return routed;
}

function privateRoutes(
  routed: RoutedTokens,
  context: PrivateContext,
): [IndexedToken, PriceRoute<IndexedLeg>][] {
  const markets = new Map<IndexedToken, readonly IndexedToken[]>();
  const privateEntries: [IndexedToken, PriceRoute<IndexedLeg>][] = [];
  for (const [token, { route }] of routed) {
    if (route.hops < 2 || route.next === context.wrappedNative) continue;
    const nextToken = context.findToken(route.next);
    if (nextToken === undefined) continue;
    let marketTokens = markets.get(nextToken);
    if (marketTokens === undefined)
      markets.set(nextToken, (marketTokens = otherMarkets(nextToken, routed, context)));
    if (!marketTokens.some((other) => other !== token)) privateEntries.push([token, route]);
  }
  return privateEntries;
}

/**
 * Finds up to two tokens that have a market with this token. Anchors are left out. Tokens priced through this token are
 * left out too, unless they also have a market with an anchor or the wrapped native token.
 */
function otherMarkets(
  token: IndexedToken,
  routed: RoutedTokens,
  context: PrivateContext,
): readonly IndexedToken[] {
  const marketTokens: IndexedToken[] = [];
  for (const leg of token.live) {
    const other = leg.tokens[0] === token ? leg.tokens[1] : leg.tokens[0];
    const pricedOther = routed.get(other);
    if (pricedOther === undefined || pricedOther.route.hops === 0 || marketTokens.includes(other)) continue;
    if (!isMarket(leg, other, pricedOther.usd, context)) continue;
    if (!passesThrough(token, pricedOther.route, routed, context) || hasDirectPool(other, routed, context))
      marketTokens.push(other);
    if (marketTokens.length === 2) break;
  }
  return marketTokens;
}

/** Whether a leg holds at least MARKET_MIN_USD of the known token, at the price `usd`. */
function isMarket(
  leg: IndexedLeg,
  knownToken: IndexedToken,
  usd: number,
  { weigh }: PrivateContext,
): boolean {
  const weight = weigh(leg);
  if (weight === null || weight.ageSeconds > DORMANT_SECONDS) return false;
  return knownSide(weight, leg.tokens[0] === knownToken, usd).backingUsd >= MARKET_MIN_USD;
}

function passesThrough(
  token: IndexedToken,
  firstRoute: PriceRoute<IndexedLeg>,
  routed: RoutedTokens,
  { findToken }: PrivateContext,
): boolean {
  let route: PriceRoute<IndexedLeg> | undefined = firstRoute;
  for (let hop = 0; hop < HOPS_MAX && route !== undefined; hop += 1) {
    if (route.next === token.address) return true;
    const nextToken = findToken(route.next);
    route = nextToken === undefined ? undefined : routed.get(nextToken)?.route;
  }
  return false;
}

/** Whether the token has a market with an anchor or the wrapped native token. */
function hasDirectPool(token: IndexedToken, routed: RoutedTokens, context: PrivateContext): boolean {
  return token.live.some((leg) => {
    const other = leg.tokens[0] === token ? leg.tokens[1] : leg.tokens[0];
    const pricedOther = routed.get(other);
    if (pricedOther === undefined || (pricedOther.route.hops > 0 && other.address !== context.wrappedNative))
      return false;
    return isMarket(leg, other, pricedOther.usd, context);
  });
}
