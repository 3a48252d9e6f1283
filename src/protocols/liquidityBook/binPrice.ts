/**
 * The price of a bin: (1 + binStep / 10⁴)^(id − 2²³), raw tokenY per raw tokenX. Computed with the integers of the contract
 * (traderjoe-xyz/joe-v2, PriceHelper.sol and Uint128x128Math.sol), whose rounding shows at extreme prices.
 */
import { RecentValues } from '../../domain/recentValues';

const SCALE_BITS = 128n;
const SCALE = 1n << SCALE_BITS;
const UINT256_MAX = (1n << 256n) - 1n;
const BASIS_POINTS = 10_000n;
/** The id of the bin with the price 1. */
const MIDDLE_ID = 2 ** 23;
const ID_BITS = 24;
const ID_SPAN = 2 ** ID_BITS;
/** The contract reverts at this exponent. */
const EXPONENT_END = 0x100000;

/** Number of remembered prices in each half of the cache. */
const CACHE_ITEMS = 16_384;
const prices = new RecentValues<number, number>(
  CACHE_ITEMS,
  (key) => Number(exactBinPrice(key % ID_SPAN, Math.floor(key / ID_SPAN))) / Number(SCALE),
);

/** Null if the contract has no such price. */
export function binPrice(id: number, binStep: number): number | null {
  const price = prices.get(binStep * ID_SPAN + id);
  // powerOf gives 0 if the contract reverts.
  return price === 0 ? null : price;
}

/** The price with 128 binary places; 0n if the contract has no such price. */
export function exactBinPrice(id: number, binStep: number): bigint {
  return powerOf(binStep, id - MIDDLE_ID);
}

/** The power with 128 binary places, from the squares of the base. 0n if the contract reverts. */
function powerOf(binStep: number, exponent: number): bigint {
  let rest = Math.abs(exponent);
  if (rest >= EXPONENT_END) return 0n;
  // Squares of numbers below 1 fit into 256 bits, so the contract computes with the inverse of the base.
  let square = UINT256_MAX / (SCALE + (BigInt(binStep) << SCALE_BITS) / BASIS_POINTS);
  let result = SCALE;
  for (; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) result = (result * square) >> SCALE_BITS;
    square = (square * square) >> SCALE_BITS;
  }
  return exponent > 0 && result > 0n ? UINT256_MAX / result : result;
}
