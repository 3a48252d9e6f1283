/**
 * A slow and plain search for the routes of an epoch: it scans all candidates, takes the one with the most
 * depth, and repeats. Shares no code with the search in src/pricing.
 */
import type { Hex } from '../../../src/domain/hex';
import type { LegRecord } from '../../../src/pricing/epoch';
import type { Leg } from '../../../src/pricing/leg';

interface NaiveRoute {
  readonly token: Hex;
  readonly next: Hex;
  readonly hops: number;
  readonly width: number;
  /** Depth of the hop in USD. */
  readonly depth: number;
  /** Depth in USD of the deepest route that the token could have instead of this one, rounded down to a power of 2. */
  readonly otherDepthUsd: number;
  readonly usd: number;
  readonly keys: readonly string[];
  readonly recent: boolean;
}

interface NaiveInput {
  readonly anchors: ReadonlyMap<Hex, number>;
  readonly wrappedNative: Hex | null;
  readonly legs: readonly Leg[];
  readonly records: ReadonlyMap<string, LegRecord>;
  readonly block: number;
  readonly time: number;
  /** The price of a token in the next token over the pools with these weights; 0 if there is no price. */
  price(token: Hex, next: Hex, pools: readonly { leg: Leg; weight: number }[]): number;
}

interface Candidate {
  readonly token: Hex;
  readonly neighbour: string;
  readonly width: number;
  readonly hops: number;
  readonly pools: readonly { leg: Leg; weight: number; backingUsd: number; other: Hex }[];
}

export function naiveRoutes(input: NaiveInput): Map<Hex, NaiveRoute> {
  let found = anchorsOf(input);
  let dead = extend(input, found, false, new Set());
  const barred = barredPairs(input, found);
  if (barred.size > 0) {
    found = anchorsOf(input);
    dead = extend(input, found, false, barred);
  }
  for (const [token, depth] of otherDepths(input, found, dead))
    found.set(token, { ...found.get(token)!, otherDepthUsd: 2 ** Math.floor(Math.log2(depth)) });
  extend(input, found, true, new Set());
  return found;
}

function anchorsOf({ anchors }: NaiveInput): Map<Hex, NaiveRoute> {
  return new Map(
    [...anchors].map(([token, usd]) => [
      token,
      {
        token,
        next: token,
        hops: 0,
        width: Infinity,
        depth: Infinity,
        otherDepthUsd: 0,
        usd,
        keys: [],
        recent: false,
      },
    ]),
  );
}

/**
 * Adds the candidate route with the most depth, and repeats until no candidate is left. `barred` lists pairs `token
 * next`: the token must not get a route through this next token. Returns the barred pairs and the pairs that gave no
 * price.
 */
function extend(
  input: NaiveInput,
  found: Map<Hex, NaiveRoute>,
  recent: boolean,
  barred: ReadonlySet<string>,
): ReadonlySet<string> {
  const dead = new Set(barred);
  for (;;) {
    const [best] = candidates(input, found, recent)
      .filter(({ token, neighbour }) => !dead.has(`${token} ${neighbour}`))
      .sort((a, b) => b.width - a.width || compare(a.token, b.token) || compare(a.neighbour, b.neighbour));
    if (best === undefined) return dead;
    const next = best.neighbour === 'anchors' ? deepest(input, best) : (best.neighbour as Hex);
    const usd = input.price(best.token, next, best.pools) * found.get(next)!.usd;
    if (!(usd > 0) || usd === Infinity) dead.add(`${best.token} ${best.neighbour}`);
    else
      found.set(best.token, {
        token: best.token,
        next,
        hops: best.hops,
        width: best.width,
        depth: best.pools.reduce((sum, { weight }) => sum + weight, 0),
        otherDepthUsd: 0,
        usd,
        keys: best.pools.map(({ leg }) => leg.key),
        recent,
      });
  }
}

/**
 * For each token with an alternative route, the depth of the deepest one. An alternative route differs from the token's
 * route in its first hop, or follows this route for some hops and then leaves it. It has at most 4 hops.
 */
function otherDepths(
  input: NaiveInput,
  found: ReadonlyMap<Hex, NaiveRoute>,
  dead: ReadonlySet<string>,
): Map<Hex, number> {
  const depths = new Map<Hex, number>();
  for (const route of found.values())
    for (const { other, depth } of unusedGroups(input, found, route, dead)) {
      const beyond = found.get(other)!;
      let width = Math.min(depth, beyond.width);
      let at = route;
      for (let length = beyond.hops + 1; length <= 4 && at.hops > 0; length += 1) {
        if (pathOf(found, other).includes(at.token)) break;
        depths.set(at.token, Math.max(depths.get(at.token) ?? 0, width));
        width = Math.min(width, at.depth);
        at = found.get(at.next)!;
      }
    }
  return depths;
}

/**
 * Lists the other tokens in which the token could be priced, except the one in which it is priced. Each has the total
 * depth of its pools with the token. All anchors count as one token.
 */
function unusedGroups(
  input: NaiveInput,
  found: ReadonlyMap<Hex, NaiveRoute>,
  { token, next, hops }: NaiveRoute,
  dead: ReadonlySet<string>,
): Iterable<{ other: Hex; depth: number }> {
  const used = hops === 1 ? 'anchors' : next;
  const groups = new Map<string, { other: Hex; depth: number }>();
  if (hops === 0) return [];
  for (const leg of [...input.legs].sort((a, b) => compare(a.key, b.key))) {
    if (leg.token0 !== token && leg.token1 !== token) continue;
    const other = leg.token0 === token ? leg.token1 : leg.token0;
    const known = found.get(other);
    if (known === undefined || known.hops === 4 || pathOf(found, other).includes(token)) continue;
    const name = known.hops === 0 ? 'anchors' : other;
    const side = weightOf(input, leg, other, known.usd, false);
    if (name === used || dead.has(`${token} ${name}`) || side === null) continue;
    groups.set(name, { other, depth: (groups.get(name)?.depth ?? 0) + side.weight });
  }
  return groups.values();
}

