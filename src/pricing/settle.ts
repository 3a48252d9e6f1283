/**
 * Finds routes: tokens are settled from the anchors outwards in the order of the depth of their narrowest hop, the
 * deepest first (widest-path Dijkstra). A token is priced only by pools whose other token was settled before it, so there
 * are no cycles. Only the known side of a pool counts as depth. Ties go by address.
 */
import type { Hex } from '../domain/hex';
import { hopConfidence, STALE_SECONDS } from './confidence';
import { DORMANT_SECONDS } from './epoch';
import { DEPTH_PART, type LegKey, type LegState } from './leg';
import type { LegEntry, TokenEntry } from './legBook';
import { priceRouteHop, type AnchorPrices, type Market } from './market';
import { PriorityQueue } from './priorityQueue';
import { HOPS_MAX, type Route, type RoutePool, type RouteWarning } from './route';

/** The known side of a pool must hold so many USD for it to exist. */
export const BACKING_MIN_USD = 50;
/** An anchor side below it is called thin. */
const THIN_USD = 1_000;
/** Absurd depths are all the same, so that their sums stay floats. */
const OCTAVES_MAX = 960;
/** Stands for all anchors together: pools with any of them make one hop. */
const ANCHORS = 'anchors';

/** A token with a price, and how it came by it. */
export interface Settled {
  readonly route: Route<LegEntry>;
  /** USD per whole token. */
  readonly usd: number;
}

/** In the order in which tokens were settled. */
export type SettledTokens = Map<TokenEntry, Settled>;

/** What a leg counts with. */
export interface LegWeight {
  readonly state: LegState;
  /** Liquidity that counts: of the epoch before, or, for recent routes, that of now. */
  readonly liquidity: number;
  /** Seconds since it moved. */
  readonly age: number;
}

export interface SettleInput {
  readonly market: Market<LegEntry>;
  readonly anchors: AnchorPrices;
  /** Legs by which others may be priced in the token, or more. */
  legsOf(token: TokenEntry): readonly LegEntry[];
  /** Null: the leg does not count. */
  weigh(leg: LegEntry): LegWeight | null;
  /** Marks the routes found as recent. */
  readonly recent: boolean;
}

interface GroupPool extends RoutePool<LegEntry> {
  readonly other: TokenEntry;
  readonly backingUsd: number;
  readonly age: number;
}

/** Pools of one unsettled token with one settled neighbour (or with all anchors). */
interface Group {
  readonly neighbour: Hex | typeof ANCHORS;
  readonly hops: number;
  /** Depth of the narrowest hop beyond it. */
  readonly beyond: number;
  depth: number;
  /** In the order of their keys. */
  readonly pools: GroupPool[];
}

/** Extends `settled` by every token that can be reached through the legs given, and from the tokens so reached. */
export function settle(input: SettleInput, settled: SettledTokens, from: Iterable<LegEntry>): void {
  const groups = new Map<TokenEntry, Group[]>();
  const queue = new PriorityQueue<TokenEntry>();
  // Every leg of every token with a price comes here, most to be left out: that has to be quick.
  const relax = (leg: LegEntry): void => {
    const [token0, token1] = leg.tokens;
    const known0 = settled.get(token0);
    const known1 = settled.get(token1);
    // One token has a price, the other one waits for it.
    const known = known0 ?? known1;
    if (known === undefined || (known0 !== undefined && known1 !== undefined)) return;
    if (known.route.hops >= HOPS_MAX) return;
    const [token, other] = known === known0 ? [token1, token0] : [token0, token1];
    const weight = input.weigh(leg);
    if (weight === null || weight.age > DORMANT_SECONDS) return;
    const side = knownSide(weight, known === known0, known.usd);
    if (!(side.backingUsd >= BACKING_MIN_USD)) return;
    let ofToken = groups.get(token);
    if (ofToken === undefined) groups.set(token, (ofToken = []));
    const pool = {
      leg,
      weight: inSteps(side.depthUsd),
      other,
      backingUsd: side.backingUsd,
      age: weight.age,
    };
    if (!addPool(groupOf(ofToken, known.route, other.address), pool)) return;
    const best = bestGroup(ofToken);
    if (best !== null) queue.push(widthOf(best), token);
  };
  for (const leg of from) relax(leg);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { priority, value: token } = next;
    const ofToken = groups.get(token) ?? [];
    const group = bestGroup(ofToken);
    // One entry has the width of now; the others are from when fewer pools were known, or more groups.
    if (group === null || widthOf(group) !== priority) continue;
    const found = priceByGroup(input, settled, token, group);
    if (found === null) {
      // Its pools have no price after all: it waits for its turn by the next widest.
      ofToken.splice(ofToken.indexOf(group), 1);
      const narrower = bestGroup(ofToken);
      if (narrower !== null) queue.push(widthOf(narrower), token);
      continue;
    }
    settled.set(token, found);
    groups.delete(token);
    if (found.route.hops < HOPS_MAX) for (const leg of input.legsOf(token)) relax(leg);
  }
}

