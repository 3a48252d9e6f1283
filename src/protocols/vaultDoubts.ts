/**
 * Reasons why a Balancer V2 pool backs no price. Anyone may register a pool with any contract, any asset manager and
 * any weights, so the vault's logs must show that the pool is what it claims to be.
 */
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import { isExtremeFee } from '../domain/swapFee';

/** Smallest weight: 1 %, where 1e18 means 1 (WeightedMath.sol, _MIN_WEIGHT). */
const WEIGHT_MIN = 10n ** 16n;

/** Bits of `doubts` in the tables pools and pool_states. */
export const DOUBTS = {
  /**
   * A token of the pool has an asset manager, or an asset manager changed its balance. A manager may report any
   * balance.
   */
  managed: 1,
  /** The weights do not explain a swap of the pool. */
  weights: 2,
  /** A weight is below 1 %, or the fee was above 10 %. Balancer's own pools allow neither. */
  terms: 4,
} as const;

export type DoubtCode = 'managed_balance' | 'weights_in_doubt' | 'extreme_terms';

const CODE_OF: readonly (readonly [bit: number, code: DoubtCode])[] = [
  [DOUBTS.managed, 'managed_balance'],
  [DOUBTS.weights, 'weights_in_doubt'],
  [DOUBTS.terms, 'extreme_terms'],
];

/** Codes for flags and warnings, in a fixed order. */
export function doubtCodes(doubts: number): DoubtCode[] {
  return CODE_OF.flatMap(([bit, code]) => ((doubts & bit) === 0 ? [] : [code]));
}

export function hasManager(managers: readonly Hex[]): boolean {
  return managers.some((manager) => manager !== ZERO_ADDRESS);
}

/** Doubt about weights and fee: `DOUBTS.terms` or 0. In `weights`, 1e18 means 1; empty if unknown. */
export function termsDoubt(weights: readonly bigint[], feePips: number): number {
  const extreme = isExtremeFee(feePips) || weights.some((weight) => weight < WEIGHT_MIN);
  return extreme ? DOUBTS.terms : 0;
}
