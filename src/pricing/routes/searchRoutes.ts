/**
 * Route search by Dijkstra's algorithm for the widest path. The width of a path is the depth of its hop with the
 * least depth. Tokens get their routes from the anchors outwards, the widest path first. A token is priced only by
 * pools whose other token got its route earlier, so there are no cycles. Only the known side of a pool gives depth.
 * Among equally wide paths, the smaller address comes first.
 */
import type { Hex } from '../../domain/hex';
import { inDoublings } from '../depth';
import type { AnchorPrices } from '../market';
import {
  ALL_ANCHORS,
  otherToken,
  type Group,
  type GroupPool,
  type GroupPrice,
  type IndexedLeg,
  type IndexedToken,
  type RoutedToken,
  type RoutedTokens,
} from '../indexedToken';
import { HOPS_MAX } from '../priceRoute';
import { PriorityQueue } from './priorityQueue';

/** Input of a route search. */
export interface RouteSearch {
  readonly anchors: AnchorPrices;
  /** The price of a token in the next token over these pools. */
  priceGroup(token: IndexedToken, next: Hex, pools: readonly GroupPool[]): GroupPrice;
  /** All legs that may price another token in this token. Further legs may be included. */
  legsOf(token: IndexedToken): readonly IndexedLeg[];
  /** Whether `routeLeaves` finds the route of this token. All legs of the token lead to one other token. */
  isLeaf(token: IndexedToken): boolean;
  /**
   * The leg as a pool that prices one of its tokens in the other one. `usd` is the price of the other one, which is token0
   * or token1. Null if the search ignores the leg.
   */
  poolOf(leg: IndexedLeg, isToken0: boolean, usd: number): GroupPool | null;
  /** Whether a token may not get a route through this neighbour. */
  isBarred(token: IndexedToken, neighbour: Hex): boolean;
  /** Whether no epoch confirmed the pools. */
  readonly recent: boolean;
}

interface SearchResult {
  /** Legs with a priced token that gave their other token no route. A later search may begin with these legs. */
  readonly unused: readonly IndexedLeg[];
  /** Tokens whose legs all lead to one priced token. */
  readonly leaves: readonly IndexedToken[];
  /** Depth in USD of the deepest other route of each token, rounded down to a power of 2. */
  readonly otherDepths: ReadonlyMap<IndexedToken, number>;
}

/**
 * Adds every token to `routed` that is reachable over the given legs, directly or through other tokens. Leaves are left
 * out, because no other route depends on them.
 */
export function searchRoutes(
  input: RouteSearch,
  routed: RoutedTokens,
  startLegs: Iterable<IndexedLeg>,
): SearchResult {
  const unused: IndexedLeg[] = [];
  const leaves: IndexedToken[] = [];
  /** Tokens that got groups. */
  const opened: IndexedToken[] = [];
  /**
   * Groups through which a token could be priced, but is not, because it got its route through another group.
   */
  const nextBestGroups = new Map<IndexedToken, Group[]>();
  const queue = new PriorityQueue<IndexedToken>();
  /** Groups of tokens without a route that got more pools. */
  const grown: Group[] = [];
  // Runs for every leg of every priced token and discards most of them, so it must be fast.
  const visitLeg = (leg: IndexedLeg, newlyPriced: IndexedToken | null): void => {
    const { first, second } = leg;
    const known0 = routed.get(first);
    const known1 = routed.get(second);
    const known = known0 ?? known1;
    if (known === undefined) return;
    if (known0 !== undefined && known1 !== undefined) {
      if (newlyPriced !== null && !input.recent) addOther(input, routed, nextBestGroups, leg, newlyPriced);
      return;
    }
    const [token, other] = known === known0 ? [second, first] : [first, second];
    if (input.isLeaf(token)) {
      if (leg === token.live[0]) leaves.push(token);
      return;
    }
    const pool = poolOf(input, leg, token, other, known);
    if (pool === null) {
      unused.push(leg);
      return;
    }
    const group = groupOf(openGroups(token, opened), token, known, other.address, newlyPriced === null);
    if (!Number.isNaN(group.depth)) grown.push(group);
    addPool(group, pool);
  };
  for (const leg of startLegs) visitLeg(leg, null);
  queueGrown(grown, queue);
  for (let queued = queue.pop(); queued !== undefined; queued = queue.pop()) {
    const { priority, value: token } = queued;
    const groups = token.groups ?? [];
    const group = bestGroup(groups);
    // An entry with another width is outdated: the group had fewer pools when the entry was added.
    if (group === null || widthOf(group) !== priority) continue;
    const found = priceByGroup(input, routed, group);
    groups.splice(groups.indexOf(group), 1);
    if (found === null) {
      // The pools of this group give no price, so the token's next widest group is tried later.
      for (const { leg } of group.pools) unused.push(leg);
      const nextBestGroup = bestGroup(groups);
      if (nextBestGroup !== null) queue.push(widthOf(nextBestGroup), token);
      continue;
    }
    routed.set(token, found);
    token.groups = null;
    if (groups.length > 0 && !input.recent) nextBestGroups.set(token, groups);
    if (found.hops === HOPS_MAX) continue;
    for (const leg of input.legsOf(token)) visitLeg(leg, token);
    queueGrown(grown, queue);
  }
  for (const token of opened) token.groups = null;
  return { unused, leaves, otherDepths: otherDepthsOf(nextBestGroups, routed) };
}

