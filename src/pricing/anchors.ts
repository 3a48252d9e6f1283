/**
 * Checks which anchors hold their peg. Each anchor is compared with the others through their shared pools, using mean
 * prices and depths that resist manipulation over a few blocks. Without a shared pool, the pools with the wrapped
 * native token count. An anchor that deviates by more than 2 % from the median of the others loses its role.
 */
import type { Hex } from '../domain/hex';
import { depthIn, meanPrice } from './epoch';
import type { IndexedLeg } from './poolIndex';
import type { PriceAnchor } from './priceRoute';

const DEVIATION_LOG_MAX = Math.log(1.02);
/** Pools with fewer USD on the side of the examined anchor are ignored. */
const BACKING_MIN_USD = 1_000;

export interface PegInput {
  readonly wrappedNative: Hex | null;
  readonly epoch: number;
  /** Time of the last block before the epoch, unix seconds. */
  readonly time: number;
  /** Legs of an anchor with other anchors and the wrapped native token. May include other legs. */
  legsOf(anchor: Hex): readonly IndexedLeg[];
}

/**
 * The anchors that hold their peg, in configured order. If only two are left and they disagree, the less valuable one
 * loses its role.
 */
export function soundAnchors(anchors: readonly PriceAnchor[], input: PegInput): readonly PriceAnchor[] {
  let sound = anchors;
  while (sound.length > 1) {
    const worst = findWorst(sound, input);
    if (worst === null) return sound;
    sound = sound.filter((anchor) => anchor !== worst);
  }
  return sound;
}

function findWorst(anchors: readonly PriceAnchor[], input: PegInput): PriceAnchor | null {
  let worst: { readonly anchor: PriceAnchor; readonly size: number; readonly value: number } | null = null;
  for (const anchor of anchors) {
    const values = anchors.flatMap((other) => {
      const value = other === anchor ? null : logValue(anchor, other, input);
      return value === null ? [] : [value];
    });
    if (values.length === 0) continue;
    const value = median(values);
    const size = Math.abs(value);
    if (size <= DEVIATION_LOG_MAX) continue;
    const equal = worst !== null && Math.abs(size - worst.size) < 1e-9;
    if (worst === null || (equal ? value < worst.value : size > worst.size)) worst = { anchor, size, value };
  }
  return worst?.anchor ?? null;
}

/** ln of the anchor's market value in another anchor, relative to the given prices; null: no pool connects them. */
function logValue(anchor: PriceAnchor, other: PriceAnchor, input: PegInput): number | null {
  const direct = deepestLog(anchor, other.address, input);
  const given = Math.log(anchor.priceUsd / other.priceUsd);
  if (direct !== null) return direct - given;
  if (input.wrappedNative === null) return null;
  const own = deepestLog(anchor, input.wrappedNative, input);
  const theirs = deepestLog(other, input.wrappedNative, input);
  return own === null || theirs === null ? null : own - theirs - given;
}

/** ln of the anchor's mean price in a token, from their deepest pool. */
function deepestLog(anchor: PriceAnchor, token: Hex, { legsOf, epoch, time }: PegInput): number | null {
  let best: { readonly backing: number; readonly log: number; readonly key: string } | null = null;
  for (const leg of legsOf(anchor.address)) {
    const isToken0 = leg.token0 === anchor.address;
    if ((isToken0 ? leg.token1 : leg.token0) !== token) continue;
    const { record } = leg;
    if (record === undefined) continue;
    const price = meanPrice(record, time);
    if (!(price > 0)) continue;
    const root = Math.sqrt(price);
    const liquidity = depthIn(record, epoch);
    const virtual = isToken0 ? liquidity / root : liquidity * root;
    const real = isToken0 ? record.state.reserve0 : record.state.reserve1;
    const backing = Math.min(virtual, real) * anchor.priceUsd;
    if (!(backing >= BACKING_MIN_USD)) continue;
    const equal = best !== null && backing === best.backing;
    if (best !== null && (equal ? leg.key > best.key : backing < best.backing)) continue;
    best = { backing, log: isToken0 ? Math.log(price) : -Math.log(price), key: leg.key };
  }
  return best?.log ?? null;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? 0;
  const lower = sorted[(sorted.length - 1) >> 1] ?? 0;
  return (upper + lower) / 2;
}
