/**
 * One-sided joins and exits of a weighted pool of two tokens (Balancer WeightedMath,
 * `_calcBptOutGivenExactTokensIn` and `_calcTokenOutGivenExactBptIn`). The swap fee applies to the part of the
 * amount that a proportional join or exit would have swapped. The fee stays in the pool. Pure.
 */
import type { Amounts, Side } from './amounts';

interface Terms {
  /** Weight of token0, 0–1. */
  readonly weight0: number;
  /** Swap fee, 0–1. */
  readonly fee: number;
}

/** `minted` is the number of new pool shares divided by the earlier number of shares. */
export function joinOne(
  balances: Amounts,
  terms: Terms,
  side: Side,
  amount: number,
): { readonly minted: number; readonly balances: Amounts } {
  const [balance, weight] = ofSide(balances, terms, side);
  const charged = amount * (1 - weight) * terms.fee;
  const minted = ((balance + amount - charged) / balance) ** weight - 1;
  return { minted, balances: addToSide(balances, side, amount) };
}

/** `burned` is the part (0 to 1) of all pool shares. */
export function exitOne(
  balances: Amounts,
  terms: Terms,
  side: Side,
  burned: number,
): { readonly paid: number; readonly balances: Amounts } {
  const [balance, weight] = ofSide(balances, terms, side);
  const amountWithoutFee = balance * (1 - (1 - burned) ** (1 / weight));
  const paid = amountWithoutFee * (1 - (1 - weight) * terms.fee);
  return { paid, balances: addToSide(balances, side, -paid) };
}

function ofSide({ amount0, amount1 }: Amounts, { weight0 }: Terms, side: Side): [number, number] {
  return side === 0 ? [amount0, weight0] : [amount1, 1 - weight0];
}

function addToSide({ amount0, amount1 }: Amounts, side: Side, delta: number): Amounts {
  return side === 0 ? { amount0: amount0 + delta, amount1 } : { amount0, amount1: amount1 + delta };
}
