/**
 * Finds the routes of an epoch from the state of all legs before its first block. Pure. Pools with enough age, makers
 * and mean liquidity come first. A token without such pools gets a route of low confidence, from the current liquidity
 * of its pools.
 */
import { ZERO_ADDRESS } from '../../domain/hex';
import { judgeAnchors, type PegInput } from '../anchors';
import { ANCHOR_CONFIDENCE } from '../confidence';
import { matureFrom, unswappedAt } from '../epoch';
import { NO_STATE } from '../leg';
import { anchorPrices, ceilingsOf, priceNewHop, type AnchorPrices, type Market } from '../market';
import { RoutedTokens, type IndexedLeg, type IndexedToken, type RoutedToken } from '../indexedToken';
import { noRoute, samePools, sameRoute, type PriceAnchor, type PriceRoute } from '../priceRoute';
import type { LegDepths } from './legDepths';
import { avoidPrivateRoutes } from './privateRoutes';
import { groupPriceOf, makeRoute } from './makeRoute';
import { routeLeaves, searchRoutes, type RouteSearch } from './searchRoutes';

interface RouteInput extends PegInput {
  readonly anchors: readonly PriceAnchor[];
  /** The anchors that held their peg in the epoch before. */
  readonly anchorsBefore: AnchorPrices;
  /** First block of the epoch. */
  readonly block: number;
  /** Least age of a pool that sets a trusted price, in blocks. */
  readonly matureAge: number;
  readonly depths: LegDepths;
  /** The token of an anchor. */
  tokenOf(anchor: PriceAnchor): IndexedToken;
}

interface EpochRoutes {
  /** Anchors that hold their peg. */
  readonly anchors: AnchorPrices;
  /** All tokens with a route. */
  readonly routed: RoutedTokens;
  /** The routes that differ from the present routes of their tokens. */
  readonly changed: readonly (readonly [IndexedToken, PriceRoute<IndexedLeg>])[];
}

/** Finds the anchors and routes of the epoch. Reads only the records of legs that moved within 30 days. */
export function findEpochRoutes(input: RouteInput): EpochRoutes {
  const { time, matureAge, depths, tokenOf } = input;
  const { sound, abovePeg } = judgeAnchors(input.anchors, input);
  const hasSameAnchors =
    sound.length === input.anchorsBefore.size &&
    sound.every(({ address }) => input.anchorsBefore.has(address));
  const anchors = hasSameAnchors ? input.anchorsBefore : anchorPrices(sound);
  depths.update(time, matureAge);
  const confirmedInput: RouteSearch = {
    anchors,
    priceGroup: groupPricer(input, anchors),
    recent: false,
    isBarred: () => false,
    legsOf: ({ live }) => live,
    // A pool with the wrapped native token makes a direct pool (privateRoutes.ts), so this token is no leaf.
    isLeaf: (token) => token.isLeaf && token.address !== input.wrappedNative,
    poolOf: (leg, isToken0, usd) => depths.poolOf(leg, isToken0, usd, input, true),
  };
  let rest: ReturnType<typeof searchRoutes> = { unused: [], leaves: [], otherDepths: new Map() };
  const search = (isBarred: RouteSearch['isBarred']): RoutedTokens => {
    const routed = new RoutedTokens();
    for (const anchor of sound) routed.set(tokenOf(anchor), foundAnchor(anchor));
    const anchorLegs = sound.flatMap((anchor) => tokenOf(anchor).live);
    rest = searchRoutes({ ...confirmedInput, isBarred }, routed, anchorLegs);
    return routed;
  };
  let unused: readonly IndexedLeg[] = [];
  const { routed, privateTokens } = avoidPrivateRoutes(search, {
    ...input,
    poolOf: confirmedInput.poolOf,
    addLeaves: (found) => (unused = rest.unused.concat(routeLeaves(confirmedInput, found, rest.leaves))),
  });
  const { otherDepths } = rest;
  const poolOf: RouteSearch['poolOf'] = (leg, isToken0, usd) =>
    depths.poolOf(leg, isToken0, usd, input, false);
  searchRoutes({ ...confirmedInput, poolOf, recent: true, isLeaf: () => false }, routed, unused);
  const depegged = new Set(input.anchors.filter((anchor) => !sound.includes(anchor)).map(tokenOf));
  const changed: (readonly [IndexedToken, PriceRoute<IndexedLeg>])[] = [];
  for (const anchor of sound) {
    const token = tokenOf(anchor);
    const route = anchorRoute(anchor, abovePeg.has(anchor));
    if (token.route === null || !sameRoute(token.route, route)) changed.push([token, route]);
  }
  for (const token of routed.tokens) {
    const found = routed.get(token);
    if (found === undefined || found.hops === 0) continue;
    const route = makeRoute(token, found, {
      otherDepthUsd: otherDepths.get(token) ?? 0,
      isPrivate: privateTokens.has(token),
      isDepegged: depegged.has(token),
      isYoung: found.recent && found.pools.some(({ leg }) => isYoung(leg, input)),
    });
    if (route !== token.route) changed.push([token, route]);
  }
  return { anchors, routed, changed };
}

function isYoung({ record }: IndexedLeg, { block, matureAge }: RouteInput): boolean {
  return record === undefined || block < matureFrom(record, matureAge);
}

/** Prices groups by the records of their pools. Keeps a price until a pool has a new record. */
function groupPricer(input: RouteInput, anchors: AnchorPrices): RouteSearch['priceGroup'] {
  const { time } = input;
  const market: Market<IndexedLeg> = {
    stateOf: ({ record }) => record?.state ?? NO_STATE,
    recordOf: ({ record }) => record,
    tradedIn: () => 0,
    unswappedIn: ({ record }) => unswappedAt(record, time),
    ceilingOf: ceilingsOf(input.anchors),
    epochTime: time,
  };
  return (token, next, pools) => {
    const kept = token.groupPrice;
    if (kept !== null && kept.next === next && kept.anchors === anchors) {
      // A single pool sets the price whatever its weight is.
      const isSame = pools.length === 1 ? kept.onlyLeg === pools[0]?.leg : samePools(kept.pools, pools);
      if (isSame) return kept;
    }
    const hop = priceNewHop({ token: token.address, next, pools }, market, anchors);
    const groupPrice = groupPriceOf(hop, { next, pools, anchors });
    // A price that depends on means changes with the time. Any other price lasts until the next record.
    token.groupPrice = hop.deviates ? null : groupPrice;
    return groupPrice;
  };
}

function foundAnchor({ priceUsd }: PriceAnchor): RoutedToken {
  return { usd: priceUsd, hops: 0, depthUsd: Infinity, next: null, pools: [], price: null, recent: false };
}

function anchorRoute({ address }: PriceAnchor, isAbove: boolean): PriceRoute<IndexedLeg> {
  return {
    ...noRoute(address),
    next: ZERO_ADDRESS,
    confidence: ANCHOR_CONFIDENCE,
    depthUsd: Infinity,
    warnings: isAbove ? ['anchor_above_peg'] : [],
  };
}
