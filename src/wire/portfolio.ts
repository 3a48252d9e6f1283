/** Shapes of the answer of /portfolio/{address}. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  dexNameShape,
  integerStringShape,
  percentShape,
  poolShape,
  poolTypeShape,
  tokenShape,
  usdShape,
} from './primitives';
import { warningShape } from './risks';
import { confidenceShape } from './tokens';

const holdingFields = {
  balance: decimalShape.meta({ description: 'Balance in whole tokens' }),
  balance_raw: integerStringShape.meta({ description: 'Balance in raw units' }),
  price_usd: decimalShape.nullable().meta({ description: 'USD per whole token; null without a price' }),
  value_usd: usdShape.nullable().meta({
    description:
      'Value of the balance in USD, by any price, at most what the pools behind the price could pay; ' +
      'null without a price',
  }),
  price_confidence: confidenceShape,
  price_change_24h: percentShape.nullable().meta({
    description:
      'Change of price_usd in 24 h, percent; null without a price now or then, and when the earlier ' +
      'price had a lower confidence level',
  }),
} as const;

const portfolioPctShape = percentShape.meta({
  description: 'value_usd in percent of total_usd, 0 to 100; 0 if total_usd does not include the value',
});

const portfolioTokenShape = z
  .object({
    ...tokenShape.shape,
    ...holdingFields,
    portfolio_pct: portfolioPctShape,
    flags: z.array(z.string()).meta({
      description:
        'rebasing: the logs do not give the balance, so it comes from the contract (from the logs if the ' +
        'answer has the flag rebasing_guessed); seeded: the balance before the first indexed block comes ' +
        'from the contract, later changes from the logs; value_capped: the pools behind the price could ' +
        'pay only value_usd',
    }),
  })
  .meta({ id: 'PortfolioToken' });
export type PortfolioToken = z.infer<typeof portfolioTokenShape>;

const portfolioNativeShape = z
  .object({
    symbol: z.string().meta({ description: 'Symbol of the native coin' }),
    decimals: z.int().meta({ description: 'Always 18' }),
    ...holdingFields,
  })
  .meta({ id: 'PortfolioNative', description: 'The native coin, at the price of its wrapped token' });
export type PortfolioNative = z.infer<typeof portfolioNativeShape>;

const amountShape = z.object({
  address: addressShape.meta({ description: 'Token' }),
  symbol: z.string().nullable().meta({ description: 'Symbol of the token; null if the contract has none' }),
  amount: decimalShape
    .nullable()
    .meta({ description: 'Amount of the token in whole tokens; null if unknown' }),
  value_usd: usdShape.nullable().meta({
    description:
      'Value of the amount in USD, by a trusted or untrusted price; null if amount or price is unknown',
  }),
});
export type PortfolioAmount = z.infer<typeof amountShape>;

const portfolioPositionShape = z
  .object({
    id: z.string().meta({
      description:
        'Address of the LP token; for a V3 position <position manager>-<position_id>; for shares of bins <pair_address>-<owner>',
    }),
    pair_address: poolShape.meta({ description: 'Address or id of the pair' }),
    dex_name: dexNameShape,
    pool_type: poolTypeShape,
    lp_balance_raw: integerStringShape.meta({
      description: 'LP tokens in raw units; for a V3 position its liquidity; the sum of shares of bins',
    }),
    share_pct: percentShape.nullable().meta({
      description:
        'Share of the pool in percent, 0 to 100, after the LP tokens that the next mint or burn gives to ' +
        'the protocol. V3 position: share of the active liquidity, 0 out of range. Shares of bins: share of ' +
        'the active bin. Null if the share is ' +
        'unknown',
    }),
    tokens: z
      .array(amountShape)
      .meta({ description: 'Amounts of the tokens that the position holds at the current price' }),
    value_usd: usdShape.nullable().meta({
      description: 'Value of `tokens` in USD, without unclaimed amounts; null unless each token has a price',
    }),
    unclaimed: z
      .array(amountShape)
      .nullable()
      .optional()
      .meta({
        description:
          'V3 positions: fees and withdrawn liquidity that the owner could collect now. `tokens` does not ' +
          'include them. Null if the node does not answer, or if a hook takes a part of them',
      }),
    unclaimed_usd: usdShape.nullable().optional().meta({
      description: 'V3 positions: value of `unclaimed` in USD; null if an amount or a price is unknown',
    }),
    portfolio_pct: portfolioPctShape,
    apr_24h: percentShape.nullable().meta({ description: 'apr_24h of the pair, percent; null if unknown' }),
    flags: z.array(z.string()).meta({
      description: 'value_capped: the pools behind the price of a token could pay only its value_usd',
    }),
    position_id: integerStringShape
      .optional()
      .meta({ description: 'V3 positions: token id of the position NFT', example: '4711' }),
    tick_lower: z
      .int()
      .optional()
      .meta({ description: 'V3 positions: lower tick; shares of bins: lowest bin' }),
    tick_upper: z
      .int()
      .optional()
      .meta({ description: 'V3 positions: upper tick; shares of bins: highest bin' }),
    in_range: z
      .boolean()
      .nullable()
      .optional()
      .meta({
        description:
          'V3 positions: whether tick_lower ≤ current tick < tick_upper; shares of bins: whether they include the ' +
          'active bin. Null if the tick is unknown',
      }),
  })
  .meta({ id: 'PortfolioPosition' });
export type PortfolioPosition = z.infer<typeof portfolioPositionShape>;

const portfolioShape = z
  .object({
    address: addressShape.meta({ description: 'Address of the wallet' }),
    total_usd: usdShape.meta({ description: 'tokens_usd + positions_usd' }),
    net_worth_usd: usdShape.meta({
      description: 'total_usd plus the native coin plus unclaimed amounts; unknown parts count as 0',
    }),
    native_usd: usdShape.nullable().meta({
      description:
        'Value of the native coin in USD; 0 if its price is not trusted; null if the node does not answer',
    }),
    tokens_usd: usdShape.meta({ description: 'Value of the tokens with a trusted price, USD' }),
    positions_usd: usdShape.meta({
      description: 'Value of the positions whose tokens all have a trusted price, USD',
    }),
    unclaimed_usd: usdShape.nullable().meta({
      description:
        'Unclaimed amounts of these positions, USD; null if the node does not answer for every V3 position',
    }),
    excluded_usd: usdShape.meta({
      description: 'Value of all other tokens and positions, USD: their prices are not trusted',
    }),
    block_number: countShape.meta({ description: 'Number of the newest block that the answer includes' }),
    native: portfolioNativeShape
      .nullable()
      .meta({ description: 'The native coin; null if the node does not answer' }),
    tokens: z.array(portfolioTokenShape).meta({ description: 'Tokens, largest value first' }),
    positions: z
      .array(portfolioPositionShape)
      .meta({ description: 'LP tokens, V3 positions and shares of bins, largest value first' }),
    flags: z.array(z.string()).meta({
      description:
        'Codes of the warnings: partial_history, seeded, unbalanced_transfers, truncated, node_away, ' +
        'rebasing_guessed, value_capped',
    }),
    warnings: z.array(warningShape).meta({ description: 'Reasons why amounts may be incomplete' }),
  })
  .meta({
    id: 'Portfolio',
    description:
      'Tokens, native coin and liquidity positions of one address at one block. Logs give the tokens ' +
      'and positions. The node gives the native coin, unclaimed amounts, balances of rebasing tokens, ' +
      'and balances from before the first indexed block. Tokens staked in other contracts are not ' +
      'included. LP tokens are positions, never tokens',
  });
export type Portfolio = z.infer<typeof portfolioShape>;

export const portfolioAnswerShape = z.object({ data: portfolioShape });
export type PortfolioAnswer = z.infer<typeof portfolioAnswerShape>;