function pathOf(found: ReadonlyMap<Hex, NaiveRoute>, token: Hex): Hex[] {
  const { next, hops } = found.get(token)!;
  return hops === 0 ? [token] : [token, ...pathOf(found, next)];
}

/** Private routes of tokens that also have a pool with an anchor or the native token. */
function barredPairs(input: NaiveInput, found: ReadonlyMap<Hex, NaiveRoute>): Set<string> {
  /** Lists the routed tokens that have a pool with this token and 1,000 USD in it. */
  const marketsOf = (token: Hex): NaiveRoute[] =>
    input.legs.flatMap((leg) => {
      if (leg.token0 !== token && leg.token1 !== token) return [];
      const other = found.get(leg.token0 === token ? leg.token1 : leg.token0);
      const side = other === undefined ? null : weightOf(input, leg, other.token, other.usd, false);
      return other !== undefined && side !== null && side.backingUsd >= 1_000 ? [other] : [];
    });
  const pairs = new Set<string>();
  for (const { token, next, hops } of found.values()) {
    if (hops < 2 || next === input.wrappedNative) continue;
    const isDirect = (of: Hex): boolean =>
      marketsOf(of).some((other) => other.hops === 0 || other.token === input.wrappedNative);
    const isPublic = marketsOf(next).some(
      (other) =>
        other.token !== token &&
        other.hops > 0 &&
        (!pathOf(found, other.token).includes(next) || isDirect(other.token)),
    );
    if (!isPublic && isDirect(token)) pairs.add(`${token} ${next}`);
  }
  return pairs;
}

function candidates(input: NaiveInput, found: ReadonlyMap<Hex, NaiveRoute>, recent: boolean): Candidate[] {
  const groups = new Map<string, { token: Hex; neighbour: string; pools: Candidate['pools'][number][] }>();
  for (const leg of [...input.legs].sort((a, b) => compare(a.key, b.key))) {
    for (const [token, other] of [
      [leg.token0, leg.token1],
      [leg.token1, leg.token0],
    ] as const) {
      const known = found.get(other);
      const side = known === undefined ? null : weightOf(input, leg, other, known.usd, recent);
      if (found.has(token) || known === undefined || known.hops === 4 || side === null) continue;
      const neighbour = known.hops === 0 ? 'anchors' : other;
      const name = `${token} ${neighbour}`;
      const group = groups.get(name) ?? { token, neighbour, pools: [] };
      groups.set(name, group);
      group.pools.push({ leg, other, ...side });
    }
  }
  return [...groups.values()].map((group) => {
    const known = group.neighbour === 'anchors' ? undefined : found.get(group.neighbour as Hex)!;
    const depth = group.pools.reduce((sum, { weight }) => sum + weight, 0);
    return { ...group, width: Math.min(depth, known?.width ?? Infinity), hops: 1 + (known?.hops ?? 0) };
  });
}

/** The mean liquidity at a time after the record, from the integral over the 30-minute kernel. */
function meanAt({ at, state, depthLiquidity, depthWeight }: LegRecord, time: number): number {
  if (!(time > at)) return depthWeight > 0 ? depthLiquidity : state.liquidity;
  const decay = Math.exp(-(time - at) / 1_800);
  const weight = depthWeight * decay + (1 - decay);
  return state.liquidity + (depthLiquidity - state.liquidity) * ((depthWeight * decay) / weight);
}

/**
 * The pool's USD on the side of the `known` token, and its depth: the USD that moves the price by 2 %. The
 * depth is rounded to powers of 2^(1/8). Returns null if the pool gets no weight.
 */
function weightOf(
  input: NaiveInput,
  leg: Leg,
  known: Hex,
  usd: number,
  recent: boolean,
): { weight: number; backingUsd: number } | null {
  const record = input.records.get(leg.key);
  if (record === undefined || input.time - record.movedAt > 30 * 86_400) return null;
  const { price, liquidity, reserve0, reserve1 } = record.state;
  const isYoung =
    record.bornBlock !== 0 && (input.block - record.bornBlock < 100 || record.makers.length < 2);
  if (!recent && isYoung) return null;
  const counted = recent ? liquidity : Math.min(meanAt(record, input.time), liquidity);
  if (!(price > 0) || !(counted > 0)) return null;
  const virtual = known === leg.token0 ? counted / Math.sqrt(price) : counted * Math.sqrt(price);
  const real = known === leg.token0 ? reserve0 : reserve1;
  // The pool's real balance of the token without a price, converted to the known token by the pool's price.
  const opposite = known === leg.token0 ? reserve1 / price : reserve0 * price;
  const part = Math.sqrt(1.02) - 1;
  const depth = Math.min(virtual * part, real, opposite);
  const backingUsd = Math.min(virtual, real, depth / part) * usd;
  if (backingUsd < 50 || !Number.isFinite(virtual * usd)) return null;
  const weight = 2 ** (Math.round(Math.log2(depth * usd) * 8) / 8);
  return { weight, backingUsd };
}

function deepest({ anchors }: NaiveInput, { pools }: Candidate): Hex {
  const depths = [...anchors.keys()].map((anchor) => ({
    anchor,
    depth: pools.reduce((sum, { other, weight }) => sum + (other === anchor ? weight : 0), 0),
  }));
  return depths.reduce((best, one) => (one.depth > best.depth ? one : best)).anchor;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
