/**
 * Route search by Dijkstra's algorithm for the widest path. The width of a path is the depth of its hop with the
 * least depth. Tokens get their routes from the anchors outwards, the widest path first. A token is priced only by
 * pools whose other token got its route earlier, so there are no cycles. Only the known side of a pool gives depth.
 * Among equally wide paths, the smaller address comes first.
 */
import type { Hex } from '../domain/hex';
import { hopConfidence, STALE_SECONDS } from './confidence';
import { inDoublings, inSteps, knownSide } from './depth';
import { DORMANT_SECONDS } from './epoch';
import type { HopPrice } from './hop';
import type { LegKey, LegState } from './leg';
import type { IndexedLeg, IndexedToken } from './poolIndex';
import type { AnchorPrices } from './market';
import { PriorityQueue } from './priorityQueue';
import { HOPS_MAX, type PriceRoute, type RoutePool, type RouteWarning } from './priceRoute';

/** Smallest USD value of a pool's known side. Poorer pools are ignored. */
export const BACKING_MIN_USD = 50;
/** USD on the side of an anchor below which a hop gets a warning. */
const THIN_USD = 1_000;
/** Key of the group of all anchors: pools with any anchor make one hop together. */
const ANCHORS = 'anchors';

/** A token with a route and a price. */
export interface RoutedToken {
  readonly route: PriceRoute<IndexedLeg>;
  /** USD per whole token. */
  readonly usd: number;
}

/** The tokens with a route, in the order in which they got their routes. */
export type RoutedTokens = Map<IndexedToken, RoutedToken>;

/** The values of a leg that decide its weight in a hop. */
export interface LegWeight {
  readonly state: LegState;
  /**
   * Liquidity for the depth: the liquidity that the previous epoch confirms. For recent routes, the current liquidity.
   */
  readonly liquidity: number;
  /** Seconds since the leg last moved. */
  readonly ageSeconds: number;
}

/** Input of a route search. */
export interface RouteSearch {
  readonly anchors: AnchorPrices;
  /** The price of a hop over these pools. */
  priceHop(route: Pick<PriceRoute<IndexedLeg>, 'token' | 'next' | 'pools'>): HopPrice;
  /** All legs that may price another token in this token. Further legs may be included. */
  legsOf(token: IndexedToken): readonly IndexedLeg[];
  /** Weight of the leg. Null if the search does not use the leg. */
  weigh(leg: IndexedLeg): LegWeight | null;
  /** Whether a leg lacks the age or the makers for a trusted price. */
  isYoung(leg: IndexedLeg): boolean;
  /** Whether a token may not get a route through this neighbour. */
  isBarred(token: IndexedToken, neighbour: Hex): boolean;
  /** Marks the routes found as recent. */
  readonly recent: boolean;
}

interface GroupPool extends RoutePool<IndexedLeg> {
  readonly other: IndexedToken;
  readonly backingUsd: number;
  readonly ageSeconds: number;
}

/** Pools of one unrouted token with one routed neighbour, or with all anchors. */
interface Group {
  readonly neighbour: Hex | typeof ANCHORS;
  readonly hops: number;
  /** Depth of the hop with the least depth from the neighbour to the anchor. */
  readonly depthBeyond: number;
  depth: number;
  /** Sorted by key. */
  readonly pools: GroupPool[];
}

/**
 * Adds every token to `routed` that is reachable over the given legs, directly or through other tokens. Returns the
 * legs with a priced token that gave their other token no route. A later search may begin with these legs.
 */
