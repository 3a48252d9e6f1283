/** The columns of stored events that become items of /activity. The ingester's own rows have the same columns. */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import {
  liquidityEventsTable,
  poolStatesTable,
  swapsTable,
  type LiquidityEventRow,
  type PoolStateRow,
  type SwapRow,
} from '../../clickhouse/schema/tables';

const COMMON = [
  'ord',
  'timestamp',
  'pair',
  'dex',
  'pool_type',
  'token0',
  'token1',
  'base_is_token0',
  'tx_hash',
  'maker',
] as const;
const swapColumns = rowType(
  pick(swapsTable.types, [
    ...COMMON,
    'sender',
    'recipient',
    'amount0',
    'amount1',
    'reserve0',
    'reserve1',
    'sqrt_price_x96',
    'liquidity',
    'tick',
    'price',
    'price_usd',
    'quote_price_usd',
    'amount_usd',
    'fee_pips',
    'tracked',
  ]),
);
const liquidityColumns = rowType(
  pick(liquidityEventsTable.types, [
    'kind',
    ...COMMON,
    'owner',
    'amount0',
    'amount1',
    'liquidity',
    'tick_lower',
    'tick_upper',
    'amount0_usd',
    'amount1_usd',
    'trust',
    'others_usd',
  ]),
);
const syncColumns = rowType(pick(poolStatesTable.types, [...COMMON, 'reserve0', 'reserve1']));
export type SwapColumns = RowOf<typeof swapColumns>;
export type LiquidityColumns = RowOf<typeof liquidityColumns>;
export type SyncColumns = RowOf<typeof syncColumns>;

/** An event and its row. Amounts are raw, USD values in units of 10^-12. */
export type StoredEvent =
  | { readonly event: 'swap'; readonly row: SwapColumns }
  | { readonly event: 'mint' | 'burn'; readonly row: LiquidityColumns }
  | { readonly event: 'sync'; readonly row: SyncColumns };

/** The rows of a block that become events. */
export interface FreshRows {
  readonly swaps: readonly SwapRow[];
  readonly liquidity_events: readonly LiquidityEventRow[];
  readonly pool_states: readonly PoolStateRow[];
}

/** A block's rows with their commit in the head tables. */
export interface FreshBlock {
  readonly commit: number;
  readonly rows: FreshRows;
}

/** The events of one kind are ascending, but the kinds are not merged yet. */
export function eventsOfRows({ swaps, liquidity_events, pool_states }: FreshRows): StoredEvent[] {
  return [
    ...swaps.map((row) => ({ event: 'swap' as const, row })),
    ...liquidity_events.flatMap(toLiquidityEvent),
    ...pool_states.flatMap((row) => (row.kind === 'sync' ? [{ event: row.kind, row }] : [])),
  ];
}

function toLiquidityEvent(row: LiquidityColumns): StoredEvent[] {
  return row.kind === 'mint' || row.kind === 'burn' ? [{ event: row.kind, row }] : [];
}

export async function listSwaps(runner: QueryRunner, params: QueryParams): Promise<StoredEvent[]> {
  const rows = await runner.run('activity/list_swaps', params, swapColumns);
  return rows.map((row) => ({ event: 'swap', row }));
}

export async function listSyncs(runner: QueryRunner, params: QueryParams): Promise<StoredEvent[]> {
  const rows = await runner.run('activity/list_syncs', params, syncColumns);
  return rows.map((row) => ({ event: 'sync', row }));
}

export async function listMintsAndBurns(runner: QueryRunner, params: QueryParams): Promise<StoredEvent[]> {
  return (await runner.run('activity/list_liquidity_events', params, liquidityColumns)).flatMap(
    toLiquidityEvent,
  );
}
