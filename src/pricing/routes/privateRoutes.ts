/**
 * Private routes go through a token that has no market besides the anchors and the priced token. The owner of that
 * token may be the only one who can trade it, so other traders cannot correct a false price. Direct pools beat a
 * private route, and a private route without direct pools is never trusted. The wrapped native token is exempt.
 */
import type { Hex } from '../../domain/hex';
import {
  otherToken,
  type IndexedLeg,
  type IndexedToken,
  type RoutedToken,
  type RoutedTokens,
} from '../indexedToken';
import { leadsThrough, type RouteSearch } from './searchRoutes';

/** Smallest USD value on the known side of a pool that makes the pool a market. */
const MARKET_MIN_USD = 1_000;

interface PrivateContext extends Pick<RouteSearch, 'poolOf'> {
  /** Null if it is not configured. */
  readonly wrappedNative: Hex | null;
  /**
   * Adds the tokens whose legs all lead to one other token. They have no direct pool besides their route and make no
   * route public, so the searches do without them.
   */
  addLeaves(routed: RoutedTokens): void;
}

/** Searches again without the private routes of tokens with direct pools. Returns the remaining private tokens too. */
export function avoidPrivateRoutes(
  search: (isBarred: RouteSearch['isBarred']) => RoutedTokens,
  context: PrivateContext,
): { readonly routed: RoutedTokens; readonly privateTokens: ReadonlySet<IndexedToken> } {
  let routed = search(() => false);
  const barredNeighbours = new Map<IndexedToken, Hex>();
  for (const [token, next] of privateRoutes(routed, context))
    if (hasDirectPool(token, routed, context)) barredNeighbours.set(token, next.address);
  if (barredNeighbours.size > 0)
    routed = search((token, neighbour) => barredNeighbours.get(token) === neighbour);
  context.addLeaves(routed);
  return { routed, privateTokens: new Set(privateRoutes(routed, context).keys()) };
}

/** The tokens with private routes, each with its next token. */
function privateRoutes(routed: RoutedTokens, context: PrivateContext): Map<IndexedToken, IndexedToken> {
  const markets = new Map<IndexedToken, readonly IndexedToken[]>();
  const privateTokens = new Map<IndexedToken, IndexedToken>();
  for (const token of routed.tokens) {
    const { hops = 0, next = null } = routed.get(token) ?? {};
    if (hops < 2 || next === null || next.address === context.wrappedNative) continue;
    let marketTokens = markets.get(next);
    if (marketTokens === undefined) markets.set(next, (marketTokens = otherMarkets(next, routed, context)));
    if (!marketTokens.some((other) => other !== token)) privateTokens.set(token, next);
  }
  return privateTokens;
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
    const other = otherToken(leg, token);
    const found = routed.get(other);
    if (found === undefined || found.hops === 0 || marketTokens.includes(other)) continue;
    if (!isMarket(leg, other, found, context)) continue;
    if (!leadsThrough(other, token, routed) || hasDirectPool(other, routed, context))
      marketTokens.push(other);
    if (marketTokens.length === 2) break;
  }
  return marketTokens;
}

/** Whether a leg holds at least MARKET_MIN_USD of a token with a price. */
function isMarket(
  leg: IndexedLeg,
  token: IndexedToken,
  { usd }: RoutedToken,
  context: PrivateContext,
): boolean {
  const pool = context.poolOf(leg, leg.first === token, usd);
  return pool !== null && pool.backingUsd >= MARKET_MIN_USD;
}

/** Whether the token has a market with an anchor or the wrapped native token. */
function hasDirectPool(token: IndexedToken, routed: RoutedTokens, context: PrivateContext): boolean {
  return token.live.some((leg) => {
    const other = otherToken(leg, token);
    const found = routed.get(other);
    if (found === undefined || (found.hops > 0 && other.address !== context.wrappedNative)) return false;
    return isMarket(leg, other, found, context);
  });
}
