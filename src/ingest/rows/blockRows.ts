/** Types of a block's rows by table: rows after decoding, which have no prices (facts), and complete rows
 * after pricing. */
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

type SwapPrices =
  | 'price_usd'
  | 'quote_price_usd'
  | 'native_usd'
  | 'amount_usd'
  | 'untracked_usd'
  | 'tracked'
  | 'price_counts';
type LiquidityPrices = 'amount0_usd' | 'amount1_usd' | 'trust' | 'others_usd';
/** Tables with rows that only BlockPricer makes. */
type LaterTables = 'events' | 'pool_epochs' | 'token_routes' | 'token_prices';

export type SwapFact = Omit<SwapRow, SwapPrices>;

/** `others` holds raw amounts of tokens for which the row has no columns. Pricing turns these amounts into
 * others_usd. */
export type LiquidityFact = Omit<LiquidityEventRow, LiquidityPrices> & {
  readonly others?: readonly { readonly token: Hex; readonly amount: bigint }[];
};

/** What a vault held for a pool before a transaction that touched the pool. */
export interface HeldCash {
  readonly vault: Hex;
  readonly tokens: readonly Hex[];
  /** Number of raw units, one per token. Empty if unknown. */
  readonly cash: readonly bigint[];
}

/** Key of `BlockFacts.held`. */
export function heldKey(row: { readonly pair: Hex; readonly tx_index: number }): string {
  return `${row.pair}/${row.tx_index}`;
}

type RowsByTable = { readonly [Name in EventTableName]: readonly EventRow<Name>[] };
type FactTables = Exclude<EventTableName, LaterTables | 'swaps' | 'liquidity_events'>;

/** The decoded block before pricing. Rows are in log order. */
export type BlockFacts = { readonly [Name in FactTables]: EventRow<Name>[] } & {
  readonly ref: BlockRef;
  readonly swaps: SwapFact[];
  readonly liquidity_events: LiquidityFact[];
  /**
   * What the vault held for each vault pool, by pool and transaction (`heldKey`). It limits the values of the pool's
   * swaps.
   */
  readonly held: Map<string, HeldCash>;
};

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
    held: new Map(),
  };
}

type Listed = Pick<SwapFact, 'ord' | 'pair' | 'token0' | 'token1' | 'maker'>;

/** Rows of the table `events`, ascending by position (`ord`): one row for each swap, mint, burn and sync. */
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

/** Row counts by table, over several blocks. */
export function countRows(all: readonly BlockRows[]): Record<EventTableName, number> {
  const counts = noCounts();
  for (const rows of all) for (const name of EVENT_TABLE_NAMES) counts[name] += rows[name].length;
  return counts;
}

/** Adds up the counts of blocks. Throws broken_invariant for a block without counts. */
export function sumCounts(
  all: readonly (Readonly<Record<string, number>> | undefined)[],
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    if (counts === undefined)
      throw new AppError('broken_invariant', 'the row counts of a final block are missing');
    for (const [table, count] of Object.entries(counts)) sums[table] = (sums[table] ?? 0) + count;
  }
  return sums;
}
