/** Computes the pool share of LP tokens in exact integers. Pure. */

/** A share from 0 to 1 is rounded to an integer number of parts; this many parts make 1. */
const SHARE_UNIT = 1_000_000_000_000;

/** Reserves of a V2 pair, raw. */
export interface Reserves {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** The largest integer whose square is at most `value` (≥ 0), by Newton's method from above. */
export function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const nextRoot = (root + value / root) >> 1n;
    if (nextRoot >= root) return root;
    root = nextRoot;
  }
}

/**
 * LP tokens that the pool mints to the protocol before its next mint or burn. They dilute all other holders. With S
 * the supply, φ the protocol's share of fees and k the product of the reserves: S·φ·(√k − √kLast) / ((1 − φ)·√k +
 * φ·√kLast). For φ = 1/6 the formula equals _mintFee of UniswapV2Pair.sol. kLast is k after the newest mint or burn,
 * from the reserves in `lastReserves`.
 */
export function pendingProtocolLp(
  supply: bigint,
  reservesNow: Reserves,
  lastReserves: Reserves,
  protocolShare: number,
): bigint {
  if (!(protocolShare > 0) || protocolShare >= 1) return 0n;
  const rootOfProduct = integerRoot(reservesNow.reserve0 * reservesNow.reserve1);
  const lastRootOfProduct = integerRoot(lastReserves.reserve0 * lastReserves.reserve1);
  if (rootOfProduct <= lastRootOfProduct) return 0n;
  const scaledShare = BigInt(Math.round(protocolShare * SHARE_UNIT));
  const otherShare = BigInt(SHARE_UNIT) - scaledShare;
  return (
    (supply * (rootOfProduct - lastRootOfProduct) * scaledShare) /
    (rootOfProduct * otherShare + lastRootOfProduct * scaledShare)
  );
}

/**
 * The part of the pool's raw reserve `heldAmount` that belongs to `balance` LP tokens of `supply`, rounded down.
 * Null if the supply is zero, or smaller than the balance.
 */
export function shareOfPool(heldAmount: bigint, balance: bigint, supply: bigint): bigint | null {
  if (supply <= 0n || balance > supply) return null;
  return (heldAmount * balance) / supply;
}

/** Percentage of the supply; null if the supply is zero or smaller than the balance. */
export function sharePercent(balance: bigint, supply: bigint): number | null {
  if (supply <= 0n || balance > supply) return null;
  return (Number(balance) / Number(supply)) * 100;
}
