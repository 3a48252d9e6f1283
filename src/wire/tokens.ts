/** Shapes of the answers of /tokens and the paths below. */
import { z } from 'zod';

import { tradeCountsShape } from './pairs';
import {
  addressShape,
  countShape,
  decimalShape,
  listMetaShape,
  percentShape,
  tokenShape,
  unixSecondsShape,
  usdShape,
} from './primitives';
import { barShape, ticksMetaShape } from './ticks';

export const CONFIDENCE_LEVELS = ['high', 'medium', 'low', 'none'] as const;
export const confidenceShape = z.enum(CONFIDENCE_LEVELS);

const usd = usdShape.nullable();
const percent = percentShape.nullable();

const item = {
  ...tokenShape.shape,
  logo_url: z.string().nullable(),
  price_usd: decimalShape.nullable(),
  price_native: decimalShape.nullable(),
  price_confidence: confidenceShape,
  price_change_5m: percent,
  price_change_1h: percent,
  price_change_6h: percent,
  price_change_24h: percent,
  volume_24h_usd: usdShape.meta({ description: 'USD of the swaps whose value is trusted' }),
  liquidity_usd: usdShape.meta({
    description: 'USD of the token in its pools and of anchors beside it, where the price is trusted',
  }),
  tx_24h: countShape.meta({ description: 'Swaps in all pools of the token: buys_24h + sells_24h' }),
  buys_24h: countShape.meta({ description: "Swaps in which a pool's balance of the token fell" }),
  sells_24h: countShape,
  traders_24h: countShape.nullable().meta({ description: 'Distinct makers; null where no sender is known' }),
  pool_count: countShape,
  total_supply: decimalShape.nullable().meta({
    description:
      'Minted and not sent to the zero address, by the Transfer logs; null where they begin too late, do not add up or do not tell the balances (rebasing)',
  }),
  fdv_usd: usd.meta({ description: 'price_usd times the total supply without what lies at 0x…dEaD' }),
  market_cap_usd: usd.meta({ description: 'Null: the circulating supply is not known' }),
  holders: countShape.nullable().meta({
    description:
      'Addresses with a balance above zero by the Transfer logs, the zero address left out; null where the logs begin too late',
  }),
  created_at: unixSecondsShape
    .nullable()
    .meta({ description: 'When its first pool was created; null when that was before the start block' }),
  last_trade_at: unixSecondsShape.nullable(),
  flags: z.array(z.string()).meta({
    description:
      'new, no_metadata, partial_history (transfers before the first indexed block are missing), unbalanced_transfers (the logs do not add up), rebasing (the logs do not tell the balances, as comparing them with balanceOf has shown; once set it stays)',
  }),
} as const;

export const tokenItemShape = z.object(item).meta({ id: 'TokenItem' });
export type TokenItem = z.infer<typeof tokenItemShape>;

export const tokensAnswerShape = z.object({ data: z.array(tokenItemShape), meta: listMetaShape });
export type TokensAnswer = z.infer<typeof tokensAnswerShape>;

export const warningShape = z
  .object({
    code: z.string().meta({ example: 'no_route' }),
    message: z.string(),
    severity: z.enum(['info', 'warning', 'critical']),
  })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof warningShape>;

export const tokenDetailShape = z
  .object({
    ...item,
    volume: z.object({ m5: usdShape, h1: usdShape, h6: usdShape, h24: usdShape, d7: usdShape }),
    transactions: z.object({
      m5: tradeCountsShape,
      h1: tradeCountsShape,
      h6: tradeCountsShape,
      h24: tradeCountsShape,
    }),
    price_high_24h: decimalShape
      .nullable()
      .meta({ description: 'Highest USD price after a swap whose value is trusted, in 24 hours' }),
    price_low_24h: decimalShape.nullable(),
    price_ath: decimalShape.nullable().meta({ description: 'The same since the first indexed block' }),
    price_ath_at: unixSecondsShape.nullable(),
    holder_distribution: z
      .object({ top_10: percentShape, top_11_20: percentShape, top_21_40: percentShape, rest: percentShape })
      .nullable()
      .meta({ description: 'Percent of the total supply that the largest holders have' }),
    burned_supply: decimalShape.nullable().meta({
      description:
        'What lies at 0x…dEaD, a part of total_supply; what went to the zero address is in total_supply no more',
    }),
    top_pool_address: addressShape.nullable(),
    links: z.object({
      explorer: z.string().nullable(),
      website: z.string().optional(),
      twitter: z.string().optional(),
      telegram: z.string().optional(),
      discord: z.string().optional(),
      github: z.string().optional(),
      coingecko: z.string().optional(),
    }),
    first_seen_block: countShape.meta({ description: 'Block in which a pool of the token was first seen' }),
    warnings: z.array(warningShape),
  })
  .meta({ id: 'TokenDetail' });
export type TokenDetail = z.infer<typeof tokenDetailShape>;

export const tokenAnswerShape = z.object({ data: tokenDetailShape });
export type TokenAnswer = z.infer<typeof tokenAnswerShape>;

export const TOKEN_CURRENCIES = ['usd', 'native'] as const;
export type TokenCurrency = (typeof TOKEN_CURRENCIES)[number];

/** `reason` explains why a token has no bars. */
export const tokenTicksAnswerShape = z.object({
  data: z.array(barShape),
  meta: ticksMetaShape.extend({
    currency: z.enum(TOKEN_CURRENCIES),
    reason: z.enum(['no_usd_price', 'no_native_price']).optional(),
  }),
});
export type TokenTicksAnswer = z.infer<typeof tokenTicksAnswerShape>;
