/**
 * Checks which anchors hold their peg. A pool of two anchors is evidence of their market values, and so are two pools of
 * the wrapped native token with one anchor each. A pool's weight is its depth, so a shallow pool cannot outvote a deep
 * one. If the direct pools between anchors have at least half of the depth of the comparisons through the native token,
 * these comparisons are ignored. Mean prices and depths resist manipulation over a few blocks. An anchor that is more
 * than 2 % below the others loses its role. An anchor more than 2 % above the others keeps its configured price, but its
 * pools are no evidence about the others.
 */
import type { Hex } from '../domain/hex';
import { confirmedLiquidity } from './depth';
import { lifeWeight, meanPrice } from './epoch';
import type { IndexedLeg } from './indexedToken';
import type { PriceAnchor } from './priceRoute';

const DEVIATION_LOG_MAX = Math.log(1.02);
/**
 * Direct pools decide alone if they have at least this part of the depth of comparisons through the native token.
 */
const DIRECT_PART = 0.5;
/**
 * A pool is ignored if one of its sides has fewer USD than this. While the native token has no price, only
 * the other side counts.
 */
const SIDE_MIN_USD = 1_000;

export interface PegInput {
  /** Null if it is not configured. */
  readonly wrappedNative: Hex | null;
  /** Time of the last block before the epoch, unix seconds. */
  readonly time: number;
  /** Legs of an anchor: all with other anchors and the wrapped native token. Further legs may be included. */
  legsOf(anchor: Hex): readonly IndexedLeg[];
}

/** Market value of an anchor by one direct pool, or by two pools with the native token. */
interface Evidence {
  /** ln of the anchor's market value, relative to its configured price. */
  readonly log: number;
  /** Depth of the pool in USD. With two pools, the depth of the shallower one. */
  readonly weight: number;
}

/** One pool of an anchor: ln of the anchor's mean price in the other token, and the USD on the poorer side. */
interface Quote {
  readonly log: number;
  readonly depth: number;
}

interface JudgedAnchors {
  /** The anchors that keep their role, in configured order. */
  readonly sound: readonly PriceAnchor[];
  /** The anchors that keep their role although they trade more than 2 % above the other anchors. */
  readonly abovePeg: ReadonlySet<PriceAnchor>;
}

export function judgeAnchors(anchors: readonly PriceAnchor[], input: PegInput): JudgedAnchors {
  let compared = anchors;
  const belowPeg = new Set<PriceAnchor>();
  const abovePeg = new Set<PriceAnchor>();
  while (compared.length > 1) {
    const worst = findWorst(compared, input);
    if (worst === null) break;
    (worst.lnDeviation < 0 ? belowPeg : abovePeg).add(worst.anchor);
    compared = compared.filter((anchor) => anchor !== worst.anchor);
  }
  return { sound: anchors.filter((anchor) => !belowPeg.has(anchor)), abovePeg };
}

interface Deviation {
  readonly anchor: PriceAnchor;
  /** ln of the market value, relative to the configured price. */
  readonly lnDeviation: number;
}

/**
 * Finds the anchor whose value is furthest from that of the other anchors, if the distance is more than 2 %. If two
 * anchors are equally far, the result is the anchor with the lower value.
 */
function findWorst(anchors: readonly PriceAnchor[], input: PegInput): Deviation | null {
  let worst: Deviation | null = null;
  for (const anchor of anchors) {
    const otherAnchors = anchors.filter((other) => other !== anchor);
    const direct = otherAnchors.flatMap((other) => directEvidence(anchor, other, input));
    const native = otherAnchors.flatMap((other) => nativeEvidence(anchor, other, input));
    const outranks = depthOf(direct) >= depthOf(native) * DIRECT_PART;
    const evidence = outranks ? direct : [...direct, ...native];
    if (evidence.length === 0) continue;
    const lnDeviation = weightedMedian(evidence);
    if (Math.abs(lnDeviation) <= DEVIATION_LOG_MAX) continue;
    const excessDistance = worst === null ? 1 : Math.abs(lnDeviation) - Math.abs(worst.lnDeviation);
    const isTie = Math.abs(excessDistance) < 1e-9;
    if (worst === null || (isTie ? lnDeviation < worst.lnDeviation : excessDistance > 0))
      worst = { anchor, lnDeviation };
  }
  return worst;
}

