/** Pools and their states, as protocols, ingester and queries share them. */
import { AppError } from '../errors';
import { clampAmount, UINT256_MAX } from './amounts';
import type { Hex } from './hex';
import type { BinMove } from './pools/binMoves';
import { findPoolType, POOL_TYPES, type PoolType } from './pools/poolShape';

/** Parses a stored pool type; throws broken_invariant for an unknown number. */
export function parsePoolType(value: number): PoolType {
  const poolType = findPoolType(value);
  if (poolType === undefined)
    throw new AppError(
      'broken_invariant',
      `stored pool type: got ${value}; allowed: ${POOL_TYPES.join(', ')}`,
    );
  return poolType;
}

/** A DEX in the chain description. */
export interface Dex {
  /** Identifier of the DEX, such as `pulsex_v2`. */
  readonly name: string;
  readonly displayName: string;
  /** Name of the protocol in `src/protocols/registry.ts`. */
  readonly protocol: string;
  readonly factory: Hex;
  /** Fee of a V2 DEX in basis points (default 30). */
  readonly feeBps?: number;
  /** Part of the fee that goes to the protocol, 0 to 1. */
  readonly protocolFeeShare?: number;
  readonly positionManager?: Hex;
  readonly startBlock?: number;
}

/** A pool of a configured factory. */
export interface Pool {
  /** Address of the pool's contract. For a pool without a contract, the last 20 bytes of its id. */
  readonly address: Hex;
  /** Id of 32 bytes of a pool without a contract. Null for other pools. */
  readonly id?: Hex | null;
  /** Contract that the pool calls before or after its swaps. Null without one. */
  readonly hooks?: Hex | null;
  /** Permissions of the hook, as the last 14 bits of a Uniswap V4 hook. Null if its address has them. */
  readonly hookBits?: number | null;
  readonly dex: string;
  readonly protocol: string;
  readonly poolType: PoolType;
  readonly factory: Hex;
  /** The two tokens as the pool's contract orders them. A pool with more tokens: two of them, in the order of its list. */
  readonly token0: Hex;
  readonly token1: Hex;
  /** Fee in hundredths of a basis point (pips): 0.29 % = 2900. */
  readonly feePips: number;
  /** Tick spacing, or the bin step of a pool with bins; 0 for other pools. */
  readonly tickSpacing: number;
  /** Decimals by which the contract of a stable pool scales its reserves. Null if unknown. */
  readonly scaleDecimals?: readonly [decimals0: number, decimals1: number] | null;
}

/** State of a pool after a log. V2 has reserves; V3 has a price, active liquidity, a tick and running balances. */
export interface PoolState {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** sqrtPriceX96; 0n if the protocol has no such price, or the pool is not initialised. */
  readonly sqrtPriceX96: bigint;
  /** Active liquidity L; 0n for V2. */
  readonly liquidity: bigint;
  readonly tick: number;
  /** Fees of swaps that pay in token0 and in token1, in pips, where events change them. */
  readonly fees?: readonly [fee0: number, fee1: number];
  /** Fees that an event before a swap gives to this swap alone. */
  readonly nextFees?: { readonly overridePips: number; readonly pluginPips: number };
  /** Reserves of all bins, only in a state that the node told. */
  readonly bins?: readonly BinMove[];
}

export const EMPTY_STATE: PoolState = {
  reserve0: 0n,
  reserve1: 0n,
  sqrtPriceX96: 0n,
  liquidity: 0n,
  tick: 0,
};

/**
 * Balances stay within 0 … 2^256 − 1. They would fall below zero if tokens reached the pool without an event.
 * They would exceed the maximum if a hostile token made `Flash` report any payment. Neither case may stop the
 * ingester.
 */
export function moveBalances(state: PoolState, delta0: bigint, delta1: bigint): PoolState {
  const reserve0 = clampAmount(state.reserve0 + delta0, UINT256_MAX);
  const reserve1 = clampAmount(state.reserve1 + delta1, UINT256_MAX);
  if (reserve0 === state.reserve0 && reserve1 === state.reserve1) return state;
  return { ...state, reserve0, reserve1 };
}
