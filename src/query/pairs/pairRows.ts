/** Shapes of the rows from the pair queries. */
import { z } from 'zod';

const count = z.int().min(0);
const usd = z.number();

/** Trades and volume of the four windows. */
export const windowSumsShape = z.object({
  buys_m5: count,
  buys_h1: count,
  buys_h6: count,
  buys_h24: count,
  sells_m5: count,
  sells_h1: count,
  sells_h6: count,
  sells_h24: count,
  buyers_m5: count,
  buyers_h1: count,
  buyers_h6: count,
  buyers_h24: count,
  sellers_m5: count,
  sellers_h1: count,
  sellers_h6: count,
  sellers_h24: count,
  volume_m5: usd,
  volume_h1: usd,
  volume_h6: usd,
  volume_h24: usd,
});

export const tradesRowShape = windowSumsShape.extend({
  pair: z.string(),
  fees_h24: usd,
  untracked_h24: usd,
});
export type TradesRow = z.infer<typeof tradesRowShape>;

export const stateRowShape = z.object({
  pair: z.string(),
  ord: z.string(),
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

/**
 * Time-weighted means: reserves in raw units, and values as in list_past_prices.sql. Null if no second of the window
 * has passed.
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

export const pastPricesRowShape = meanReservesRowShape.extend({
  pair: z.string(),
  price_m5: z.number(),
  price_h1: z.number(),
  price_h6: z.number(),
  price_h24: z.number(),
});
export type PastPricesRow = z.infer<typeof pastPricesRowShape>;
