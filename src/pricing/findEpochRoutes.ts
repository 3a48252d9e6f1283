/**
 * Finds the routes of an epoch from the state of all legs before its first block. Pure. Pools with enough age, makers
 * and mean liquidity come first. A token without such pools gets a route of low confidence, from the current liquidity
 * of its pools.
 */
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import { judgeAnchors, type PegInput } from './anchors';
import { ANCHOR_CONFIDENCE } from './confidence';
import { confirmedLiquidity } from './depth';
import { isMature, unswappedAt } from './epoch';
import { NO_STATE } from './leg';
import type { IndexedLeg, IndexedToken } from './poolIndex';
import { anchorPrices, ceilingsOf, priceNewHop, type AnchorPrices, type Market } from './market';
import { noRoute, type PriceAnchor, type PriceRoute } from './priceRoute';
import { avoidPrivateRoutes } from './privateRoutes';
import { searchRoutes, type LegWeight, type RouteSearch, type RoutedTokens } from './searchRoutes';

interface RouteInput extends PegInput {
  readonly anchors: readonly PriceAnchor[];
  /** First block of the epoch. */
  readonly block: number;
  /** Least age of a pool that sets a trusted price, in blocks. */
  readonly matureAge: number;
  /** The token of an anchor. */
  tokenOf(anchor: PriceAnchor): IndexedToken;
  findToken(address: Hex): IndexedToken | undefined;
}

interface EpochRoutes {
  /** Anchors that hold their peg. */
  readonly anchors: AnchorPrices;
  readonly routed: RoutedTokens;
}

/** Finds the anchors and routes of the epoch. Reads only the records of legs that moved within 30 days. */
export function findEpochRoutes(input: RouteInput): EpochRoutes {
  const { block, time, matureAge, tokenOf } = input;
  const { sound, abovePeg } = judgeAnchors(input.anchors, input);
  const anchors = anchorPrices(sound);
  const market: Market<IndexedLeg> = {
    stateOf: ({ record }) => record?.state ?? NO_STATE,
    recordOf: ({ record }) => record,
    tradedIn: () => 0,
    unswappedIn: ({ record }) => unswappedAt(record, time),
    ceilingOf: ceilingsOf(input.anchors),
    epochTime: time,
  };
  const isYoung = ({ record }: IndexedLeg): boolean =>
    record === undefined || !isMature(record, block, matureAge);
  const weigh = ({ record }: IndexedLeg, confirmed: boolean): LegWeight | null => {
    if (record === undefined || (confirmed && !isMature(record, block, matureAge))) return null;
    const { state } = record;
    const liquidity = confirmed ? confirmedLiquidity(record, time) : state.liquidity;
    return { state, liquidity, ageSeconds: time - record.movedAt };
  };
  const legsOf = ({ live }: IndexedToken): readonly IndexedLeg[] => live;
  const priceHop: RouteSearch['priceHop'] = (route) => priceNewHop(route, market, anchors);
  const sharedInput = { isYoung, priceHop, anchors, legsOf, isBarred: () => false };
  const confirmedInput = { ...sharedInput, recent: false, weigh: (leg: IndexedLeg) => weigh(leg, true) };
  let unused: readonly IndexedLeg[] = [];
  const search = (isBarred: RouteSearch['isBarred']): RoutedTokens => {
    const routed: RoutedTokens = new Map();
    for (const anchor of sound)
      routed.set(tokenOf(anchor), { route: anchorRoute(anchor, abovePeg.has(anchor)), usd: anchor.priceUsd });
    const anchorLegs = [...routed.keys()].flatMap(({ live }) => live);
    unused = searchRoutes({ ...confirmedInput, isBarred }, routed, anchorLegs);
    return routed;
  };
  const { wrappedNative } = input;
  const routed = avoidPrivateRoutes(search, { ...input, wrappedNative, weigh: confirmedInput.weigh });
  searchRoutes({ ...sharedInput, recent: true, weigh: (leg) => weigh(leg, false) }, routed, unused);
  for (const anchor of input.anchors) if (!sound.includes(anchor)) markDepegged(tokenOf(anchor), routed);
  return { anchors, routed };
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

/** An anchor that lost its role is priced like any token, with a warning. */
function markDepegged(anchor: IndexedToken, routed: RoutedTokens): void {
  const routedToken = routed.get(anchor);
  if (routedToken === undefined) return;
  const warnings = [...routedToken.route.warnings, 'anchor_depeg' as const].sort();
  routed.set(anchor, { ...routedToken, route: { ...routedToken.route, warnings } });
}