/** The token's group of pools with a neighbour that has this route. */
function groupOf(ofToken: Group[], { hops, depthUsd }: Route, other: Hex): Group {
  const neighbour = hops === 0 ? ANCHORS : other;
  const known = ofToken.find((group) => group.neighbour === neighbour);
  if (known !== undefined) return known;
  const group: Group = { neighbour, hops, beyond: hops === 0 ? Infinity : depthUsd, depth: 0, pools: [] };
  ofToken.push(group);
  return group;
}

/** False where it is known. Summed in the order of the keys: the order in which legs are met must not show in the last bit. */
function addPool(group: Group, pool: GroupPool): boolean {
  const { pools } = group;
  const at = placeOf(pools, pool.leg.key);
  if (pools[at]?.leg.key === pool.leg.key) return false;
  pools.splice(at, 0, pool);
  let depth = 0;
  for (const { weight } of pools) depth += weight;
  group.depth = depth;
  return true;
}

/** Index of the first pool whose key is not below. */
function placeOf(pools: readonly GroupPool[], key: LegKey): number {
  let low = 0;
  let high = pools.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pools[middle]?.leg.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** USD behind the known side, and USD on it that move the price by 2 %; never more than what is really there. */
export function knownSide(
  { state, liquidity }: Pick<LegWeight, 'state' | 'liquidity'>,
  isToken0: boolean,
  usd: number,
): { backingUsd: number; depthUsd: number } {
  if (!(state.price > 0) || !(liquidity > 0)) return { backingUsd: 0, depthUsd: 0 };
  const root = Math.sqrt(state.price);
  const virtual = isToken0 ? liquidity / root : liquidity * root;
  const real = isToken0 ? state.reserve0 : state.reserve1;
  const backingUsd = Math.min(virtual, real) * usd;
  const depthUsd = Math.min(virtual * DEPTH_PART, real) * usd;
  return Number.isFinite(depthUsd) && Number.isFinite(backingUsd)
    ? { backingUsd, depthUsd }
    : { backingUsd: 0, depthUsd: 0 };
}

/** Rounded to an eighth of an octave, so that routes change when liquidity does and not with every trade. */
export function inSteps(depthUsd: number): number {
  return 2 ** Math.min(OCTAVES_MAX, Math.round(Math.log2(depthUsd) * 8) / 8);
}

function widthOf(group: Group): number {
  return Math.min(group.beyond, group.depth);
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

/** Null: no pool of the group has a price. */
function priceByGroup(
  input: SettleInput,
  settled: ReadonlyMap<TokenEntry, Settled>,
  { address: token }: TokenEntry,
  group: Group,
): Settled | null {
  const { pools } = group;
  const nextToken = group.neighbour === ANCHORS ? deepestAnchor(input.anchors, group) : pools[0]?.other;
  if (nextToken === undefined) return null;
  const { address: next } = nextToken;
  const hop = priceRouteHop({ token, next, pools }, input.market, input.anchors);
  const usd = hop.price * (settled.get(nextToken)?.usd ?? 0);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  const used = hop.pools.flatMap(({ key, weight }) => {
    const pool = pools[placeOf(pools, key)];
    return pool === undefined ? [] : [{ weight, backingUsd: pool.backingUsd, age: pool.age }];
  });
  const stale = used.every(({ age }) => age > STALE_SECONDS);
  const warnings: RouteWarning[] = [];
  if (input.recent) warnings.push('recent_pool');
  if (stale) warnings.push('stale_price');
  if (used.reduce((sum, { backingUsd }) => sum + backingUsd, 0) < THIN_USD) warnings.push('thin_anchor');
  const route: Route<LegEntry> = {
    token,
    next,
    hops: group.hops + 1,
    confidence: hopConfidence(used, hop.deviation(), input.recent),
    depthUsd: widthOf(group),
    recent: input.recent,
    stale,
    pools: pools.map(({ leg, weight }) => ({ leg, weight })),
    warnings: warnings.sort(),
  };
  return { route, usd };
}

/** The anchor with the most depth; of equals the first one configured. */
function deepestAnchor(anchors: AnchorPrices, { pools }: Group): TokenEntry | undefined {
  let best: { readonly token: TokenEntry; readonly depth: number } | undefined;
  for (const address of anchors.keys()) {
    let token: TokenEntry | undefined;
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
