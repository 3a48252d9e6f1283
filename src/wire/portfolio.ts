/** Shapes of the answer of /portfolio/{address}. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  integerStringShape,
  percentShape,
  poolTypeShape,
  tokenShape,
  usdShape,
} from './primitives';
import { confidenceShape, warningShape } from './tokens';

const holding = {
  balance: decimalShape,
  balance_raw: integerStringShape,
  price_usd: decimalShape.nullable(),
  value_usd: usdShape.nullable(),
  price_confidence: confidenceShape,
  price_change_24h: percentShape.nullable(),
} as const;

const portfolioPct = percentShape.meta({
  description: 'value_usd in percent of total_usd; 0 for what does not count in it',
});

const portfolioTokenShape = z
  .object({
    ...tokenShape.shape,
    ...holding,
    portfolio_pct: portfolioPct,
    flags: z.array(z.string()).meta({
      description:
        "rebasing: the token's logs do not tell its balances, this one is the contract's own (unless the answer has the flag " +
        'rebasing_guessed); seeded: what was there before the first indexed block is what the contract said once, the rest is by the logs',
    }),
  })
  .meta({ id: 'PortfolioToken' });
export type PortfolioToken = z.infer<typeof portfolioTokenShape>;

const portfolioNativeShape = z
  .object({ symbol: z.string(), decimals: z.int(), ...holding })
  .meta({ id: 'PortfolioNative', description: 'The native coin, priced as its wrapped token' });
export type PortfolioNative = z.infer<typeof portfolioNativeShape>;

const amountShape = z.object({
  address: addressShape,
  symbol: z.string().nullable(),
  amount: decimalShape.nullable(),
  value_usd: usdShape.nullable(),
});
export type PortfolioAmount = z.infer<typeof amountShape>;

const portfolioPositionShape = z
  .object({
    id: z.string().meta({ description: 'Address of the LP token, or manager and number of a V3 position' }),
    pair_address: addressShape,
    dex_name: z.string(),
    pool_type: poolTypeShape,
    lp_balance_raw: integerStringShape.meta({ description: 'LP tokens; of a V3 position its liquidity' }),
    share_pct: percentShape.nullable().meta({
      description:
        'Percent of the pool, after what the protocol would be minted now; of a V3 position percent of the active ' +
        'liquidity, 0 out of range; null where the supply is not known',
    }),
    tokens: z.array(amountShape),
    value_usd: usdShape.nullable().meta({
      description: 'Of `tokens`, without what is unclaimed; null unless each of them has a price',
    }),
    unclaimed: z
      .array(amountShape)
      .nullable()
      .optional()
      .meta({
        description:
          'V3 positions: what a collect would pay out now, fees up to this block and liquidity that was taken out and ' +
          'not paid, beside `tokens`; null where the node does not say',
      }),
    unclaimed_usd: usdShape.nullable().optional().meta({ description: 'V3 positions: what that is worth' }),
    portfolio_pct: portfolioPct,
    apr_24h: percentShape.nullable(),
    position_id: integerStringShape.optional(),
    tick_lower: z.int().optional(),
    tick_upper: z.int().optional(),
    in_range: z.boolean().nullable().optional(),
  })
  .meta({ id: 'PortfolioPosition' });
export type PortfolioPosition = z.infer<typeof portfolioPositionShape>;

export const portfolioShape = z
  .object({
    address: addressShape,
    total_usd: usdShape.meta({ description: 'tokens_usd + positions_usd' }),
    net_worth_usd: usdShape.meta({
      description: 'total_usd + native_usd + unclaimed_usd, as far as these are known',
    }),
    native_usd: usdShape.nullable().meta({
      description:
        'The native coin, where its price has at least medium confidence; null where the node does not say',
    }),
    tokens_usd: usdShape.meta({ description: 'Tokens whose price has at least medium confidence' }),
    positions_usd: usdShape.meta({ description: 'Positions all of whose tokens have such a price' }),
    unclaimed_usd: usdShape.nullable().meta({
      description:
        'What these positions are owed and have not been paid; null where the node does not say it of all',
    }),
    excluded_usd: usdShape.meta({ description: 'What the other tokens and positions listed come to' }),
    block_number: countShape,
    native: portfolioNativeShape.nullable().meta({ description: 'Null where the node does not say' }),
    tokens: z.array(portfolioTokenShape),
    positions: z.array(portfolioPositionShape),
    flags: z.array(z.string()).meta({
      description:
        'The codes of the warnings: partial_history, seeded, unbalanced_transfers, truncated, node_away, rebasing_guessed',
    }),
    warnings: z.array(warningShape),
  })
  .meta({
    id: 'Portfolio',
    description:
      'As of one block: tokens and positions by the logs; the native coin, what V3 positions are owed, balances of ' +
      'rebasing tokens and, where the history begins late, what was there before it, by the node. Without what lies ' +
      'staked in other contracts. LP tokens are positions, never tokens',
  });
export type Portfolio = z.infer<typeof portfolioShape>;

export const portfolioAnswerShape = z.object({ data: portfolioShape });
export type PortfolioAnswer = z.infer<typeof portfolioAnswerShape>;
