/** Shapes and readers of the rows from the queries over all pairs and tokens. */
import { z } from 'zod';

import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { PricedState } from '../../pricing/legState';
import type { Window } from '../../wire/pairs';
import type { Trades } from './windowTrades';

/** Trading of one pair in the last 24 hours. */
export interface TradesRow extends Trades {
  readonly pair: string;
  readonly fees: number;
  readonly untracked: number;
}

/** Trading of one token over all its pools in the last 24 hours. */
export interface TokenTradesRow extends Trades {
  readonly token: string;
  readonly traders: number;
  /** The highest USD price right after a swap in the pools that make a trusted price of the token; 0 without one. */
  readonly high: number;
  readonly low: number;
}

// The lists of a new head read these rows for every pair and token. So they are read as RowBinary, and each reader
// names its columns, in the order of the query: a spread would be several times slower.

export function readTrades(row: RowReader): TradesRow {
  return {
    pair: row.text(),
    buys: row.u32(),
    sells: row.u32(),
    buyers: row.u32(),
    sellers: row.u32(),
    volume: row.f64(),
    fees: row.f64(),
    untracked: row.f64(),
  };
}

export function readTokenTrades(row: RowReader): TokenTradesRow {
  return {
    token: row.text(),
    buys: row.u32(),
    sells: row.u32(),
    buyers: row.u32(),
    sellers: row.u32(),
    traders: row.u32(),
    volume: row.f64(),
    high: row.f64(),
    low: row.f64(),
  };
}

export const stateRowShape = z.object({
  pair: z.string(),
  ord: z.string(),
  /** Time of the last change, unix seconds. */
  timestamp: z.int(),
  reserve0: z.string(),
  reserve1: z.string(),
  sqrt_price_x96: z.string(),
  liquidity: z.string(),
  tick: z.int(),
  price: z.number(),
  unswapped: z.array(z.number()),
  walked_liquidity: z.number(),
  near0: z.number(),
  near1: z.number(),
});
export type StateRow = z.infer<typeof stateRowShape>;

/** The columns of a stored state that its price and depth need. */
interface RawState extends Omit<PricedState, 'reserve0' | 'reserve1' | 'liquidity' | 'balances'> {
  readonly reserve0: string;
  readonly reserve1: string;
  readonly liquidity: string;
  readonly balances: readonly string[];
}

export function pricedStateOf(row: RawState): PricedState {
  return {
    ...row,
    reserve0: BigInt(row.reserve0),
    reserve1: BigInt(row.reserve1),
    liquidity: BigInt(row.liquidity),
    balances: row.balances.map(BigInt),
  };
}

/**
 * Time-weighted means of a window: raw reserves, and the USD value of each reserve times 10^decimals of the
 * other token. A value is 0 if unknown. All are null if no second of the window has passed.
 */
export const meanReservesRowShape = z.object({
  mean_reserve0: z.number().nullable(),
  mean_reserve1: z.number().nullable(),
  mean_value0: z.number().nullable(),
  mean_value1: z.number().nullable(),
});
export type MeanReservesRow = z.infer<typeof meanReservesRowShape>;

/** Time-weighted mean balances in raw units, for pools of more than two tokens. */
export const meanBalancesRowShape = z.object({ means: z.array(z.number()) });

/** Prices at the starts of the four windows. */
export interface PastPricesRow extends MeanReservesRow, Readonly<Record<`price_${Window}`, number>> {
  readonly pair: string;
}

export function readPastPrices(row: RowReader): PastPricesRow {
  const mean = (): number | null => finiteOrNull(row.orNull(() => row.f64()));
  return {
    pair: row.text(),
    price_m5: row.f64(),
    price_h1: row.f64(),
    price_h6: row.f64(),
    price_h24: row.f64(),
    mean_reserve0: mean(),
    mean_reserve1: mean(),
    mean_value0: mean(),
    mean_value1: mean(),
  };
}

function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}
