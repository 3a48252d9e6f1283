/** The fee of a swap in USD follows from its value, so it is not stored: swaps.fee_usd of the schema says the same. */
const PIPS = 1_000_000;

/** Both in USD times 10^12, rounded down; a fee is at most the whole value. */
export function swapFeeUsd(swap: { readonly amount_usd: bigint; readonly fee_pips: number }): bigint {
  return (swap.amount_usd * BigInt(Math.min(swap.fee_pips, PIPS))) / BigInt(PIPS);
}
