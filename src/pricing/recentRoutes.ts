/**
 * Finds routes within an epoch for tokens without a route, from the present liquidity of their pools. A price over such
 * a route is never trusted. Tokens that have a route keep it until the next epoch.
 */
import type { UsdPrice } from './confidence';
import { isMature } from './epoch';
import { priceRouteHop, type AnchorPrices, type Market } from './market';
import type { IndexedLeg, IndexedToken } from './poolIndex';
import { isRouted, type PriceRoute } from './priceRoute';
import { searchRoutes, type LegWeight, type RoutedTokens } from './searchRoutes';

interface RecentContext {
  readonly market: Market<IndexedLeg>;
  readonly anchors: AnchorPrices;
  readonly matureAge: number;
  priceOf(token: IndexedToken): UsdPrice | null;
}

/** Finds routes for the unrouted tokens of a block's legs, and for unrouted tokens that these tokens connect. */
export function findRecentRoutes(
  touched: ReadonlySet<IndexedToken>,
  { number, timestamp }: { readonly number: number; readonly timestamp: number },
  { market, anchors, matureAge, priceOf }: RecentContext,
): (readonly [IndexedToken, PriceRoute<IndexedLeg>])[] {
  // Legs that connect the tokens to a token with a price. The route search starts from these legs.
  const legs: IndexedLeg[] = [];
  const routed: RoutedTokens = new Map();
  for (const token of touched) {
    if (isRouted(token.route)) continue;
    for (const leg of token.legs) {
      const other = otherToken(leg, token);
      const { route } = other;
      if (route === null || !isRouted(route)) continue;
      const price = priceOf(other);
      if (price === null) continue;
      routed.set(other, { route, usd: price.usd });
      legs.push(leg);
    }
  }
  if (routed.size === 0) return [];
  const routedTokens = new Set(routed.keys());
  const input = {
    anchors,
    priceHop: ({ token, next, pools }: Pick<PriceRoute<IndexedLeg>, 'token' | 'next' | 'pools'>) =>
      priceRouteHop({ token, next, pools, otherDepthUsd: 0 }, market, anchors),
    recent: true,
    isBarred: () => false,
    isYoung: (leg: IndexedLeg) => !isMature(leg, number, matureAge),
    // A token with a route keeps it, so only legs to tokens without a route are followed.
    legsOf: (token: IndexedToken) => unroutedLegs(token),
    weigh: (leg: IndexedLeg) => weighNow(leg, timestamp),
  };
  searchRoutes(input, routed, legs);
  return [...routed].flatMap(([token, { route }]) =>
    routedTokens.has(token) ? [] : [[token, route] as const],
  );
}

/** Legs of the token whose other token has no route. */
function unroutedLegs(token: IndexedToken): readonly IndexedLeg[] {
  return token.legs.filter((leg) => !isRouted(otherToken(leg, token).route));
}

function otherToken({ tokens }: IndexedLeg, token: IndexedToken): IndexedToken {
  return tokens[0] === token ? tokens[1] : tokens[0];
}

function weighNow({ state, moves, record }: IndexedLeg, time: number): LegWeight | null {
  if (!(state.price > 0) || !(state.liquidity > 0)) return null;
  const movedAt = moves === null ? (record?.movedAt ?? time) : time;
  return { state, liquidity: state.liquidity, ageSeconds: time - movedAt };
}