export function searchRoutes(
  input: RouteSearch,
  routed: RoutedTokens,
  startLegs: Iterable<IndexedLeg>,
): readonly IndexedLeg[] {
  const unused: IndexedLeg[] = [];
  const groups = new Map<IndexedToken, Group[]>();
  /**
   * Groups through which a token could be priced, but is not, because it got its route through another group.
   */
  const nextBestGroups = new Map<IndexedToken, Group[]>();
  const queue = new PriorityQueue<IndexedToken>();
  // Runs for every leg of every priced token and discards most of them, so it must be fast.
  const visitLeg = (leg: IndexedLeg, newlyPriced: IndexedToken | null): void => {
    const token0 = leg.tokens[0];
    const token1 = leg.tokens[1];
    const known0 = routed.get(token0);
    const known1 = routed.get(token1);
    const pricedSide = known0 ?? known1;
    if (pricedSide === undefined) return;
    if (known0 !== undefined && known1 !== undefined) {
      if (newlyPriced !== null && !input.recent) addOther(input, routed, nextBestGroups, leg, newlyPriced);
      return;
    }
    const [token, other] = pricedSide === known0 ? [token1, token0] : [token0, token1];
    const pool = poolOf(input, leg, token, other, pricedSide);
    if (pool === null) {
      unused.push(leg);
      return;
    }
    let groupsOfToken = groups.get(token);
    if (groupsOfToken === undefined) groups.set(token, (groupsOfToken = []));
    if (!addPool(groupOf(groupsOfToken, pricedSide.route, other.address), pool)) return;
    const best = bestGroup(groupsOfToken);
    if (best !== null) queue.push(widthOf(best), token);
  };
  for (const leg of startLegs) visitLeg(leg, null);
  for (let queued = queue.pop(); queued !== undefined; queued = queue.pop()) {
    const { priority, value: token } = queued;
    const groupsOfToken = groups.get(token) ?? [];
    const group = bestGroup(groupsOfToken);
    // An entry with another width is outdated: the group had fewer pools when the entry was added.
    if (group === null || widthOf(group) !== priority) continue;
    const routedToken = priceByGroup(input, routed, token, group);
    if (routedToken === null) {
      // The pools of this group give no price, so the token's next widest group is tried later.
      for (const { leg } of group.pools) unused.push(leg);
      groupsOfToken.splice(groupsOfToken.indexOf(group), 1);
      const nextBestGroup = bestGroup(groupsOfToken);
      if (nextBestGroup !== null) queue.push(widthOf(nextBestGroup), token);
      continue;
    }
    routed.set(token, routedToken);
    groups.delete(token);
    groupsOfToken.splice(groupsOfToken.indexOf(group), 1);
    if (groupsOfToken.length > 0 && !input.recent) nextBestGroups.set(token, groupsOfToken);
    if (routedToken.route.hops < HOPS_MAX) for (const leg of input.legsOf(token)) visitLeg(leg, token);
  }
  for (const [token, depthUsd] of nextBestDepths(nextBestGroups, routed)) {
    const routedToken = routed.get(token);
    const otherDepthUsd = inDoublings(depthUsd);
    if (routedToken !== undefined && otherDepthUsd > 0)
      routed.set(token, { ...routedToken, route: { ...routedToken.route, otherDepthUsd } });
  }
  return unused;
}

/**
 * Depth in USD of the deepest other route of each token. A group that its token T does not use is another
 * route of T. If T is priced over the tokens A and B, then A could be priced in T over this group, and B in
 * A. The group is therefore another route of A and B too, unless its own way to an anchor passes through
 * them.
 */
function nextBestDepths(
  unusedGroups: ReadonlyMap<IndexedToken, readonly Group[]>,
  routed: ReadonlyMap<IndexedToken, RoutedToken>,
): ReadonlyMap<IndexedToken, number> {
  const depths = new Map<IndexedToken, number>();
  for (const [start, groups] of unusedGroups)
    for (const group of groups) {
      const neighbourToken = group.neighbour === ANCHORS ? undefined : group.pools[0]?.other;
      let width = widthOf(group);
      let token: IndexedToken | undefined = start;
      for (let hops = group.hops + 1; token !== undefined && hops <= HOPS_MAX; hops += 1) {
        const route = routed.get(token)?.route;
        if (
          route === undefined ||
          route.hops === 0 ||
          (neighbourToken !== undefined && leadsThrough(neighbourToken, token, routed))
        )
          break;
        if (width > (depths.get(token) ?? 0)) depths.set(token, width);
        let depth = 0;
        for (const { weight } of route.pools) depth += weight;
        width = Math.min(width, depth);
        token = nextToken(route);
      }
    }
  return depths;
}

/** Whether the way from `start` to an anchor begins at or passes through the token. */
function leadsThrough(
  start: IndexedToken,
  token: IndexedToken,
  routed: ReadonlyMap<IndexedToken, RoutedToken>,
): boolean {
  let current: IndexedToken | undefined = start;
  for (let hop = 0; hop <= HOPS_MAX && current !== undefined; hop += 1) {
    if (current === token) return true;
    const route: PriceRoute<IndexedLeg> | undefined = routed.get(current)?.route;
    current = route === undefined || route.hops === 0 ? undefined : nextToken(route);
  }
  return false;
}

function nextToken({ next, pools }: PriceRoute<IndexedLeg>): IndexedToken | undefined {
  return pools[0]?.leg.tokens.find(({ address }) => address === next);
}

/**
 * The leg as a pool that prices `token` in `other`, whose price is known. Null if the search does not use the
 * pool.
 */
function poolOf(
  input: RouteSearch,
  leg: IndexedLeg,
  token: IndexedToken,
  other: IndexedToken,
  routedOther: RoutedToken,
): GroupPool | null {
  if (routedOther.route.hops >= HOPS_MAX || input.isBarred(token, other.address)) return null;
  const weight = input.weigh(leg);
  if (weight === null || weight.ageSeconds > DORMANT_SECONDS) return null;
  const { backingUsd, depthUsd } = knownSide(weight, other === leg.tokens[0], routedOther.usd);
  if (!(backingUsd >= BACKING_MIN_USD)) return null;
  return { leg, weight: inSteps(depthUsd), other, backingUsd, ageSeconds: weight.ageSeconds };
}

/**
 * Notes a pool that could price the other token of the leg in `pricedToken`, although the other token got its route
 * earlier.
 */
