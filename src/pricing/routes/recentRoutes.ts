/**
 * Finds routes within an epoch for tokens without a route, from the present liquidity of their pools. A price over such
 * a route is never trusted. Tokens that have a route keep it until the next epoch.
 */
import type { UsdPrice } from '../confidence';
import { knownSide } from '../depth';
import { matureFrom } from '../epoch';
import { priceRouteHop, type AnchorPrices, type Market } from '../market';
import {
  otherToken,
  RoutedTokens,
  type GroupPool,
  type IndexedLeg,
  type IndexedToken,
} from '../indexedToken';
import { isRouted, type PriceRoute } from '../priceRoute';
import { toGroupPool } from './legDepths';
import { groupPriceOf, makeRoute } from './makeRoute';
import { searchRoutes, type RouteSearch } from './searchRoutes';

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
  const routed = new RoutedTokens();
  for (const token of touched) {
    if (isRouted(token.route)) continue;
    for (const leg of token.legs) {
      const other = otherToken(leg, token);
      const { route } = other;
      if (route === null || !isRouted(route)) continue;
      const price = priceOf(other);
      if (price === null) continue;
      const { hops, depthUsd, recent } = route;
      routed.set(other, { usd: price.usd, hops, depthUsd, next: null, pools: [], price: null, recent });
      legs.push(leg);
    }
  }
  if (legs.length === 0) return [];
  const input: RouteSearch = {
    anchors,
    priceGroup: ({ address: token }, next, pools) => {
      const hop = priceRouteHop({ token, next, pools, otherDepthUsd: 0 }, market, anchors);
      return groupPriceOf(hop, { next, pools, anchors });
    },
    recent: true,
    isBarred: () => false,
    isLeaf: () => false,
    // A token with a route keeps it, so only legs to tokens without a route are followed.
    legsOf: (token) => token.legs.filter((leg) => !isRouted(otherToken(leg, token).route)),
    poolOf: (leg, isToken0, usd) => poolNow(leg, isToken0, usd, timestamp),
  };
  searchRoutes(input, routed, legs);
  return routed.tokens.flatMap((token) => {
    const found = routed.get(token);
    if (found === undefined || isRouted(token.route)) return [];
    const isYoung = found.pools.some(({ leg }) => number < matureFrom(leg, matureAge));
    const facts = { otherDepthUsd: 0, isPrivate: false, isDepegged: false, isYoung };
    return [[token, makeRoute(token, found, facts)] as const];
  });
}

/** The leg with its present state and liquidity. */
function poolNow(leg: IndexedLeg, isToken0: boolean, usd: number, time: number): GroupPool | null {
  const { state, moves, record } = leg;
  const movedAt = moves === null ? (record?.movedAt ?? time) : time;
  return toGroupPool(leg, knownSide({ state, liquidity: state.liquidity }, isToken0, usd), time - movedAt);
}
