/**
 * The fee of a swap in USD, computed from the swap's value and not stored. `swaps.fee_usd` in the schema uses the same
 * formula.
 */
const PIPS = 1_000_000;

/** Value and fee are in USD · 10^12; the fee is rounded down. A fee is at most the whole value. */
export function swapFeeUsd(swap: { readonly amount_usd: bigint; readonly fee_pips: number }): bigint {
  return (swap.amount_usd * BigInt(Math.min(swap.fee_pips, PIPS))) / BigInt(PIPS);
}