/** The groups of a token without a route. Notes the token in `opened` if it had none. */
function openGroups(token: IndexedToken, opened: IndexedToken[]): Group[] {
  if (token.groups !== null) return token.groups;
  opened.push(token);
  return (token.groups = []);
}

/** Queues the tokens whose widest group got more pools, and empties the list. */
function queueGrown(grown: Group[], queue: PriorityQueue<IndexedToken>): void {
  for (const group of grown) sumDepth(group);
  for (const group of grown)
    if (bestGroup(group.token.groups ?? []) === group) queue.push(widthOf(group), group.token);
  grown.length = 0;
}

/** Gives leaves their routes. Returns the legs that gave none. */
export function routeLeaves(
  input: RouteSearch,
  routed: RoutedTokens,
  leaves: readonly IndexedToken[],
): IndexedLeg[] {
  const unused: IndexedLeg[] = [];
  for (const token of leaves) {
    const [firstLeg] = token.live;
    if (firstLeg === undefined) continue;
    const other = otherToken(firstLeg, token);
    const known = routed.get(other);
    if (known === undefined) continue;
    const group = newGroup(token, known, other.address);
    for (const leg of token.live) {
      const pool = poolOf(input, leg, token, other, known);
      if (pool === null) unused.push(leg);
      else group.pools.push(pool);
    }
    sumDepth(group);
    const found = priceByGroup(input, routed, group);
    if (found !== null) routed.set(token, found);
    else for (const { leg } of group.pools) unused.push(leg);
  }
  return unused;
}

/**
 * Depth of the deepest other route of each token. A group that its token T does not use is another
 * route of T. If T is priced over the tokens A and B, then A could be priced in T over this group, and B in
 * A. The group is therefore another route of A and B too, unless its own way to an anchor passes through
 * them.
 */
function otherDepthsOf(
  unusedGroups: ReadonlyMap<IndexedToken, readonly Group[]>,
  routed: RoutedTokens,
): ReadonlyMap<IndexedToken, number> {
  const depths = new Map<IndexedToken, number>();
  for (const [start, groups] of unusedGroups)
    for (const group of groups) {
      if (Number.isNaN(group.depth)) sumDepth(group);
      const [firstPool] = group.pools;
      const neighbour =
        group.neighbour === ALL_ANCHORS || firstPool === undefined ? null : otherToken(firstPool.leg, start);
      let width = widthOf(group);
      let token: IndexedToken | null = start;
      for (let hops = group.hops + 1; token !== null && hops <= HOPS_MAX; hops += 1) {
        const found = routed.get(token);
        if (found === undefined || found.hops === 0) break;
        if (neighbour !== null && leadsThrough(neighbour, token, routed)) break;
        if (width > (depths.get(token) ?? 0)) depths.set(token, width);
        let depth = 0;
        for (const { weight } of found.pools) depth += weight;
        width = Math.min(width, depth);
        token = found.next;
      }
    }
  for (const [token, depth] of depths) depths.set(token, inDoublings(depth));
  return depths;
}

