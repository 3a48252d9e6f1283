/**
 * The interface of a DEX protocol: topics, decoders written by hand, the effect of an event on a pool's state, and
 * the marginal price of a state. Each protocol implements it in one file. The ingester stores the rows.
 */
import type { ChainLog } from '../domain/block';
import type { Hex } from '../domain/hex';
import type { Dex, Pool, PoolState, PoolType, ProtocolName } from '../domain/pool';

/** A swap. Amounts are changes of the pool's balances in raw units, positive into the pool. V2: net amount
 * per token (in − out). */
export interface SwapEvent {
  readonly kind: 'swap';
  readonly sender: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** V3: the state of the pool that the event contains; null for V2. */
  readonly after: { readonly sqrtPriceX96: bigint; readonly liquidity: bigint; readonly tick: number } | null;
}

export interface MintEvent {
  readonly kind: 'mint';
  /** V3: the owner that the event names; V2: the sender. */
  readonly owner: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** V3: liquidity added. V2: null, because the LP tokens are in a separate Transfer, which the ingester
   * finds. */
  readonly liquidity: bigint | null;
  readonly tickLower: number | null;
  readonly tickUpper: number | null;
}

export interface BurnEvent {
  readonly kind: 'burn';
  /** V3: the owner that the event names; V2: the recipient (`to`). */
  readonly owner: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly liquidity: bigint | null;
  readonly tickLower: number | null;
  readonly tickUpper: number | null;
}

/** V2 Sync: the reserves are the whole state of the pool. */
export interface SyncEvent {
  readonly kind: 'sync';
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** V3 Initialize: the first price. */
export interface InitializeEvent {
  readonly kind: 'initialize';
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
}

/** V3 Collect: tokens that a burn released leave the pool. */
export interface CollectEvent {
  readonly kind: 'collect';
  readonly owner: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly tickLower: number;
  readonly tickUpper: number;
}

/** V3 CollectProtocol: protocol fees leave the pool. */
export interface CollectProtocolEvent {
  readonly kind: 'collect_protocol';
  readonly owner: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** V3 Flash: `paid` is the amount paid beyond the loan, positive into the pool. */
export interface FlashEvent {
  readonly kind: 'flash';
  readonly owner: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export type PoolEvent =
  | SwapEvent
  | MintEvent
  | BurnEvent
  | SyncEvent
  | InitializeEvent
  | CollectEvent
  | CollectProtocolEvent
  | FlashEvent;

/** The content of a factory's creation event. */
export interface PoolCreation {
  readonly pool: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  /** Fee in pips; null if the DEX has one fixed fee (V2). */
  readonly feePips: number | null;
  readonly tickSpacing: number;
}

export interface Protocol {
  readonly name: ProtocolName;
  readonly poolType: PoolType;
  /** topic0 of the event with which the factory creates a pool. */
  readonly creationTopic: Hex;
  /** topic0 of each event that this protocol's decoder reads. */
  readonly eventTopics: ReadonlySet<Hex>;
  /**
   * Decodes the creation event of a pool. Null if the log has the event's topic but a malformed layout; the
   * caller counts such logs.
   */
  decodeCreation(log: ChainLog): PoolCreation | null;
  /** Decodes an event of a pool. Null for an unknown topic or a malformed layout. Never throws. */
  decodeEvent(log: ChainLog): PoolEvent | null;
  /** The state after the event. The same object if nothing changed. Balances never become negative. */
  applyEvent(state: PoolState, event: PoolEvent): PoolState;
  /** Marginal price as raw token1 per raw token0: a finite float64 > 0, or null if the pool has no price. */
  spotPrice(state: PoolState): number | null;
}

/** Builds a pool from its creation event and its DEX. */
export function toPool(protocol: Protocol, dex: Dex, creation: PoolCreation): Pool {
  return {
    address: creation.pool,
    dex: dex.name,
    protocol: protocol.name,
    poolType: protocol.poolType,
    factory: dex.factory,
    token0: creation.token0,
    token1: creation.token1,
    feePips: creation.feePips ?? Math.round((dex.feeBps ?? 30) * 100),
    tickSpacing: creation.tickSpacing,
  };
}
