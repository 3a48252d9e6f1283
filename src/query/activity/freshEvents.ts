/**
 * Builds event rows of new blocks from the ingester's rows in memory. The result equals a read of the tables. Pure.
 */
import type { LiquidityEventRow, PoolStateRow, SwapRow } from '../../clickhouse/schema/tables';
import { formatUnits, unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { swapFeeUsd } from '../../domain/swapFee';
import type { ActivityRow } from './activityItem';

/** The rows of a block that become events of /activity. */
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

/** The rows of one kind of event are ascending, but the kinds are not merged yet. */
export function eventRowsOf({ swaps, liquidity_events, pool_states }: FreshRows): ActivityRow[] {
  return [
    ...swaps.map(swapOf),
    ...liquidity_events.flatMap(liquidityOf),
    ...pool_states.flatMap((row) => (row.kind === 'sync' ? syncOf(row) : [])),
  ];
}

function commonOf(row: SwapRow | LiquidityEventRow | PoolStateRow) {
  const { timestamp, pair, dex, token0, token1, base_is_token0, tx_hash, maker } = row;
  const common = { timestamp, pair, dex, token0, token1, base_is_token0, tx_hash, maker };
  return { ...common, ord: String(row.ord), pool_type: row.pool_type };
}

function swapOf(row: SwapRow): ActivityRow {
  const feeUsd = swapFeeUsd(row);
  return {
    event: 'swap',
    ...commonOf(row),
    sender: row.sender,
    recipient: row.recipient,
    amount0: String(row.amount0),
    amount1: String(row.amount1),
    reserve0: String(row.reserve0),
    reserve1: String(row.reserve1),
    sqrt_price_x96: String(row.sqrt_price_x96),
    liquidity: String(row.liquidity),
    tick: row.tick,
    raw_price: row.price,
    price_usd: row.price_usd,
    quote_price_usd: row.quote_price_usd,
    amount_usd: unitsToNumber(row.amount_usd, USD_DECIMALS),
    fee_usd: feeUsd === null ? null : unitsToNumber(feeUsd, USD_DECIMALS),
    tracked: row.tracked,
  };
}

function liquidityOf(row: LiquidityEventRow): ActivityRow[] {
  const { kind, amount0_usd, amount1_usd, others_usd } = row;
  if (kind !== 'mint' && kind !== 'burn') return [];
  return [
    {
      event: kind,
      ...commonOf(row),
      owner: row.owner,
      amount0: String(row.amount0),
      amount1: String(row.amount1),
      liquidity: row.liquidity === null ? null : String(row.liquidity),
      tick_lower: row.tick_lower,
      tick_upper: row.tick_upper,
      amount0_usd: decimalUsd(amount0_usd),
      amount1_usd: decimalUsd(amount1_usd),
      trust: row.trust,
      others_usd: decimalUsd(others_usd),
    },
  ];
}

function syncOf(row: PoolStateRow): ActivityRow {
  const reserves = { reserve0: String(row.reserve0), reserve1: String(row.reserve1) };
  return { event: 'sync', ...commonOf(row), ...reserves };
}

function decimalUsd(scaled: bigint | null): string | null {
  return scaled === null ? null : formatUnits(scaled, USD_DECIMALS);
}
