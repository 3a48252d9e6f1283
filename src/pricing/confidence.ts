/** The confidence of a price: a number from 0 to 1 per hop, multiplied along the path, and the level word in audits. */

/** Confidence of an anchor, whose price is given. */
export const ANCHOR_CONFIDENCE = 0.99;
/** Highest confidence of a derived price. */
const DERIVED_MAX = 0.989;
/** Volume and TVL leave out values that use a price with a lower confidence. */
export const TRUSTED_MIN = 0.5;
const HIGH_MIN = 0.9;
/**
 * A pool with this many USD on its known side gets a confidence of 0.5. The formula y / (y + 10,000) is a closed form
 * of DefiLlama's slippage ratio.
 */
const HALF_TRUST_USD = 10_000;
/** Deviation between pools at which the confidence becomes zero. */
const DEVIATION_MAX = 0.1;
const FRESH_SECONDS = 3_600;
export const STALE_SECONDS = 86_400;
const STALE_FACTOR = 0.2;
/** Largest confidence of a hop that may never be trusted, for example because its pool is young. */
export const UNTRUSTED_MAX = 0.4;

/** The price of a token with its confidence. */
export interface UsdPrice {
  /** USD per whole token, > 0. */
  readonly usd: number;
  /** 0–1. */
  readonly confidence: number;
  /** Largest USD value by this price (cap.ts); Infinity for an anchor. */
  readonly capUsd: number;
}

/** Whether volume and TVL include values by this price. False for null, which means no price. */
export function isTrusted<P extends { readonly usd: number | null; readonly confidence: number }>(
  price: P | null,
): price is P & { readonly usd: number } {
  return price !== null && price.usd !== null && price.confidence >= TRUSTED_MIN;
}

/** The levels of confidence, lowest first. */
const LEVELS = ['none', 'low', 'medium', 'high'] as const;
type ConfidenceLevel = (typeof LEVELS)[number];

export function levelOf(confidence: number): ConfidenceLevel {
  if (confidence >= HIGH_MIN) return 'high';
  if (confidence >= TRUSTED_MIN) return 'medium';
  return confidence > 0 ? 'low' : 'none';
}

/** Whether the confidence `before` has a lower level than the confidence `now`. */
export function isLessSure(before: number, now: number): boolean {
  return rankOf(before) < rankOf(now);
}

function rankOf(confidence: number): number {
  return LEVELS.indexOf(levelOf(confidence));
}

/** One pool of a hop: the USD on its known side, and the seconds since its last move. */
interface HopEvidence {
  readonly backingUsd: number;
  readonly ageSeconds: number;
}

/**
 * Confidence of one hop, in steps of 0.01 so that routes do not change with small fluctuations. A hop with a price has
 * at least 0.01. `shares`: the part of each pool in the price; null for a pool that the price excludes.
 */
export function hopConfidence(
  pools: readonly HopEvidence[],
  shares: readonly (number | null)[],
  deviation: number,
  recent: boolean,
): number {
  let depth = 0;
  let freshness = 0;
  pools.forEach(({ backingUsd, ageSeconds }, i) => {
    const share = shares[i] ?? 0;
    depth += share * (backingUsd / (backingUsd + HALF_TRUST_USD));
    freshness += share * freshnessOf(ageSeconds);
  });
  const agreement = 1 - Math.min(1, deviation / DEVIATION_MAX);
  const confidence = Math.max(1, Math.round(depth * agreement * freshness * 100)) / 100;
  return recent ? Math.min(confidence, UNTRUSTED_MAX) : confidence;
}

/**
 * One pool of a route: its weight and the USD on its known side when the route was made, and the part of its
 * depth that is left.
 */
export interface RemainingDepth {
  readonly weight: number;
  readonly backingUsd: number;
  /** 0–1. */
  readonly remainingShare: number;
}

/**
 * Reduces the confidence of a hop whose pools lost depth. Multiplies it by the depth factor of the remaining depth,
 * and divides it by the depth factor of the full depth.
 */
export function remainingConfidence(confidence: number, pools: readonly RemainingDepth[]): number {
  let [weights, trust, remainingWeight, remainingTrust] = [0, 0, 0, 0];
  for (const { weight, backingUsd, remainingShare } of pools) {
    weights += weight;
    trust += weight * (backingUsd / (backingUsd + HALF_TRUST_USD));
    remainingWeight += weight * remainingShare;
    remainingTrust +=
      weight *
      remainingShare *
      ((backingUsd * remainingShare) / (backingUsd * remainingShare + HALF_TRUST_USD));
  }
  if (!(remainingWeight > 0) || !(trust > 0)) return 0.01;
  const trustShare = Math.min(1, remainingTrust / remainingWeight / (trust / weights));
  return Math.max(1, Math.round(confidence * trustShare * 100)) / 100;
}

/** Factor of freshness by age in seconds: 1 up to an hour, then falling to 0.5 at a day, and 0.2 beyond a day. */
function freshnessOf(ageSeconds: number): number {
  if (ageSeconds <= FRESH_SECONDS) return 1;
  if (ageSeconds > STALE_SECONDS) return STALE_FACTOR;
  return 1 - (0.5 * (ageSeconds - FRESH_SECONDS)) / (STALE_SECONDS - FRESH_SECONDS);
}

/** Confidence of a path from the confidences of its hops. Without hops, the token is an anchor. */
export function pathConfidence(hops: readonly number[]): number {
  if (hops.length === 0) return ANCHOR_CONFIDENCE;
  let confidence = 1;
  for (const hop of hops) confidence *= hop;
  return Math.min(confidence, DERIVED_MAX);
}
