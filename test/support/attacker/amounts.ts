/** Amounts of the two tokens of a simulated pool, in whole tokens. */

/** Amounts of token0 and token1. */
export interface Amounts {
  readonly amount0: number;
  readonly amount1: number;
}

/** Index of a token in its pool. */
export type Side = 0 | 1;