/** Whether the way from `start` to an anchor begins at or passes through the token. */
export function leadsThrough(start: IndexedToken, token: IndexedToken, routed: RoutedTokens): boolean {
  let current: IndexedToken | null = start;
  for (let hop = 0; hop <= HOPS_MAX && current !== null; hop += 1) {
    if (current === token) return true;
    current = routed.get(current)?.next ?? null;
  }
  return false;
}

function poolOf(
  input: RouteSearch,
  leg: IndexedLeg,
  token: IndexedToken,
  other: IndexedToken,
  foundOther: RoutedToken,
): GroupPool | null {
  if (foundOther.hops >= HOPS_MAX || input.isBarred(token, other.address)) return null;
  return input.poolOf(leg, other === leg.first, foundOther.usd);
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
  const token = otherToken(leg, pricedToken);
  const found = routed.get(pricedToken);
  // Skips a leg to the token in which `pricedToken` itself is priced. Most legs that get here are such legs.
  if (found === undefined || found.next === token) return;
  if (routed.get(token)?.hops === 0 || leadsThrough(pricedToken, token, routed)) return;
  const pool = poolOf(input, leg, token, pricedToken, found);
  if (pool === null) return;
  let groups = unusedGroups.get(token);
  if (groups === undefined) unusedGroups.set(token, (groups = []));
  addPool(groupOf(groups, token, found, pricedToken.address, false), pool);
}

/**
 * The token's group of pools with this neighbour. The legs of a newly priced neighbour are visited one after the other,
 * so only the token's newest group can be this group. A first leg (`isFirst`) may belong to any group.
 */
function groupOf(
  groups: Group[],
  token: IndexedToken,
  foundOther: RoutedToken,
  other: Hex,
  isFirst: boolean,
): Group {
  const neighbour = foundOther.hops === 0 ? ALL_ANCHORS : other;
  const sameNeighbour = isFirst
    ? groups.find((group) => group.neighbour === neighbour)
    : groups[groups.length - 1];
  if (sameNeighbour?.neighbour === neighbour) return sameNeighbour;
  const group = newGroup(token, foundOther, other);
  groups.push(group);
  return group;
}

function newGroup(token: IndexedToken, { hops, depthUsd }: RoutedToken, other: Hex): Group {
  const neighbour = hops === 0 ? ALL_ANCHORS : other;
  return { token, neighbour, hops, depthBeyond: depthUsd, depth: 0, pools: [] };
}

/** Adds a pool to the group. `sumDepth` must follow before the depth is used. */
function addPool(group: Group, pool: GroupPool): void {
  group.pools.push(pool);
  group.depth = NaN;
}

/** Sums are computed in key order, so the order of legs does not change any bit. */
function sumDepth(group: Group): void {
  const { pools } = group;
  if (pools.length > 1) pools.sort((a, b) => (a.leg.key < b.leg.key ? -1 : 1));
  group.depth = 0;
  for (const { weight } of pools) group.depth += weight;
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
function priceByGroup(input: RouteSearch, routed: RoutedTokens, group: Group): RoutedToken | null {
  const { token, pools } = group;
  const [firstPool] = pools;
  if (firstPool === undefined) return null;
  const next =
    group.neighbour === ALL_ANCHORS ? deepestAnchor(input.anchors, group) : otherToken(firstPool.leg, token);
  if (next === undefined) return null;
  const price = input.priceGroup(token, next.address, pools);
  const usd = price.price * (routed.get(next)?.usd ?? 0);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  return { usd, hops: group.hops + 1, depthUsd: widthOf(group), next, pools, price, recent: input.recent };
}

/** The anchor with the most depth. Ties go to the first configured one. */
function deepestAnchor(anchors: AnchorPrices, { token, pools }: Group): IndexedToken | undefined {
  let best: { readonly token: IndexedToken; readonly depth: number } | undefined;
  for (const address of anchors.keys()) {
    let anchor: IndexedToken | undefined;
    let depth = 0;
    for (const { leg, weight } of pools) {
      const other = otherToken(leg, token);
      if (other.address !== address) continue;
      anchor = other;
      depth += weight;
    }
    if (anchor !== undefined && (best === undefined || depth > best.depth)) best = { token: anchor, depth };
  }
  return best?.token;
}
