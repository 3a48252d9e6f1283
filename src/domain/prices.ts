/** Computes prices from a pool's state, in quote tokens per base token and scaled by decimals, exactly or as
 * a float64. */
import { formatRatio, powerOfTen } from './amounts';

/** Number of digits of a price in the API, for prices of any size. The checks of an audit need 12. */
const PRICE_DIGITS = 18;
const Q192 = 1n << 192n;

/**
 * The fields of a pool's state that determine its price. If `sqrtPriceX96` > 0, it is the price (V3); otherwise the
 * reserves are used.
 */
export interface PriceState {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly sqrtPriceX96: bigint;
}

/**
 * The marginal price, quote per base, as a decimal string of 18 significant digits, rounded from exact
 * integers: V2 reserve1 / reserve0, V3 sqrtPriceX96² / 2^192, each times 10^(decimals0 − decimals1) or
 * inverted. Null if there is no price: a reserve is zero, the pool has no first price, or the decimals of a
 * token are unknown.
 */
export function formatPrice(
  state: PriceState,
  decimals0: number | null,
  decimals1: number | null,
  baseIsToken0: boolean,
): string | null {
  if (decimals0 === null || decimals1 === null) return null;
  const hasSqrtPrice = state.sqrtPriceX96 > 0n;
  const raw1 = hasSqrtPrice ? state.sqrtPriceX96 * state.sqrtPriceX96 : state.reserve1;
  const raw0 = hasSqrtPrice ? Q192 : state.reserve0;
  if (raw0 <= 0n || raw1 <= 0n) return null;
  const scaled1 = raw1 * 10n ** BigInt(decimals0);
  const scaled0 = raw0 * 10n ** BigInt(decimals1);
  return baseIsToken0
    ? formatRatio(scaled1, scaled0, PRICE_DIGITS)
    : formatRatio(scaled0, scaled1, PRICE_DIGITS);
}

/**
 * The float64 version of `formatPrice`, for bars. `rawPrice` is raw token1 per raw token0, as stored, or 0
 * without a price. Relative error below 1e-15. Returns 0 if there is no finite price > 0, or if the decimals
 * of a token are unknown (null).
 */
export function scalePrice(
  rawPrice: number,
  decimals0: number | null,
  decimals1: number | null,
  baseIsToken0: boolean,
): number {
  if (!(rawPrice > 0) || rawPrice === Infinity || decimals0 === null || decimals1 === null) return 0;
  const price = baseIsToken0
    ? scaleByTen(rawPrice, decimals0 - decimals1)
    : scaleByTen(1 / rawPrice, decimals1 - decimals0);
  return Number.isFinite(price) ? price : 0;
}

/**
 * Computes value · 10^exponent. Powers up to 10^22 are exact floats, so division by a power is more exact
 * than multiplication by its inverse.
 */
function scaleByTen(value: number, exponent: number): number {
  return exponent >= 0 ? value * powerOfTen(exponent) : value / powerOfTen(-exponent);
}