function addOther(
  input: RouteSearch,
  routed: RoutedTokens,
  unusedGroups: Map<IndexedToken, Group[]>,
  leg: IndexedLeg,
  pricedToken: IndexedToken,
): void {
  const token = leg.tokens[0] === pricedToken ? leg.tokens[1] : leg.tokens[0];
  const routedToken = routed.get(pricedToken);
  // Skips a leg to the token in which `pricedToken` itself is priced. Most legs that get here are such legs.
  if (routedToken === undefined || routedToken.route.next === token.address) return;
  if (routed.get(token)?.route.hops === 0 || leadsThrough(pricedToken, token, routed)) return;
  const pool = poolOf(input, leg, token, pricedToken, routedToken);
  if (pool === null) return;
  let groupsOfToken = unusedGroups.get(token);
  if (groupsOfToken === undefined) unusedGroups.set(token, (groupsOfToken = []));
  addPool(groupOf(groupsOfToken, routedToken.route, pricedToken.address), pool);
}

/** The token's group of pools with this neighbour. */
function groupOf(groupsOfToken: Group[], { hops, depthUsd }: PriceRoute, other: Hex): Group {
  const neighbour = hops === 0 ? ANCHORS : other;
  const sameNeighbour = groupsOfToken.find((group) => group.neighbour === neighbour);
  if (sameNeighbour !== undefined) return sameNeighbour;
  const depthBeyond = hops === 0 ? Infinity : depthUsd;
  const group: Group = { neighbour, hops, depthBeyond, depth: 0, pools: [] };
  groupsOfToken.push(group);
  return group;
}

/**
 * Adds a pool to the group. False if the group already has the pool. Sums are computed in key order, so the order of
 * legs does not change any bit.
 */
function addPool(group: Group, pool: GroupPool): boolean {
  const { pools } = group;
  const index = indexOfKey(pools, pool.leg.key);
  if (pools[index]?.leg.key === pool.leg.key) return false;
  pools.splice(index, 0, pool);
  let depth = 0;
  for (const { weight } of pools) depth += weight;
  group.depth = depth;
  return true;
}

/** Index of the first pool whose key is not smaller than `key`. The pools ascend by key. */
function indexOfKey(pools: readonly GroupPool[], key: LegKey): number {
  let low = 0;
  let high = pools.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pools[middle]?.leg.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function widthOf(group: Group): number {
  return Math.min(group.depthBeyond, group.depth);
}

function bestGroup(groups: readonly Group[]): Group | null {
  let best: Group | null = null;
  for (const group of groups) {
    if (best === null || isWider(group, best)) best = group;
  }
  return best;
}

function isWider(a: Group, b: Group): boolean {
  const difference = widthOf(a) - widthOf(b);
  return difference === 0 ? a.neighbour < b.neighbour : difference > 0;
}

/** The token's price by the pools of the group. Null if no pool has a price. */
function priceByGroup(
  input: RouteSearch,
  routed: ReadonlyMap<IndexedToken, RoutedToken>,
  { address: token }: IndexedToken,
  group: Group,
): RoutedToken | null {
  const { pools } = group;
  const nextToken = group.neighbour === ANCHORS ? deepestAnchor(input.anchors, group) : pools[0]?.other;
  if (nextToken === undefined) return null;
  const { address: next } = nextToken;
  const hop = input.priceHop({ token, next, pools });
  const usd = hop.price * (routed.get(nextToken)?.usd ?? 0);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  const usedPools: { weight: number; backingUsd: number; ageSeconds: number }[] = [];
  let backingUsd = 0;
  let stale = true;
  for (const [i, { key, weight }] of hop.pools.entries()) {
    // If the hop excludes no pool, its pools and the group's have the same order. Otherwise the pool is
    // searched by key.
    const pool = pools[i]?.leg.key === key ? pools[i] : pools[indexOfKey(pools, key)];
    if (pool === undefined) continue;
    usedPools.push({ weight, backingUsd: pool.backingUsd, ageSeconds: pool.ageSeconds });
    backingUsd += pool.backingUsd;
    stale &&= pool.ageSeconds > STALE_SECONDS;
  }
  const warnings: RouteWarning[] = [];
  if (input.recent) warnings.push('recent_pool');
  if (input.recent && pools.some(({ leg }) => input.isYoung(leg))) warnings.push('young_pool');
  if (stale) warnings.push('stale_price');
  if (backingUsd < THIN_USD) warnings.push('thin_anchor');
  const route: PriceRoute<IndexedLeg> = {
    token,
    next,
    hops: group.hops + 1,
    confidence: hopConfidence(usedPools, hop.deviation(), input.recent),
    depthUsd: widthOf(group),
    otherDepthUsd: 0,
    recent: input.recent,
    stale,
    pools,
    warnings: warnings.sort(),
  };
  return { route, usd };
}

/** The anchor with the most depth. Ties go to the first configured one. */
function deepestAnchor(anchors: AnchorPrices, { pools }: Group): IndexedToken | undefined {
  let best: { readonly token: IndexedToken; readonly depth: number } | undefined;
  for (const address of anchors.keys()) {
    let token: IndexedToken | undefined;
    let depth = 0;
    for (const { other, weight } of pools) {
      if (other.address !== address) continue;
      token = other;
      depth += weight;
    }
    if (token !== undefined && (best === undefined || depth > best.depth)) best = { token, depth };
  }
  return best?.token;
}
