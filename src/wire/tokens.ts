/** Shapes of the answers of /tokens and the paths below. */
import { z } from 'zod';

import { tradeCountsShape } from './pairs';
import { reasonFieldShape } from './priceReason';
import {
  addressShape,
  poolShape,
  countShape,
  decimalShape,
  listMetaShape,
  percentShape,
  tokenShape,
  unixSecondsShape,
  usdShape,
} from './primitives';
import { RISK_FLAGS, transferTaxShape, warningShape } from './risks';
import { barShape, ticksMetaShape } from './ticks';

const CONFIDENCE_LEVELS = ['high', 'medium', 'low', 'none'] as const;
export const confidenceShape = z.enum(CONFIDENCE_LEVELS).meta({
  description:
    'Confidence of the USD price: high (score 0.9 or more), medium (0.5 or more), low, or none ' +
    'without a price. High and medium prices are trusted',
});

const nullableUsdShape = usdShape.nullable();
const changeOver = (window: string): z.ZodNullable<typeof percentShape> =>
  percentShape.nullable().meta({
    description:
      `Change of price_usd in ${window}, percent; null without a price now or then, and when the earlier ` +
      'price had a lower confidence level',
  });

const tokenFields = {
  ...tokenShape.shape,
  logo_url: z.string().nullable().meta({
    description: 'URL of the logo, from an imported token list; null if no list has one',
  }),
  price_usd: decimalShape.nullable().meta({ description: 'USD per whole token; null without a price' }),
  price_reason: reasonFieldShape,
  price_native: decimalShape
    .nullable()
    .meta({ description: 'Native coins per whole token; null without a price' }),
  price_confidence: confidenceShape,
  price_change_5m: changeOver('5 minutes'),
  price_change_1h: changeOver('1 hour'),
  price_change_6h: changeOver('6 hours'),
  price_change_24h: changeOver('24 h'),
  volume_24h_usd: usdShape.meta({ description: 'Volume of tracked swaps of the token in 24 h, USD' }),
  liquidity_usd: usdShape.meta({
    description:
      'Value of the token and of anchors in its pools, USD, by trusted prices. Each token counts with at ' +
      'most its cap: the USD that the pools behind its price can pay out',
  }),
  tx_24h: countShape.meta({ description: 'Number of swaps of the token in 24 h: buys_24h + sells_24h' }),
  buys_24h: countShape.meta({
    description: 'Number of buys in 24 h: swaps in which the pool balance of the token fell',
  }),
  sells_24h: countShape.meta({ description: 'Number of sells in 24 h: all other swaps of the token' }),
  traders_24h: countShape.nullable().meta({
    description: 'Distinct senders of the swaps in 24 h; null if the node does not report senders',
  }),
  pool_count: countShape.meta({ description: 'Number of pools that hold the token' }),
  total_supply: decimalShape.nullable().meta({
    description:
      'Supply from Transfer logs, whole tokens: minted minus sent to the zero address, plus what the contract still ' +
      'counts at the zero address. If the index begins in mid-history, totalSupply() of the contract at one block, ' +
      'plus later mints minus later burns. Null if neither is known or transfers do not add up, and for rebasing tokens',
  }),
  fdv_usd: nullableUsdShape.meta({
    description:
      'Fully diluted value, USD: price_usd times total_supply without burned_supply; null if either is unknown',
  }),
  market_cap_usd: nullableUsdShape.meta({
    description:
      'price_usd times circulating_supply, USD; null if either is unknown, and if the chain description names no ' +
      'treasury and no locker of the token',
  }),
  holders: countShape.nullable().meta({
    description:
      'Addresses with a positive balance from Transfer logs, without the zero address; null until balanceOf confirmed ' +
      'a sample of the holders, if early transfers are missing, and for a token whose transfers create balances from nothing',
  }),
  created_at: unixSecondsShape.nullable().meta({
    description:
      "Creation of the token's first pool, unix seconds, UTC; null if it is unknown, also while pools from before " +
      'the start block are being searched',
  }),
  last_trade_at: unixSecondsShape.nullable().meta({
    description: "Time of the last swap in the token's pools, unix seconds, UTC; null if there was none",
  }),
  flags: z.array(z.string()).meta({
    description:
      'partial_history: transfers before the first indexed block are missing; unbalanced_transfers: an address sent ' +
      'more than it received, or the contract does not confirm balances of its transfers; supply_unknown: the index ' +
      'begins late, and the contract was not asked for its supply yet or gives none; ' +
      RISK_FLAGS,
  }),
} as const;

const tokenItemShape = z.object(tokenFields).meta({ id: 'TokenItem' });
export type TokenItem = z.infer<typeof tokenItemShape>;

export const tokensAnswerShape = z.object({ data: z.array(tokenItemShape), meta: listMetaShape });
export type TokensAnswer = z.infer<typeof tokensAnswerShape>;

