/**
 * Reasons why a pool backs no price although its state is known, as bits in the tables pools and pool_states. 0 means that
 * there is no reason.
 */

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
  /**
   * The price depends on something that no event of the pool tells, such as the rate of a token, or a hook that takes part in
   * the amounts of swaps.
   */
  unfollowed: 8,
} as const;

export type DoubtCode = 'managed_balance' | 'weights_in_doubt' | 'extreme_terms' | 'price_not_followed';

const CODE_OF: readonly (readonly [bit: number, code: DoubtCode])[] = [
  [DOUBTS.managed, 'managed_balance'],
  [DOUBTS.weights, 'weights_in_doubt'],
  [DOUBTS.terms, 'extreme_terms'],
  [DOUBTS.unfollowed, 'price_not_followed'],
];

/** Codes for flags and warnings, in a fixed order. */
export function doubtCodes(doubts: number): DoubtCode[] {
  return CODE_OF.flatMap(([bit, code]) => ((doubts & bit) === 0 ? [] : [code]));
}
