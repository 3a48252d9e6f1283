/** The confidence of a price: a number from 0 to 1 per hop, multiplied along the path, and the level word that audits show. */

/** Confidence of an anchor, whose price is given. */
export const ANCHOR_CONFIDENCE = 0.99;
/** No derived price is trusted more. */
const DERIVED_MAX = 0.989;
/** Prices below it do not make volume or TVL. */
export const TRUSTED_MIN = 0.5;
const HIGH_MIN = 0.9;
/** A pool with this many USD on its known side is trusted by half (the slippage ratio of DefiLlama in closed form). */
const HALF_TRUST_USD = 10_000;
/** At this deviation between pools nothing is left. */
const DEVIATION_MAX = 0.1;
const FRESH_SECONDS = 3_600;
export const STALE_SECONDS = 86_400;
const STALE_FACTOR = 0.2;
/** Liquidity that no epoch has confirmed is never trusted. */
const RECENT_MAX = 0.4;

export const CONFIDENCE_LEVELS = ['high', 'medium', 'low', 'none'] as const;
export type ConfidenceLevel = (typeof CONFIDENCE_LEVELS)[number];

export function levelOf(confidence: number): ConfidenceLevel {
  if (confidence >= HIGH_MIN) return 'high';
  if (confidence >= TRUSTED_MIN) return 'medium';
  return confidence > 0 ? 'low' : 'none';
}

/** One pool of a hop: its normalised weight, the USD behind its known side, seconds since it moved. */
export interface HopEvidence {
  readonly weight: number;
  readonly backingUsd: number;
  readonly age: number;
}

/** Trust in one hop, in steps of 0.01 so that routes do not change with every breath; what has a price has at least one. */
export function hopConfidence(pools: readonly HopEvidence[], deviation: number, recent: boolean): number {
  let depth = 0;
  let freshness = 0;
  for (const { weight, backingUsd, age } of pools) {
    depth += weight * (backingUsd / (backingUsd + HALF_TRUST_USD));
    freshness += weight * freshnessOf(age);
  }
  const agreement = 1 - Math.min(1, deviation / DEVIATION_MAX);
  const confidence = Math.max(1, Math.round(depth * agreement * freshness * 100)) / 100;
  return recent ? Math.min(confidence, RECENT_MAX) : confidence;
}

/** 1 up to an hour, falling to 0.5 at a day, 0.2 beyond. */
function freshnessOf(age: number): number {
  if (age <= FRESH_SECONDS) return 1;
  if (age > STALE_SECONDS) return STALE_FACTOR;
  return 1 - (0.5 * (age - FRESH_SECONDS)) / (STALE_SECONDS - FRESH_SECONDS);
}

/** Trust in a price whose hops, from the token to the anchor, are trusted so; no hop: the anchor itself. */
export function pathConfidence(hops: readonly number[]): number {
  if (hops.length === 0) return ANCHOR_CONFIDENCE;
  let confidence = 1;
  for (const hop of hops) confidence *= hop;
  return Math.min(confidence, DERIVED_MAX);
}