export const tokenDetailShape = z
  .object({
    ...tokenFields,
    volume: z
      .object({ m5: usdShape, h1: usdShape, h6: usdShape, h24: usdShape, d7: usdShape })
      .meta({ description: 'Volume of tracked swaps in 5 minutes, 1, 6 and 24 hours, and 7 days, USD' }),
    transactions: z
      .object({
        m5: tradeCountsShape,
        h1: tradeCountsShape,
        h6: tradeCountsShape,
        h24: tradeCountsShape,
      })
      .meta({ description: 'Swaps and their senders in 5 minutes, 1, 6 and 24 hours' }),
    price_high_24h: decimalShape.nullable().meta({
      description:
        'Highest USD price after a swap in 24 h, over the pools that make the price of the token, while the ' +
        'price was trusted; null if there was none',
    }),
    price_low_24h: decimalShape.nullable().meta({
      description:
        'Lowest USD price after a swap in 24 h, counted as in price_high_24h; null if there was none',
    }),
    price_ath: decimalShape.nullable().meta({
      description:
        'Highest USD price since the first indexed block, counted as in price_high_24h; null if there was none',
    }),
    price_ath_at: unixSecondsShape
      .nullable()
      .meta({ description: 'Time of the price price_ath, unix seconds, UTC; null if price_ath is null' }),
    holder_distribution: z
      .object({
        top_10: percentShape.meta({ description: 'Share of the 10 largest holders' }),
        top_11_20: percentShape.meta({ description: 'Share of the holders ranked 11 to 20' }),
        top_21_40: percentShape.meta({ description: 'Share of the holders ranked 21 to 40' }),
        rest: percentShape.meta({ description: 'Share of all other holders' }),
      })
      .nullable()
      .meta({
        description: 'Shares of total_supply in percent, 0 to 100; null without a supply or without holders',
      }),
    burned_supply: decimalShape.nullable().meta({
      description:
        'Balances of the burn addresses, whole tokens, a part of total_supply; null if total_supply is null. The ' +
        'zero address counts as far as the contract still counts its balance in the supply',
    }),
    circulating_supply: decimalShape.nullable().meta({
      description:
        'total_supply without the balances in circulating_supply_excludes, whole tokens; null if total_supply is ' +
        'null, and if the chain description names no treasury and no locker of the token',
    }),
    circulating_supply_excludes: z
      .array(
        z.object({
          address: addressShape.meta({ description: 'Burn address, treasury or locker' }),
          label: z.string().meta({ description: 'Name of the address' }),
          amount: decimalShape.meta({ description: 'Balance of the address, whole tokens' }),
        }),
      )
      .meta({
        description: 'Balances that are not in circulation; empty if circulating_supply is null',
      }),
    creator: addressShape.nullable().meta({
      description: 'Sender of the transaction that created the token contract; null if unknown',
    }),
    transfer_tax_pct: transferTaxShape.nullable().meta({
      description: 'Tax of transfers, measured in swaps; null before 5 measured swaps of either side',
    }),
    lp_locked_pct: percentShape.nullable().meta({
      description:
        'Part of the LP tokens that is burnt or in a configured locker, percent: the mean over the pools with LP ' +
        'tokens, weighted by liquidity_usd; null without such a pool, and if the node does not tell the LP tokens of ' +
        'pools that are older than the first indexed block',
    }),
    lp_held_by_creator_pct: percentShape.nullable().meta({
      description:
        'Part of the LP tokens that the creator holds, percent: the mean over the pools in which the token is the ' +
        'base token, weighted by liquidity_usd; null if unknown',
    }),
    pools_liquidity_usd: usdShape.meta({
      description:
        'Sum of liquidity_usd of the pools of the token, USD, also if the price of the token is not trusted',
    }),
    lp_pair: z
      .object({
        address: poolShape.meta({ description: 'Address or id of the pair' }),
        name: z.string().meta({ description: 'Name of the pair', example: 'WPLS / DAI' }),
      })
      .nullable()
      .meta({ description: 'The pair whose LP token this token is; null for other tokens' }),
    top_pool_address: poolShape.nullable().meta({ description: 'Pool of the token with the most liquidity' }),
    links: z
      .object({
        explorer: z.string().nullable().meta({
          description:
            "URL of the token's page on a block explorer; null for a chain without a known explorer",
        }),
        website: z.string().optional(),
        twitter: z.string().optional(),
        telegram: z.string().optional(),
        discord: z.string().optional(),
        github: z.string().optional(),
        coingecko: z.string().optional(),
      })
      .meta({ description: 'Web addresses; only `explorer` is present at the moment' }),
    first_seen_block: countShape.meta({ description: 'Block in which the first pool of the token appeared' }),
    warnings: z.array(warningShape).meta({
      description: 'Warnings about the price, the transfers and the contract',
    }),
  })
  .meta({ id: 'TokenDetail' });
export type TokenDetail = z.infer<typeof tokenDetailShape>;

export const tokenAnswerShape = z.object({ data: tokenDetailShape });
export type TokenAnswer = z.infer<typeof tokenAnswerShape>;

export const TOKEN_CURRENCIES = ['usd', 'native'] as const;
export type TokenCurrency = (typeof TOKEN_CURRENCIES)[number];

/** Where the prices of a token's bars come from. */
export const TOKEN_SOURCES = ['all', 'path', 'main_pool'] as const;

/** `reason` explains why a token has no bars. */
export const tokenTicksAnswerShape = z.object({
  data: z.array(barShape),
  meta: ticksMetaShape.extend({
    currency: z.enum(TOKEN_CURRENCIES).meta({ description: 'Currency of the prices' }),
    pool: poolShape.nullable().optional().meta({
      description:
        'With source=main_pool: the pool that carries the most weight in the price of the token now; null if the price comes from no pool',
    }),
    reason: z.enum(['no_usd_price', 'no_native_price', 'no_main_pool', 'unknown_decimals']).optional().meta({
      description:
        'Why the series is empty. no_usd_price, no_native_price: the series has no price in this currency. no_main_pool: the price of the token comes from no pool now. unknown_decimals: decimals() of a token fails or exceeds 77',
    }),
  }),
});
export type TokenTicksAnswer = z.infer<typeof tokenTicksAnswerShape>;
