/**
 * Finds the routes of an epoch from the state of all legs before its first block. Pure; every price starts here.
 * Pools with anchors or the wrapped native token that carry a trusted price alone come first. Pools with enough age, makers and mean liquidity come first. Tokens without such pools get a route over current
 * liquidity, with low confidence.
 */
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import { judgeAnchors, type PegInput } from './anchors';
import { ANCHOR_CONFIDENCE, HALF_TRUST_USD, UNTRUSTED_MAX } from './confidence';
import { confirmedLiquidity, knownSide } from './depth';
import { isMature, unswappedAt } from './epoch';
import { NO_STATE } from './leg';
import type { IndexedLeg, IndexedToken } from './poolIndex';
import { anchorPrices, ceilingsOf, type AnchorPrices, type Market } from './market';
import { noRoute, type PriceAnchor, type PriceRoute } from './priceRoute';
import { searchRoutes, type LegWeight, type RoutedTokens } from './searchRoutes';

/** A market of a token counts from this value of the other token on. */
const MARKET_MIN_USD = 1_000;

export interface RouteInput extends PegInput {
  readonly anchors: readonly PriceAnchor[];
  /** The token of an anchor. */
  tokenOf(anchor: PriceAnchor): IndexedToken;
  findToken(address: Hex): IndexedToken | undefined;
  /** All legs that moved within 30 days; may include other legs. */
  live(): Iterable<IndexedLeg>;
}

export interface EpochRoutes {
  /** Anchors that hold their peg. */
  readonly anchors: AnchorPrices;
  readonly routed: RoutedTokens;
}

/** Reads only the records of the live legs. */
export function findEpochRoutes(input: RouteInput): EpochRoutes {
  const { block, time, tokenOf } = input;
  const { sound, above } = judgeAnchors(input.anchors, input);
  const anchors = anchorPrices(sound);
  const routed: RoutedTokens = new Map();
  for (const anchor of sound)
    routed.set(tokenOf(anchor), { route: anchorRoute(anchor, above.has(anchor)), usd: anchor.priceUsd });
  const market: Market<IndexedLeg> = {
    stateOf: ({ record }) => record?.state ?? NO_STATE,
    recordOf: ({ record }) => record,
    tradedIn: () => 0,
    unswappedIn: ({ record }) => unswappedAt(record, time),
    ceilingOf: ceilingsOf(input.anchors),
    epochTime: time,
  };
  const isYoung = ({ record }: IndexedLeg): boolean => record === undefined || !isMature(record, block);
  const common = {
    isYoung,
    market,
    anchors,
    legsOf: ({ live }: IndexedToken): readonly IndexedLeg[] => live,
    hopMinUsd: 0,
  };
  const weigh = ({ record }: IndexedLeg, confirmed: boolean): LegWeight | null => {
    if (record === undefined || (confirmed && !isMature(record, block))) return null;
    const { state } = record;
    const liquidity = confirmed ? confirmedLiquidity(record, time) : state.liquidity;
    return { state, liquidity, age: time - record.movedAt };
  };
  const confirmed = { ...common, recent: false, weigh: (leg: IndexedLeg) => weigh(leg, true) };
  const isHub = ({ address }: IndexedToken): boolean => address === input.wrappedNative;
  const direct = {
    ...confirmed,
    hopMinUsd: HALF_TRUST_USD,
    legsOf: (of: IndexedToken) => (isHub(of) ? of.live : []),
  };
  searchRoutes(direct, routed, legsOfAll(routed));
  searchRoutes(confirmed, routed, legsOfAll(routed));
  capPrivateRoutes(routed, input, confirmed.weigh);
  searchRoutes({ ...common, recent: true, weigh: (leg) => weigh(leg, false) }, routed, input.live());
  for (const anchor of input.anchors) if (!sound.includes(anchor)) markDepegged(tokenOf(anchor), routed);
  return { anchors, routed };
}

const legsOfAll = (routed: RoutedTokens): IndexedLeg[] => [...routed.keys()].flatMap(({ live }) => live);

/**
 * Limits the confidence of routes through a token that has no market besides the anchors and the priced token: its
 * owner may be the only one who can trade it. The wrapped native token is exempt.
 */
function capPrivateRoutes(
  routed: RoutedTokens,
  input: RouteInput,
  weigh: (leg: IndexedLeg) => LegWeight | null,
): void {
  const markets = new Map<IndexedToken, readonly IndexedToken[]>();
  for (const [token, found] of routed) {
    const { route } = found;
    if (route.hops < 2 || route.next === input.wrappedNative) continue;
    const next = input.findToken(route.next);
    if (next === undefined) continue;
    const others = markets.get(next) ?? otherMarkets(next, routed, weigh);
    markets.set(next, others);
    if (others.some((other) => other !== token)) continue;
    const warnings = [...route.warnings, 'private_route' as const].sort();
    const confidence = Math.min(route.confidence, UNTRUSTED_MAX);
    routed.set(token, { ...found, route: { ...route, confidence, warnings } });
  }
}

/** Up to two tokens, priced without this token, that have a market with it. */
function otherMarkets(
  token: IndexedToken,
  routed: RoutedTokens,
  weigh: (leg: IndexedLeg) => LegWeight | null,
): readonly IndexedToken[] {
  const found: IndexedToken[] = [];
  for (const leg of token.live) {
    const isToken0 = leg.tokens[0] === token;
    const other = isToken0 ? leg.tokens[1] : leg.tokens[0];
    const known = routed.get(other);
    if (known === undefined || known.route.hops === 0 || known.route.next === token.address) continue;
    const weight = weigh(leg);
    if (weight === null || found.includes(other)) continue;
    if (knownSide(weight, !isToken0, known.usd).backingUsd >= MARKET_MIN_USD) found.push(other);
    if (found.length === 2) break;
  }
  return found;
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
  const found = routed.get(anchor);
  if (found === undefined) return;
  const warnings = [...found.route.warnings, 'anchor_depeg' as const].sort();
  routed.set(anchor, { ...found, route: { ...found.route, warnings } });
}
