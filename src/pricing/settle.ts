/**
 * Finds routes: tokens are settled from the anchors outwards in the order of the depth of their narrowest hop, the
 * deepest first (widest-path Dijkstra). A token is priced only by pools whose other token was settled before it, so there
 * are no cycles. Only the known side of a pool counts as depth. Ties go by address.
 */
import type { Hex } from '../domain/hex';
import { hopConfidence, STALE_SECONDS } from './confidence';
import { DEPTH_PART, type Leg, type LegState } from './leg';
import { DORMANT_SECONDS } from './liveLegs';
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
  readonly route: Route;
  /** USD per whole token. */
  readonly usd: number;
}

/** What a leg counts with. */
export interface LegWeight {
  readonly state: LegState;
  /** Liquidity that counts: of the epoch before, or, for recent routes, that of now. */
  readonly liquidity: number;
  /** Seconds since it moved. */
  readonly age: number;
}

/** A leg and whatever it is weighed by. */
export interface Edge {
  readonly leg: Leg;
}

export interface SettleInput<E extends Edge> {
  readonly market: Market;
  readonly anchors: AnchorPrices;
  edgesOf(token: Hex): Iterable<E>;
  /** Null: the leg does not count. */
  weigh(edge: E): LegWeight | null;
  /** Marks the routes found as recent. */
  readonly recent: boolean;
}

/** Pools of one unsettled token with one settled neighbour (or with all anchors). */
interface Group {
  readonly neighbour: Hex | typeof ANCHORS;
  readonly hops: number;
  /** Depth of the narrowest hop beyond it. */
  readonly beyond: number;
  depth: number;
  readonly pools: (RoutePool & { readonly other: Hex; readonly backingUsd: number; readonly age: number })[];
}

/** Extends `settled` by every token that can be reached through the legs given, and from the tokens so reached. */
export function settle<E extends Edge>(
  input: SettleInput<E>,
  settled: Map<Hex, Settled>,
  from: Iterable<E>,
): void {
  const groups = new Map<Hex, Map<string, Group>>();
  const queue = new PriorityQueue<Hex>();
  // Every leg of every token with a price comes here, most to be left out: that has to be quick.
  const relax = (edge: E): void => {
    const { token0, token1 } = edge.leg;
    const known0 = settled.get(token0);
    const known1 = settled.get(token1);
    // One token has a price, the other one waits for it.
    const known = known0 ?? known1;
    if (known === undefined || (known0 !== undefined && known1 !== undefined)) return;
    const [token, other] = known === known0 ? [token1, token0] : [token0, token1];
    if (known.route.hops >= HOPS_MAX || !addToGroup(input, groups, edge, { token, other, known })) return;
    const best = bestGroup(groups.get(token));
    if (best !== null) queue.push(widthOf(best), token);
  };
  for (const edge of from) relax(edge);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { priority, value: token } = next;
    const ofToken = groups.get(token);
    const group = bestGroup(ofToken);
    // One entry has the width of now; the others are from when fewer pools were known, or more groups.
    if (ofToken === undefined || group === null || widthOf(group) !== priority) continue;
    const found = priceByGroup(input, settled, token, group);
    if (found === null) {
      // Its pools have no price after all: it waits for its turn by the next widest.
      ofToken.delete(group.neighbour);
      const narrower = bestGroup(ofToken);
      if (narrower !== null) queue.push(widthOf(narrower), token);
      continue;
    }
    settled.set(token, found);
    groups.delete(token);
    if (found.route.hops < HOPS_MAX) for (const edge of input.edgesOf(token)) relax(edge);
  }
}

/** False where the leg does not count. */
function addToGroup<E extends Edge>(
  input: SettleInput<E>,
  groups: Map<Hex, Map<string, Group>>,
  edge: E,
  { token, other, known }: { readonly token: Hex; readonly other: Hex; readonly known: Settled },
): boolean {
  const { leg } = edge;
  const weight = input.weigh(edge);
  if (weight === null || weight.age > DORMANT_SECONDS) return false;
  const side = knownSide(weight, other === leg.token0, known.usd);
  if (!(side.backingUsd >= BACKING_MIN_USD)) return false;
  const anchored = known.route.hops === 0;
  const neighbour = anchored ? ANCHORS : other;
  const ofToken = groups.get(token) ?? new Map<string, Group>();
  groups.set(token, ofToken);
  const group = ofToken.get(neighbour) ?? {
    neighbour,
    hops: known.route.hops,
    beyond: anchored ? Infinity : known.route.depthUsd,
    depth: 0,
    pools: [],
  };
  ofToken.set(neighbour, group);
  if (group.pools.some((pool) => pool.leg.key === leg.key)) return false;
  // Summed in the order of the keys: the order in which legs are met must not show in the last bit.
  const at = group.pools.findIndex((pool) => pool.leg.key > leg.key);
  group.pools.splice(at < 0 ? group.pools.length : at, 0, {
    leg,
    weight: inSteps(side.depthUsd),
    other,
    backingUsd: side.backingUsd,
    age: weight.age,
  });
  group.depth = group.pools.reduce((sum, pool) => sum + pool.weight, 0);
  return true;
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

function bestGroup(groups: ReadonlyMap<string, Group> | undefined): Group | null {
  let best: Group | null = null;
  for (const group of groups?.values() ?? []) {
    if (best === null || isWider(group, best)) best = group;
  }
  return best;
}

function isWider(a: Group, b: Group): boolean {
  const difference = widthOf(a) - widthOf(b);
  return difference === 0 ? a.neighbour < b.neighbour : difference > 0;
}

/** Null: no pool of the group has a price. */
function priceByGroup<E extends Edge>(
  input: SettleInput<E>,
  settled: ReadonlyMap<Hex, Settled>,
  token: Hex,
  group: Group,
): Settled | null {
  const next = group.neighbour === ANCHORS ? deepestAnchor(input.anchors, group) : group.neighbour;
  const { pools } = group;
  const hop = priceRouteHop({ token, next, pools }, input.market, input.anchors);
  const usd = hop.price * (settled.get(next)?.usd ?? 0);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  const used = hop.pools.flatMap(({ key, weight }) => {
    const pool = pools.find((candidate) => candidate.leg.key === key);
    return pool === undefined ? [] : [{ weight, backingUsd: pool.backingUsd, age: pool.age }];
  });
  const stale = used.every(({ age }) => age > STALE_SECONDS);
  const warnings: RouteWarning[] = [];
  if (input.recent) warnings.push('recent_pool');
  if (stale) warnings.push('stale_price');
  if (used.reduce((sum, { backingUsd }) => sum + backingUsd, 0) < THIN_USD) warnings.push('thin_anchor');
  const route: Route = {
    token,
    next,
    hops: group.hops + 1,
    confidence: hopConfidence(used, hop.deviation, input.recent),
    depthUsd: widthOf(group),
    recent: input.recent,
    stale,
    pools: pools.map(({ leg, weight }) => ({ leg, weight })),
    warnings: warnings.sort(),
  };
  return { route, usd };
}

/** The anchor with the most depth; of equals the first one configured. */
function deepestAnchor(anchors: AnchorPrices, group: Group): Hex {
  let best: { readonly address: Hex; readonly depth: number } | null = null;
  for (const address of anchors.keys()) {
    let depth = 0;
    for (const pool of group.pools) if (pool.other === address) depth += pool.weight;
    if (depth > 0 && (best === null || depth > best.depth)) best = { address, depth };
  }
  if (best === null) throw new RangeError('a hop to the anchors without an anchor');
  return best.address;
}
