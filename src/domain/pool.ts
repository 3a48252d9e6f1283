/** Pools and their states, as protocols, ingester and queries share them. */
import { AppError } from '../errors';
import type { Hex } from './hex';

/** The types of pools: V2 (constant product), V3 (concentrated liquidity), and the vault pools, weighted and stable. */
export const POOL_V2 = 2;
export const POOL_V3 = 3;
export const POOL_WEIGHTED = 4;
export const POOL_STABLE = 5;
const POOL_TYPES = [POOL_V2, POOL_V3, POOL_WEIGHTED, POOL_STABLE] as const;
export type PoolType = (typeof POOL_TYPES)[number];

export const PROTOCOL_NAMES = ['uniswap_v2', 'uniswap_v3', 'pancake_v3', 'balancer_v2'] as const;
export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

/** Parses a stored pool type; throws broken_invariant for an unknown number. */
export function parsePoolType(value: number): PoolType {
  const poolType = POOL_TYPES.find((type) => type === value);
  if (poolType === undefined)
    throw new AppError(
      'broken_invariant',
      `stored pool type: got ${value}; allowed: ${POOL_TYPES.join(', ')}`,
    );
  return poolType;
}

/** Parses a stored protocol name; throws broken_invariant for an unknown name. */
export function parseProtocolName(value: string): ProtocolName {
  const protocol = PROTOCOL_NAMES.find((name) => name === value);
  if (protocol === undefined)
    throw new AppError(
      'broken_invariant',
      `stored protocol: got "${value}"; allowed: ${PROTOCOL_NAMES.join(', ')}`,
    );
  return protocol;
}

/** A DEX in the chain description. */
export interface Dex {
  /** Identifier of the DEX, such as `pulsex_v2`. */
  readonly name: string;
  readonly displayName: string;
  readonly protocol: ProtocolName;
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
  readonly address: Hex;
  readonly dex: string;
  readonly protocol: ProtocolName;
  readonly poolType: PoolType;
  readonly factory: Hex;
  /** The two tokens in chain order. */
  readonly token0: Hex;
  readonly token1: Hex;
  /** Fee in hundredths of a basis point (pips): 0.29 % = 2900. */
  readonly feePips: number;
  /** Tick spacing; 0 for pools without ticks. */
  readonly tickSpacing: number;
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
}

export const EMPTY_STATE: PoolState = {
  reserve0: 0n,
  reserve1: 0n,
  sqrtPriceX96: 0n,
  liquidity: 0n,
  tick: 0,
};
