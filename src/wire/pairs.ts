/** Shapes of the answers of /pairs and /pairs/{address}. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  hashShape,
  integerStringShape,
  listMetaShape,
  percentShape,
  poolTypeShape,
  tokenShape,
  unixSecondsShape,
  usdShape,
} from './primitives';

const change = percentShape.nullable().meta({
  description: 'Change of price_usd; where it is unknown now or then, of price (quote per base)',
});
const apr = percentShape.nullable().meta({
  description:
    'LP fees of the window, annualised, over its time-weighted TVL, with reserves at the prices of the last swap in the pool; of a pool of more than two tokens with balances at the prices of now. Of a younger pool the TVL is that since its first state',
});

const item = {
  address: addressShape,
  dex_name: z.string(),
  pool_type: poolTypeShape,
  fee_bps: z.number().min(0),
  name: z.string().meta({ example: 'WPLS / DAI' }),
  base_token: tokenShape,
  quote_token: tokenShape,
  tokens: z.array(tokenShape).meta({ description: 'All tokens of the pool in chain order' }),
  price_usd: decimalShape
    .nullable()
    .meta({ description: "`price` times the quote token's USD price; null where it has none" }),
  price_native: decimalShape.nullable(),
  price: decimalShape.nullable().meta({ description: 'Quote per base of the pool as of the indexed block' }),
  price_change_5m: change,
  price_change_1h: change,
  price_change_6h: change,
  price_change_24h: change,
  volume_24h_usd: usdShape.meta({ description: 'USD of the swaps whose value is trusted' }),
  fees_24h_usd: usdShape.meta({ description: 'Fees of the same swaps, at the fee of each' }),
  liquidity_usd: usdShape.meta({
    description:
      'USD of the sides whose price is trusted; a single one counts twice in V2 pools; 0 where none is trusted',
  }),
  tx_24h: countShape,
  buys_24h: countShape,
  sells_24h: countShape,
  buyers_24h: countShape.nullable(),
  sellers_24h: countShape.nullable(),
  apr_24h: apr,
  created_at: unixSecondsShape.nullable(),
  created_block: countShape.nullable(),
  last_trade_at: unixSecondsShape.nullable(),
  flags: z.array(z.string()),
} as const;

export const pairItemShape = z.object(item).meta({ id: 'Pair' });
export type PairItem = z.infer<typeof pairItemShape>;

export const pairsAnswerShape = z.object({ data: z.array(pairItemShape), meta: listMetaShape });
export type PairsAnswer = z.infer<typeof pairsAnswerShape>;

/** Names and lengths (in seconds) of the time windows in answers. */
export const WINDOW_SECONDS = { m5: 300, h1: 3_600, h6: 21_600, h24: 86_400 } as const;
export type Window = keyof typeof WINDOW_SECONDS;
export const WEEK_SECONDS = 604_800;
export const MONTH_SECONDS = 2_592_000;

export const tradeCountsShape = z.object({
  buys: countShape,
  sells: countShape,
  buyers: countShape.nullable().meta({ description: 'Distinct makers; null where no sender is known' }),
  sellers: countShape.nullable(),
});
export type TradeCounts = z.infer<typeof tradeCountsShape>;

const volume = usdShape;

export const pairDetailShape = z
  .object({
    ...item,
    token0: addressShape.meta({
      description:
        'Whose reserve0 is; of a pool of more tokens the two of its default leg, see `balances` for all',
    }),
    token1: addressShape,
    reserve0: decimalShape.nullable(),
    reserve1: decimalShape.nullable(),
    reserve0_raw: integerStringShape.nullable(),
    reserve1_raw: integerStringShape.nullable(),
    reserve0_usd: usdShape.nullable().meta({ description: 'By whatever price there is' }),
    reserve1_usd: usdShape.nullable(),
    token0_price: decimalShape.nullable().meta({ description: 'token1 per token0' }),
    token1_price: decimalShape.nullable().meta({ description: 'token0 per token1' }),
    volume: z.object({ m5: volume, h1: volume, h6: volume, h24: volume, d7: volume, d30: volume }),
    untracked_volume_24h_usd: usdShape.meta({
      description: 'USD of the other swaps, by prices that are not trusted',
    }),
    fees: z.object({ h24: volume, d7: volume }),
    lp_fees_24h_usd: usdShape,
    protocol_fees_24h_usd: usdShape,
    apr_7d: apr,
    transactions: z.object({
      m5: tradeCountsShape,
      h1: tradeCountsShape,
      h6: tradeCountsShape,
      h24: tradeCountsShape,
    }),
    total_supply: decimalShape.nullable().meta({
      description:
        'LP tokens, by their Transfer logs; null of V3 pools and of pools older than the first indexed block',
    }),
    lp_holders: countShape
      .nullable()
      .meta({ description: 'Addresses that hold LP tokens, the zero address left out' }),
    depth_2pct_usd: z.object({ up: usdShape.nullable(), down: usdShape.nullable() }).meta({
      description: 'USD of quote that move the price by +2 % and -2 %, at most what the pool really holds',
    }),
    factory: addressShape,
    created_tx: hashShape.nullable(),
    sqrt_price_x96: integerStringShape.nullable().optional(),
    tick: z.int().nullable().optional(),
    liquidity_raw: integerStringShape.nullable().optional(),
    tick_spacing: z.int().optional(),
    weights: z
      .array(decimalShape)
      .optional()
      .meta({ description: 'Weighted pools: the weight of each of `tokens`; they sum to 1' }),
    balances: z
      .array(
        z.object({
          address: addressShape,
          balance: decimalShape.nullable(),
          balance_raw: integerStringShape.nullable(),
          value_usd: usdShape.nullable(),
        }),
      )
      .optional()
      .meta({ description: 'Weighted and stable pools: what the vault holds for it of each of `tokens`' }),
  })
  .meta({ id: 'PairDetail' });
export type PairDetail = z.infer<typeof pairDetailShape>;

export const pairAnswerShape = z.object({ data: pairDetailShape });
export type PairAnswer = z.infer<typeof pairAnswerShape>;
