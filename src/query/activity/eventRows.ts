/** Reads swaps and syncs from RowBinary, in the column order of their queries. */
import type { RowReader } from '../../clickhouse/rows/rowReader';
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { swapFeeUsd } from '../../domain/swapFee';
import type { SwapActivityRow, SyncActivityRow } from './activityItem';

export function readSwapRow(row: RowReader): SwapActivityRow {
  const plain = {
    event: 'swap' as const,
    ...readCommon(row),
    sender: row.hex0x(20),
    recipient: row.hex0x(20),
    amount0: row.i256().toString(),
    amount1: row.i256().toString(),
    reserve0: row.u256().toString(),
    reserve1: row.u256().toString(),
    sqrt_price_x96: row.u256().toString(),
    liquidity: row.u128().toString(),
    tick: row.i32(),
    raw_price: row.f64(),
    price_usd: row.f64(),
    quote_price_usd: row.f64(),
  };
  const amount_usd = row.decimal128();
  const fee_usd = swapFeeUsd({ amount_usd, fee_pips: row.u32() });
  // The spread comes last because V8 is much slower for a spread followed by fields.
  return {
    amount_usd: unitsToNumber(amount_usd, USD_DECIMALS),
    fee_usd: fee_usd === null ? null : unitsToNumber(fee_usd, USD_DECIMALS),
    tracked: row.bool(),
    ...plain,
  };
}

export function readSyncRow(row: RowReader): SyncActivityRow {
  return {
    event: 'sync',
    ...readCommon(row),
    reserve0: row.u256().toString(),
    reserve1: row.u256().toString(),
  };
}

function readCommon(row: RowReader): Omit<SyncActivityRow, 'event' | 'reserve0' | 'reserve1'> {
  return {
    ord: row.u64().toString(),
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
