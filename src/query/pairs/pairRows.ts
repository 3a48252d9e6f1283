/** Rows of the queries over all pairs and tokens. */
import { address, array, f64, nullable, u32, type ColumnType } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolStatesTable } from '../../clickhouse/schema/tables';
import { finiteOrNull } from './rankings';
import { tradeColumns } from './windowTrades';

/** A row of pairs/count_trades.sql: trading of one pair in the last 24 hours. `fees` and `untracked` are in USD. */
export const tradesRow = rowType({ pair: address, ...tradeColumns, fees: f64, untracked: f64 });
export type TradesRow = RowOf<typeof tradesRow>;

/** A row of tokens/count_trades.sql: trading of one token over all its pools in the last 24 hours. */
export const tokenTradesRow = rowType({
  token: address,
  ...tradeColumns,
  traders: u32,
  /** The highest USD price right after a swap in the pools that make a trusted price of the token; 0 without one. */
  high: f64,
  low: f64,
});
export type TokenTradesRow = RowOf<typeof tokenTradesRow>;

/** A row of list_states.sql: amounts and `price` (token1 per token0) are in raw units. */
export const stateRow = rowType({
  ...pick(poolStatesTable.types, ['pair', 'ord', 'timestamp', 'reserve0', 'reserve1', 'sqrt_price_x96']),
  ...pick(poolStatesTable.types, [
    'liquidity',
    'tick',
    'price',
    'unswapped',
    'walked_liquidity',
    'near0',
    'near1',
  ]),
});
export type StateRow = RowOf<typeof stateRow>;

/** Column of means, which are null if unknown or beyond all floats. */
const meanColumn: ColumnType<number | null> = {
  ...nullable(f64),
  read: (reader) => (reader.bool() ? null : finiteOrNull(reader.f64())),
};
const meanColumns = {
  mean_reserve0: meanColumn,
  mean_reserve1: meanColumn,
  mean_value0: meanColumn,
  mean_value1: meanColumn,
};

/**
 * A row of mean_reserves.sql, the time-weighted means of a window: raw reserves, and the USD value of each reserve times
 * 10^decimals of the other token. A value is 0 if unknown. All are null if no second of the window has passed.
 */
export const meanReservesRow = rowType(meanColumns);
export type MeanReservesRow = RowOf<typeof meanReservesRow>;

/** A row of mean_balances.sql: time-weighted mean balances in raw units, for pools of more than two tokens. */
export const meanBalancesRow = rowType({ means: array(f64) });
/** A row of list_mean_balances.sql. */
export const pairMeansRow = rowType({ pair: address, ...meanBalancesRow.columns });

/**
 * A row of list_past_prices.sql: prices at the starts of the four windows, raw token1 per raw token0. 0 means no price.
 */
export const pastPricesRow = rowType({
  pair: address,
  price_m5: f64,
  price_h1: f64,
  price_h6: f64,
  price_h24: f64,
  ...meanColumns,
});
export type PastPricesRow = RowOf<typeof pastPricesRow>;