function depthOf(evidence: readonly Evidence[]): number {
  return evidence.reduce((sum, { weight }) => sum + weight, 0);
}

function directEvidence(anchor: PriceAnchor, other: PriceAnchor, input: PegInput): Evidence[] {
  const lnConfigured = Math.log(anchor.priceUsd / other.priceUsd);
  return quotesIn(anchor, other.address, other.priceUsd, input).map(({ log, depth }) => ({
    log: log - lnConfigured,
    weight: depth,
  }));
}

/**
 * Compares two anchors through the native token: the native price in each of the anchor's pools with the native
 * token, and the weighted median of this price in the other anchor's pools.
 */
function nativeEvidence(anchor: PriceAnchor, other: PriceAnchor, input: PegInput): Evidence[] {
  if (input.wrappedNative === null) return [];
  const otherQuotes = quotesIn(other, input.wrappedNative, null, input);
  if (otherQuotes.length === 0) return [];
  const middle = weightedMedian(otherQuotes.map(({ log, depth }) => ({ log, weight: depth })));
  const otherDepth = otherQuotes.reduce((sum, { depth }) => sum + depth, 0);
  const lnConfigured = Math.log(anchor.priceUsd / other.priceUsd);
  return quotesIn(anchor, input.wrappedNative, null, input).map(({ log, depth }) => ({
    log: log - middle - lnConfigured,
    weight: Math.min(depth, otherDepth),
  }));
}

/**
 * The anchor's pools with a token, by key. `usd` is the token's price. If it is null (unknown), the anchor's side
 * alone gives the depth.
 */
function quotesIn(anchor: PriceAnchor, token: Hex, usd: number | null, { legsOf, time }: PegInput): Quote[] {
  const legs = legsOf(anchor.address).filter(
    ({ token0, token1 }) => (token0 === anchor.address ? token1 : token0) === token,
  );
  return [...legs].sort(byKey).flatMap((leg) => {
    const { record } = leg;
    const price = record === undefined ? 0 : meanPrice(record, time);
    if (record === undefined || !(price > 0)) return [];
    const isToken0 = leg.token0 === anchor.address;
    const sqrtPrice = Math.sqrt(price);
    // A pool that has lived for a few blocks gets little weight, even if it is deep.
    const liquidity = confirmedLiquidity(record, time) * lifeWeight(record, time);
    // Whole tokens of each side: the virtual reserve, but no more than the pool has.
    const side0 = Math.min(liquidity / sqrtPrice, record.state.reserve0);
    const side1 = Math.min(liquidity * sqrtPrice, record.state.reserve1);
    const ownUsd = (isToken0 ? side0 : side1) * anchor.priceUsd;
    const depth = usd === null ? ownUsd : Math.min(ownUsd, (isToken0 ? side1 : side0) * usd);
    const log = isToken0 ? Math.log(price) : -Math.log(price);
    return depth >= SIDE_MIN_USD ? [{ log, depth }] : [];
  });
}

function byKey(a: IndexedLeg, b: IndexedLeg): number {
  return a.key < b.key ? -1 : 1;
}

/**
 * The smallest value such that half of the weight is at or below it. If exactly half is at or below it, the mean of
 * this value and the next one.
 */
function weightedMedian(evidence: readonly Evidence[]): number {
  const sorted = [...evidence].sort((a, b) => a.log - b.log);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  let seenWeight = 0;
  for (const [index, { log, weight }] of sorted.entries()) {
    seenWeight += weight;
    if (seenWeight * 2 < total) continue;
    const nextItem = seenWeight * 2 === total ? sorted[index + 1] : undefined;
    return nextItem === undefined ? log : (log + nextItem.log) / 2;
  }
  return sorted.at(-1)?.log ?? 0;
}
