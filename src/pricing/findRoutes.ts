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
import { anchorPrices, type AnchorPrices, type Market } from './market';
import { noRoute, type PriceAnchor, type Route } from './route';
import { settle, type LegWeight, type Settled } from './settle';

export interface RouteInput {
  readonly anchors: readonly PriceAnchor[];
  readonly wrappedNative: Hex | null;
  readonly epoch: number;
  /** Time of the last block before the epoch, unix seconds. */
  readonly time: number;
  legsOf(token: Hex): readonly Leg[];
  recordOf(key: string): LegRecord | undefined;
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
  const common = { market, anchors, legsOf: (token: Hex): readonly Leg[] => input.legsOf(token) };
  const weigh = (leg: Leg, confirmed: boolean): LegWeight | null => {
    const record = input.recordOf(leg.key);
    if (record === undefined) return null;
    const liquidity = confirmed ? depthIn(record, input.epoch) : record.state.liquidity;
    return { state: record.state, liquidity, age: input.time - record.movedAt };
  };
  const fromAnchors = sound.flatMap((anchor) => input.legsOf(anchor.address));
  settle({ ...common, recent: false, weigh: (leg) => weigh(leg, true) }, settled, fromAnchors);
  const fromSettled = [...settled.keys()].flatMap((token) => input.legsOf(token));
  settle({ ...common, recent: true, weigh: (leg) => weigh(leg, false) }, settled, fromSettled);
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
