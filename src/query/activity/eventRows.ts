/**
 * The columns of stored events that become items of /activity, and their decoders from RowBinary, in the column order of
 * their queries. The ingester's own rows have the same columns.
 */
import type { LiquidityEventRow, PoolStateRow, SwapRow } from '../../clickhouse/schema/tables';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import { AppError } from '../../errors';

type CommonColumns = Pick<
  SwapRow,
  | 'ord'
  | 'timestamp'
  | 'pair'
  | 'dex'
  | 'pool_type'
  | 'token0'
  | 'token1'
  | 'base_is_token0'
  | 'tx_hash'
  | 'maker'
>;
export type SwapColumns = CommonColumns &
  Pick<SwapRow, 'sender' | 'recipient' | 'amount0' | 'amount1' | 'reserve0' | 'reserve1' | 'sqrt_price_x96'> &
  Pick<
    SwapRow,
    'liquidity' | 'tick' | 'price' | 'price_usd' | 'quote_price_usd' | 'amount_usd' | 'fee_pips'
  > &
  Pick<SwapRow, 'tracked'>;
export type LiquidityColumns = CommonColumns &
  Pick<LiquidityEventRow, 'owner' | 'amount0' | 'amount1' | 'liquidity' | 'tick_lower' | 'tick_upper'> &
  Pick<LiquidityEventRow, 'amount0_usd' | 'amount1_usd' | 'trust' | 'others_usd'>;
export type SyncColumns = CommonColumns & Pick<PoolStateRow, 'reserve0' | 'reserve1'>;

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
    ...liquidity_events.flatMap((row) =>
      row.kind === 'mint' || row.kind === 'burn' ? [{ event: row.kind, row }] : [],
    ),
    ...pool_states.flatMap((row) => (row.kind === 'sync' ? [{ event: row.kind, row }] : [])),
  ];
}

export function readSwap(row: RowReader): StoredEvent {
  // The spread comes last because V8 is much slower for a spread followed by fields.
  const common = readCommon(row);
  return {
    event: 'swap',
    row: {
      sender: row.hex0x(20),
      recipient: row.hex0x(20),
      amount0: row.i256(),
      amount1: row.i256(),
      reserve0: row.u256(),
      reserve1: row.u256(),
      sqrt_price_x96: row.u256(),
      liquidity: row.u128(),
      tick: row.i32(),
      price: row.f64(),
      price_usd: row.f64(),
      quote_price_usd: row.f64(),
      amount_usd: row.decimal128(),
      fee_pips: row.u32(),
      tracked: row.bool(),
      ...common,
    },
  };
}

export function readLiquidityEvent(row: RowReader): StoredEvent {
  const kind = row.u8();
  if (kind !== 1 && kind !== 2)
    throw new AppError(
      'broken_invariant',
      `a liquidity event has the kind ${kind}; allowed: 1 (mint) or 2 (burn)`,
    );
  const common = readCommon(row);
  const usd = (): bigint | null => row.orNull(() => row.decimal128());
  return {
    event: kind === 1 ? 'mint' : 'burn',
    row: {
      owner: row.hex0x(20),
      amount0: row.u256(),
      amount1: row.u256(),
      liquidity: row.orNull(() => row.u256()),
      tick_lower: row.orNull(() => row.i32()),
      tick_upper: row.orNull(() => row.i32()),
      amount0_usd: usd(),
      amount1_usd: usd(),
      trust: row.u8(),
      others_usd: usd(),
      ...common,
    },
  };
}

export function readSync(row: RowReader): StoredEvent {
  const common = readCommon(row);
  return { event: 'sync', row: { reserve0: row.u256(), reserve1: row.u256(), ...common } };
}

function readCommon(row: RowReader): CommonColumns {
  return {
    ord: row.u64(),
    timestamp: row.u32(),
    pair: row.hex0x(20),
    dex: row.text(),
    pool_type: row.u8(),
    token0: row.hex0x(20),
    token1: row.hex0x(20),
    base_is_token0: row.bool(),
    tx_hash: row.hex0x(32),
    maker: row.orNull(() => row.hex0x(20)),
  };
}
