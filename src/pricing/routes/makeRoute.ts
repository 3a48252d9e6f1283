/** Makes routes from what a search found. */
import { hopConfidence, STALE_SECONDS, UNTRUSTED_MAX } from '../confidence';
import type { HopPrice } from '../hop';
import type { GroupPool, GroupPrice, IndexedLeg, IndexedToken, RoutedToken } from '../indexedToken';
import { sameRoute, type PriceRoute, type RouteWarning } from '../priceRoute';

/** USD on the side of an anchor below which a hop gets a warning. */
const THIN_USD = 1_000;

/** The price of a hop over the pools of a group, in the form that a search needs. */
export function groupPriceOf(
  hop: HopPrice,
  group: Pick<GroupPrice, 'next' | 'pools' | 'anchors'>,
): GroupPrice {
  // The pools of a hop have the order of the group, without those that its price excludes.
  let used = 0;
  const shares = group.pools.map(({ leg }) => {
    const pool = hop.pools[used];
    if (pool?.key !== leg.key) return null;
    used += 1;
    return pool.weight;
  });
  const { next, pools, anchors } = group;
  const onlyLeg = pools.length === 1 ? (pools[0]?.leg ?? null) : null;
  return { next, onlyLeg, anchors, price: hop.price, pools, shares, deviation: hop.deviation() };
}

/** What a route tells besides the result of the search. */
interface RouteFacts {
  readonly otherDepthUsd: number;
  readonly isPrivate: boolean;
  /** Whether the token is an anchor that lost its role. */
  readonly isDepegged: boolean;
  /** Whether a pool of a recent route lacks the age or the makers for a trusted price. */
  readonly isYoung: boolean;
}

/** The route of a token. If this is the route that the token has, the result is the same object. */
export function makeRoute(
  token: IndexedToken,
  { pools, price, recent, hops, depthUsd }: RoutedToken,
  { otherDepthUsd, isPrivate, isDepegged, isYoung }: RouteFacts,
): PriceRoute<IndexedLeg> {
  const { next = token.address, shares = [], deviation = 0 } = price ?? {};
  const { isThin, stale } = judgePools(pools, shares);
  const confidence = hopConfidence(pools, shares, deviation, recent);
  const warnings: RouteWarning[] = [];
  if (isDepegged) warnings.push('anchor_depeg');
  if (isPrivate) warnings.push('private_route');
  if (recent) warnings.push('recent_pool');
  if (stale) warnings.push('stale_price');
  if (isThin) warnings.push('thin_anchor');
  if (isYoung) warnings.push('young_pool');
  const route = {
    token: token.address,
    next,
    hops,
    confidence: isPrivate ? Math.min(confidence, UNTRUSTED_MAX) : confidence,
    depthUsd,
    otherDepthUsd,
    recent,
    stale,
    pools,
    warnings,
  };
  if (token.route !== null && sameRoute(token.route, route)) return token.route;
  return { ...route, pools: pools.map(({ leg, weight }) => ({ leg, weight })) };
}

/** Judges the pools that make the price: whether they hold little, and whether none of them moved for a day. */
function judgePools(
  pools: readonly GroupPool[],
  shares: GroupPrice['shares'],
): { readonly isThin: boolean; readonly stale: boolean } {
  let usedUsd = 0;
  let stale = true;
  pools.forEach(({ backingUsd, ageSeconds }, i) => {
    if ((shares[i] ?? null) === null) return;
    usedUsd += backingUsd;
    stale &&= ageSeconds > STALE_SECONDS;
  });
  return { isThin: usedUsd < THIN_USD, stale };
}
