/** The liquidity of two tokens of a weighted pool, for prices and for the depth of the pool. */

/**
 * Liquidity of a weighted leg: the liquidity of the constant product pool with the same price and, to first order, the
 * same depth. A weighted pool's depth is B1·(1.02^(w0/(w0+w1)) − 1) ≈ B1·0.02·w0/(w0+w1); a constant product pool's is
 * r1·(√1.02 − 1) ≈ r1·0.01. So r1 = 2·B1·w0/(w0+w1), r0 likewise, and their ratio is the spot price (Balancer
 * WeightedMath).
 */
export function weightedLiquidity(
  balance0: number,
  balance1: number,
  weight0: number,
  weight1: number,
): number {
  const sum = weight0 + weight1;
  if (!(sum > 0)) return 0;
  const virtual0 = (2 * balance0 * weight1) / sum;
  const virtual1 = (2 * balance1 * weight0) / sum;
  return Math.sqrt(virtual0) * Math.sqrt(virtual1);
}
