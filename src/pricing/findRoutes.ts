/**
 * The routes of an epoch, from nothing but what the legs were up to its first block: the pure function behind every
 * price (DESIGN D6). First by liquidity that the epoch before confirms; then, for tokens that have none of that, by what
 * is there now, with little trust.
 */
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import { soundAnchors } from './anchors';
import { ANCHOR_CONFIDENCE } from './confidence';
import { depthIn, type LegRecord } from './epoch';
import { NO_STATE, type Leg } from './leg';
import type { LiveLeg } from './liveLegs';
import { anchorPrices, type AnchorPrices, type Market } from './market';
import { noRoute, type PriceAnchor, type Route } from './route';
import { settle, type LegWeight, type Settled } from './settle';

export interface RouteInput {
  readonly anchors: readonly PriceAnchor[];
  readonly wrappedNative: Hex | null;
  readonly epoch: number;
  /** Time of the last block before the epoch, unix seconds. */
  readonly time: number;
  /** An anchor's legs with other anchors and the wrapped native token, or more. */
  legsOf(anchor: Hex): readonly Leg[];
  recordOf(key: string): LegRecord | undefined;
  /** Those legs of a token that moved within 30 days, or more. */
  liveOf(token: Hex): readonly LiveLeg[];
}

export interface EpochRoutes {
  /** Anchors that hold their peg. */
  readonly anchors: AnchorPrices;
  readonly settled: Map<Hex, Settled>;
}

export function findRoutes(input: RouteInput): EpochRoutes {
  const sound = soundAnchors(input.anchors, input);
  const anchors = anchorPrices(sound);
  const settled = new Map<Hex, Settled>();
  for (const anchor of sound)
    settled.set(anchor.address, { route: anchorRoute(anchor), usd: anchor.priceUsd });
  const market: Market = {
    stateOf: (key) => input.recordOf(key)?.state ?? NO_STATE,
    recordOf: (key) => input.recordOf(key),
    tradedIn: () => 0,
    epochTime: input.time,
  };
  const common = { market, anchors, edgesOf: (token: Hex): readonly LiveLeg[] => input.liveOf(token) };
  const weigh = ({ record }: LiveLeg, confirmed: boolean): LegWeight => {
    const liquidity = confirmed ? depthIn(record, input.epoch) : record.state.liquidity;
    return { state: record.state, liquidity, age: input.time - record.movedAt };
  };
  const fromAnchors = sound.flatMap((anchor) => input.liveOf(anchor.address));
  settle({ ...common, recent: false, weigh: (live) => weigh(live, true) }, settled, fromAnchors);
  const fromSettled = [...settled.keys()].flatMap((token) => input.liveOf(token));
  settle({ ...common, recent: true, weigh: (live) => weigh(live, false) }, settled, fromSettled);
  markDepegged(input.anchors, sound, settled);
  return { anchors, settled };
}

function anchorRoute({ address }: PriceAnchor): Route {
  return {
    ...noRoute(address),
    next: ZERO_ADDRESS,
    confidence: ANCHOR_CONFIDENCE,
    depthUsd: Infinity,
  };
}

/** An anchor that lost its role is priced like any token, and says so. */
function markDepegged(
  all: readonly PriceAnchor[],
  sound: readonly PriceAnchor[],
  settled: Map<Hex, Settled>,
): void {
  for (const anchor of all) {
    const found = settled.get(anchor.address);
    if (sound.includes(anchor) || found === undefined) continue;
    const warnings = [...found.route.warnings, 'anchor_depeg' as const].sort();
    settled.set(anchor.address, { ...found, route: { ...found.route, warnings } });
  }
}
