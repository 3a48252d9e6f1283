/**
 * Types of a block's rows by table. Facts are rows after decoding, without prices; complete rows also have
 * prices.
 */
import {
  EVENT_TABLE_NAMES,
  forEventTables,
  type EventRow,
  type EventTableName,
} from '../../clickhouse/schema/eventTables';
import type { LiquidityEventRow, PoolStateRow, SwapRow } from '../../clickhouse/schema/tables';
import type { BlockRef, ProofLevel } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { BinMove } from '../../domain/pools/binMoves';
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
/** Tables whose rows need prices, so that only BlockPricer makes them. */
type LaterTables = 'events' | 'pool_epochs' | 'token_routes' | 'token_prices';

export type SwapFact = Omit<SwapRow, SwapPrices>;

/**
 * `others` holds raw amounts of tokens that have no columns of their own in the row. Pricing turns them into
 * others_usd.
 */
export type LiquidityFact = Omit<LiquidityEventRow, LiquidityPrices> & {
  readonly others?: readonly { readonly token: Hex; readonly amount: bigint }[];
};

/** The amounts that a vault held for a pool before a transaction that changed them. */
export interface HeldCash {
  readonly vault: Hex;
  readonly tokens: readonly Hex[];
  /** Amount of each token in raw units. Empty if unknown. */
  readonly cash: readonly bigint[];
}

/** The key in `BlockFacts.held` of a pool in a transaction. */
export function heldKey(row: { readonly pair: Hex; readonly tx_index: number }): string {
  return `${row.pair}/${row.tx_index}`;
}

type RowsByTable = { readonly [Name in EventTableName]: readonly EventRow<Name>[] };
type FactTables = Exclude<EventTableName, LaterTables | 'swaps' | 'liquidity_events'>;

/** The decoded block without prices. Rows are in log order. */
export type BlockFacts = { readonly [Name in FactTables]: EventRow<Name>[] } & {
  readonly ref: BlockRef;
  readonly proof: ProofLevel;
  readonly swaps: SwapFact[];
  readonly liquidity_events: LiquidityFact[];
  /**
   * The amounts that the vault held for each vault pool, by pool and transaction (`heldKey`). They limit the
   * USD value of the pool's swaps.
   */
  readonly held: Map<string, HeldCash>;
  /** Indexes of the transactions whose swaps move a price by more than 10 %. */
  readonly moved: Set<number>;
  /** Contracts with a Transfer log that cannot be read. */
  readonly unreadableTokens: Set<Hex>;
  /** Pools of many tokens of whose state this block leaves a part unknown that the node can tell. */
  readonly lacking: Set<Hex>;
  /** For each pool that becomes known with this block: the reserves of all its bins before the first event of the block. */
  readonly toldBins: Map<Hex, readonly BinMove[]>;
};

export interface BlockRows extends RowsByTable {
  readonly ref: BlockRef;
  /** How far the block is proven. */
  readonly proof: ProofLevel;
}

export function noFacts(ref: BlockRef, proof: ProofLevel = 'bloom'): BlockFacts {
  return {
    ref,
    proof,
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
    moved: new Set(),
    unreadableTokens: new Set(),
    lacking: new Set(),
    toldBins: new Map(),
  };
}

type Listed = Pick<SwapFact, 'ord' | 'pair' | 'token0' | 'token1' | 'maker'>;

/**
 * Returns the rows of the table `events`, ascending by position (`ord`): one row for each swap, mint, burn
 * and sync.
 */
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
  return { ref, proof: 'bloom', ...forEventTables(() => []) };
}

export function noCounts(): Record<EventTableName, number> {
  return forEventTables(() => 0);
}

/** Counts the rows of several blocks by table. */
export function countRows(blockRows: readonly BlockRows[]): Record<EventTableName, number> {
  const counts = noCounts();
  for (const rows of blockRows) for (const name of EVENT_TABLE_NAMES) counts[name] += rows[name].length;
  return counts;
}

/** Adds up the row counts of several blocks. Throws broken_invariant if the counts of a block are unknown. */
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
