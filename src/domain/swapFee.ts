/**
 * The fee of a swap in USD, computed from the swap's value and not stored. `swaps.fee_usd` in the schema uses the same
 * formula.
 */
const PIPS = 1_000_000;
/** One pip in units where 1e18 means 100 %. */
const SWAP_FEE_PER_PIP = 10n ** 12n;

/** Largest fee that is part of fee totals: 10 %, the limit of Balancer pools (BasePool.sol). */
export const EXTREME_FEE_PIPS = 100_000;

/**
 * Whether a fee is above 10 %. The pool's owner may be paying such a fee to themselves, so fee totals exclude
 * it.
 */
export function isExtremeFee(feePips: number): boolean {
  return feePips > EXTREME_FEE_PIPS;
}

/** The fee of a swap. Fee and amount are in USD · 10^12; the fee is rounded down. Null for a fee above 10 %. */
export function swapFeeUsd(swap: { readonly amount_usd: bigint; readonly fee_pips: number }): bigint | null {
  return isExtremeFee(swap.fee_pips) ? null : (swap.amount_usd * BigInt(swap.fee_pips)) / BigInt(PIPS);
}

/** Converts a swap fee (1e18 = 100 %) to pips (1e6 = 100 %), rounded half up, at most 1e6. */
export function toFeePips(swapFee: bigint): number {
  const pips = (swapFee + SWAP_FEE_PER_PIP / 2n) / SWAP_FEE_PER_PIP;
  return pips > BigInt(PIPS) ? PIPS : Number(pips);
}

/** Converts pips to a swap fee (1e18 = 100 %). */
export function fromFeePips(pips: number): bigint {
  return BigInt(pips) * SWAP_FEE_PER_PIP;
}
