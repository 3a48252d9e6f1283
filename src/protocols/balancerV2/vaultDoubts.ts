/**
 * Reasons why a Balancer V2 pool backs no price. Anyone may register a pool with any contract, any asset manager and
 * any weights, so the vault's logs must show that the pool is what it claims to be.
 */
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { isExtremeFee } from '../../domain/swapFee';
import { DOUBTS } from '../../domain/pools/doubts';

/** Smallest weight: 1 %, where 1e18 means 1 (WeightedMath.sol, _MIN_WEIGHT). */
const WEIGHT_MIN = 10n ** 16n;

export function hasManager(managers: readonly Hex[]): boolean {
  return managers.some((manager) => manager !== ZERO_ADDRESS);
}

/** Doubt about weights and fee: `DOUBTS.terms` or 0. In `weights`, 1e18 means 1; empty if unknown. */
export function termsDoubt(weights: readonly bigint[], feePips: number): number {
  const extreme = isExtremeFee(feePips) || weights.some((weight) => weight < WEIGHT_MIN);
  return extreme ? DOUBTS.terms : 0;
}
