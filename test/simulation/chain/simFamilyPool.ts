/** A pool of Solidly, Slipstream or Algebra of the simulated chain. */
import type { Hex } from '../../../src/domain/hex';

/** The factories of both generations of Solidly, of Slipstream and of Algebra. */
export const FAMILY_FACTORIES = {
  solidly1: `0x${'f4'.repeat(20)}`,
  solidly2: `0x${'f5'.repeat(20)}`,
  slipstream: `0x${'f6'.repeat(20)}`,
  algebra: `0x${'f7'.repeat(20)}`,
} as const satisfies Record<string, Hex>;
export type Family = keyof typeof FAMILY_FACTORIES;

/** Where swaps of Algebra say their fees: nowhere, in the Swap, or in an event before it. */
export type SwapLayout = 'plain' | 'own fees' | 'fee event';

export interface FamilyPool {
  readonly address: Hex;
  readonly family: Family;
  readonly token0: Hex;
  readonly token1: Hex;
  /** Solidly: whether the pool is stable. */
  readonly isStable: boolean;
  /** Solidly: whether metadata() answers. */
  readonly tellsDecimals: boolean;
  /** Algebra: whether another deployer made the pool. Its factory confirms no such pool. */
  readonly isCustom: boolean;
  readonly layout: SwapLayout;
  /** Algebra: whether the fee depends on the direction. */
  readonly hasTwoFees: boolean;
  readonly spacing: number;
  /** What the contracts answer at every block, in pips. Nodes ask at different blocks, so the answer never changes. */
  readonly feePips: number;
  readonly reserves: readonly [bigint, bigint];
  readonly sqrtPrice: bigint;
  readonly liquidity: bigint;
  readonly tick: number;
}
