/** The rows that one block makes, table by table: what decoding hands to pricing and pricing to the store. */
import type { CreatedContractRow } from '../clickhouse/explorerTables';
import type {
  BlockRow,
  EventTableName,
  LiquidityEventRow,
  LogRow,
  PoolEpochRow,
  PoolRow,
  PoolStateRow,
  PositionEventRow,
  SwapRow,
  TokenPriceRow,
  TokenRouteRow,
  TransferRow,
} from '../clickhouse/tables';
import type { BlockRef } from '../domain/block';
import type { Hex } from '../domain/hex';
import { AppError } from '../errors';

/** A mint or burn as it is decoded: `others` is what it moved of tokens that its row does not name, raw, for who prices it. */
export type DecodedLiquidity = LiquidityEventRow & {
  readonly others?: readonly { readonly token: Hex; readonly amount: bigint }[];
};

export interface BlockRows {
  readonly ref: BlockRef;
  readonly blocks: BlockRow[];
  readonly pools: PoolRow[];
  readonly logs: LogRow[];
  readonly pool_states: PoolStateRow[];
  readonly liquidity_events: DecodedLiquidity[];
  readonly swaps: SwapRow[];
  readonly pool_epochs: PoolEpochRow[];
  readonly token_routes: TokenRouteRow[];
  readonly token_prices: TokenPriceRow[];
  readonly transfers: TransferRow[];
  readonly position_events: PositionEventRow[];
  readonly created_contracts: CreatedContractRow[];
}

export function emptyRows(ref: BlockRef): BlockRows {
  return {
    ref,
    blocks: [],
    pools: [],
    logs: [],
    pool_states: [],
    liquidity_events: [],
    swaps: [],
    pool_epochs: [],
    token_routes: [],
    token_prices: [],
    transfers: [],
    position_events: [],
    created_contracts: [],
  };
}

export function noCounts(): Record<EventTableName, number> {
  return {
    blocks: 0,
    pools: 0,
    logs: 0,
    pool_states: 0,
    liquidity_events: 0,
    swaps: 0,
    pool_epochs: 0,
    token_routes: 0,
    token_prices: 0,
    transfers: 0,
    position_events: 0,
    created_contracts: 0,
  };
}

/** Rows by table over several blocks. */
export function countRows(all: readonly BlockRows[]): Record<EventTableName, number> {
  const counts = noCounts();
  for (const rows of all) {
    counts.blocks += rows.blocks.length;
    counts.pools += rows.pools.length;
    counts.logs += rows.logs.length;
    counts.pool_states += rows.pool_states.length;
    counts.liquidity_events += rows.liquidity_events.length;
    counts.swaps += rows.swaps.length;
    counts.pool_epochs += rows.pool_epochs.length;
    counts.token_routes += rows.token_routes.length;
    counts.token_prices += rows.token_prices.length;
    counts.transfers += rows.transfers.length;
    counts.position_events += rows.position_events.length;
    counts.created_contracts += rows.created_contracts.length;
  }
  return counts;
}

/** Rows by table over blocks of which each was counted before. */
export function sumCounts(
  all: readonly (Readonly<Record<string, number>> | undefined)[],
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    if (counts === undefined) throw new AppError('broken_invariant', 'a final block was never decoded');
    for (const [table, count] of Object.entries(counts)) sums[table] = (sums[table] ?? 0) + count;
  }
  return sums;
}
