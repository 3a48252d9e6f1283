/** A finding is a pool that the node told the ingester about. This file has its rows in pools and found_pools. */
import type { FoundPoolRow } from '../../clickhouse/schema/olderPoolTables';
import type { PoolRow } from '../../clickhouse/schema/tables';
import type { BlockRef } from '../../domain/block';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import { emptyManyTokenState } from '../../protocols/manyTokenPool';
import type { ManyTokenState } from '../../protocols/manyTokenProtocol';
import { getManyTokenProtocol, hasManyTokens } from '../../protocols/registry';
import { fromFeePips, toFeePips } from '../../domain/swapFee';
import { hookDoubt } from '../../protocols/hooks';
import type { OldTickRange } from './oldTicks';
import { poolOfRow, type KnownPool, type PoolColumns } from './poolRegistry';

export interface Finding {
  /** Number of the block that adds the pool. */
  readonly fromBlock: number;
  readonly pool: KnownPool;
  /** The state before the first event of the pool in this block. Parts that no node has are empty. */
  readonly state: PoolState | ManyTokenState;
  /** Time of the last change according to the contract, unix seconds. Absent or 0 if unknown. */
  readonly movedAt?: number;
  /** The ticks of a V3 pool before the start block, if the node was asked for them. */
  readonly ticks?: OldTickRange;
}

/**
 * A finding with its place in the block. A log makes the pool known, or the pool search. Only the findings of the pool
 * search are stored; the others are repeated whenever their block is read.
 */
export interface PlacedFinding extends Finding {
  /** Position (`ord`) of the log. A pool of the pool search has a position after all logs of the block. */
  readonly ord: number;
  /** The transaction that creates the pool in this block; null if the pool is older. */
  readonly createdTx: Hex | null;
  /** Answers to `rateCalls` about a known pool, at the end of this block. */
  readonly rates?: readonly (Hex | null)[];
}

function columnsOf({ pool, state }: Finding): PoolColumns {
  const manyTokens = 'poolId' in state ? state : null;
  return {
    address: pool.address,
    dex: pool.dex,
    protocol: pool.protocol,
    pool_type: pool.poolType,
    factory: pool.factory,
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    tokens: [...(manyTokens?.tokens ?? [])],
    weights: [...(manyTokens?.weights ?? [])],
    doubts: manyTokens?.doubts ?? hookDoubt(pool),
    fee_pips: pool.feePips,
    tick_spacing: pool.tickSpacing,
    scale_decimals: [...(pool.scaleDecimals ?? [])],
    pool_id: pool.id ?? null,
    hooks: pool.hooks ?? null,
    hook_bits: pool.hookBits ?? null,
  };
}

/** The row of a pool that this block adds. */
export function toPoolRow(finding: PlacedFinding, block: BlockRef): PoolRow {
  const { ord, createdTx } = finding;
  return {
    ord,
    created_block: createdTx === null ? null : block.number,
    created_at: createdTx === null ? null : block.timestamp,
    created_tx: createdTx,
    ...columnsOf(finding),
  };
}

export function toFoundRow(finding: Finding): FoundPoolRow {
  const { fromBlock, state, movedAt = 0 } = finding;
  const [pair, manyTokens] = 'poolId' in state ? [EMPTY_STATE, state] : [state, null];
  return {
    block: fromBlock,
    block_hash: ZERO_HASH,
    moved_at: movedAt,
    reserve0: pair.reserve0,
    reserve1: pair.reserve1,
    sqrt_price_x96: pair.sqrtPriceX96,
    liquidity: pair.liquidity,
    tick: pair.tick,
    balances: [...(manyTokens?.balances ?? [])],
    params: [...(manyTokens?.params ?? [])],
    ...columnsOf(finding),
    pool_id: manyTokens?.poolId ?? finding.pool.id ?? null,
  };
}

/**
 * `newFee` is the fee of a later event. The state is the same as after a restart that loads the pool from the database:
 * the fee is in whole pips.
 */
export function toFinding(found: FoundPoolRow, newFee?: bigint): Finding {
  const poolId = hasManyTokens(found.protocol) ? found.pool_id : null;
  const isChanged = poolId !== null && newFee !== undefined;
  const row = isChanged ? { ...found, fee_pips: toFeePips(newFee) } : found;
  const { tokens, balances, params, doubts, sqrt_price_x96: sqrtPriceX96 } = row;
  const { reserve0, reserve1, liquidity, tick } = row;
  const finding = { fromBlock: row.block, pool: poolOfRow(row), movedAt: row.moved_at };
  if (poolId === null) return { ...finding, state: { reserve0, reserve1, sqrtPriceX96, liquidity, tick } };
  const weights = row.weights.length === 0 ? null : row.weights;
  const known = { tokens, balances, weights, params, doubts, swapFee: fromFeePips(row.fee_pips) };
  const state = { ...emptyManyTokenState(poolId), ...known };
  return { ...finding, state: getManyTokenProtocol(row.protocol).restoreState(state) };
}
