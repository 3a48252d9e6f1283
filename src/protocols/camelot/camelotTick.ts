/**
 * The curve and the first fees of a Camelot pool, as one number in the column `tick` of a state. Its pools have no ticks.
 * Bit 0 is set if the curve is not x·y = k. Bit 1 is set if the curve is unknown. The bits above hold the two fees of an
 * older pool, by the node, in units of 10 pips. 0 means a new pool: volatile, without a change of its fees.
 */
import { OFF_PRODUCT_CURVE } from '../../domain/pools/poolShape';
import type { SwapFees } from '../protocol';
import { PIPS_PER_UNIT } from './camelotEvents';

/** Bit 1. Bit 0 is OFF_PRODUCT_CURVE. */
const UNKNOWN_CURVE = 2;
const CURVE_BITS = 2;
/** Enough for FEE_UNITS_MAX. */
const FEE_BITS = 11;
const FEE_MASK = (1 << FEE_BITS) - 1;

/** The tick of a pool of which nothing is known. It has no price. */
export const UNKNOWN_TICK = OFF_PRODUCT_CURVE | UNKNOWN_CURVE;

export function toTick(isStable: boolean, [fee0, fee1]: SwapFees): number {
  const units = (fee0 / PIPS_PER_UNIT) | ((fee1 / PIPS_PER_UNIT) << FEE_BITS);
  return (units << CURVE_BITS) | (isStable ? OFF_PRODUCT_CURVE : 0);
}

export function withCurve(tick: number, isStable: boolean): number {
  return (tick & ~UNKNOWN_TICK) | (isStable ? OFF_PRODUCT_CURVE : 0);
}

export function curveOf(tick: number): 'volatile' | 'stable' | 'unknown' {
  if ((tick & UNKNOWN_CURVE) !== 0) return 'unknown';
  return (tick & OFF_PRODUCT_CURVE) === 0 ? 'volatile' : 'stable';
}

/** The fees of swaps that pay in token0 and in token1, in pips. Null if the node told none. */
export function feesOfTick(tick: number): SwapFees | null {
  const units = tick >> CURVE_BITS;
  const [fee0, fee1] = [units & FEE_MASK, (units >> FEE_BITS) & FEE_MASK];
  return fee0 === 0 || fee1 === 0 ? null : [fee0 * PIPS_PER_UNIT, fee1 * PIPS_PER_UNIT];
}
