/** Facts of a block, which decoding makes, and its complete rows, which pricing makes of the facts. Both are lists by table. */
import {
  EVENT_TABLE_NAMES,
  forEventTables,
  type EventRow,
  type EventTableName,
} from '../../clickhouse/schema/eventTables';
import type { LiquidityEventRow, PoolStateRow, SwapRow } from '../../clickhouse/schema/tables';
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';

/** Columns of a swap that pricing adds. */
type SwapPrices = 'price_usd' | 'quote_price_usd' | 'native_usd' | 'amount_usd' | 'untracked_usd' | 'tracked';
type LiquidityPrices = 'amount0_usd' | 'amount1_usd' | 'trust' | 'others_usd';
/** Tables whose rows BlockPricer makes. */
type LaterTables = 'events' | 'pool_epochs' | 'token_routes' | 'token_prices';

export type SwapFact = Omit<SwapRow, SwapPrices>;

/** `others`: raw amounts of the tokens that the row does not name; pricing makes others_usd of them. */
export type LiquidityFact = Omit<LiquidityEventRow, LiquidityPrices> & {
  readonly others?: readonly { readonly token: Hex; readonly amount: bigint }[];
};

type RowsByTable = { readonly [Name in EventTableName]: readonly EventRow<Name>[] };
type FactTables = Exclude<EventTableName, LaterTables | 'swaps' | 'liquidity_events'>;

/** What the block itself says, in log order. */
export type BlockFacts = { readonly [Name in FactTables]: EventRow<Name>[] } & {
  readonly ref: BlockRef;
  readonly swaps: SwapFact[];
  readonly liquidity_events: LiquidityFact[];
};

/** All rows of the block, complete. */
export interface BlockRows extends RowsByTable {
  readonly ref: BlockRef;
}

export function noFacts(ref: BlockRef): BlockFacts {
  return {
    ref,
    blocks: [],
    pools: [],
    logs: [],
    pool_states: [],
    liquidity_events: [],
    swaps: [],
    transfers: [],
    position_events: [],
    created_contracts: [],
  };
}

type Listed = Pick<SwapFact, 'ord' | 'pair' | 'token0' | 'token1' | 'maker'>;

/** The rows of the table `events`, ascending by ord: one for each swap, mint, burn and sync. */
export function toEventRows(rows: {
  readonly swaps: readonly Listed[];
  readonly liquidity_events: readonly (Listed & Pick<LiquidityFact, 'kind'>)[];
  readonly pool_states: readonly (Listed & Pick<PoolStateRow, 'kind'>)[];
}): EventRow<'events'>[] {
  const events: EventRow<'events'>[] = [];
  const add = (kind: EventRow<'events'>['kind'], { ord, pair, token0, token1, maker }: Listed): void => {
    events.push({ ord, kind, pair, token0, token1, maker });
  };
  for (const row of rows.swaps) add('swap', row);
  for (const row of rows.liquidity_events) {
    if (row.kind === 'mint' || row.kind === 'burn') add(row.kind, row);
  }
  for (const row of rows.pool_states) if (row.kind === 'sync') add('sync', row);
  return events.sort((a, b) => a.ord - b.ord);
}

export function emptyRows(ref: BlockRef): BlockRows {
  return { ref, ...forEventTables(() => []) };
}

export function noCounts(): Record<EventTableName, number> {
  return forEventTables(() => 0);
}

/** Rows by table over several blocks. */
export function countRows(all: readonly BlockRows[]): Record<EventTableName, number> {
  const counts = noCounts();
  for (const rows of all) for (const name of EVENT_TABLE_NAMES) counts[name] += rows[name].length;
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
