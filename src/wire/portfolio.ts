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

const portfolioTokenShape = z
  .object({
    ...tokenShape.shape,
    balance: decimalShape,
    balance_raw: integerStringShape,
    price_usd: decimalShape.nullable(),
    value_usd: usdShape.nullable(),
    price_confidence: confidenceShape,
    price_change_24h: percentShape.nullable(),
    portfolio_pct: percentShape.meta({
      description: 'Percent of total_usd; 0 for what does not count in it',
    }),
  })
  .meta({ id: 'PortfolioToken' });
export type PortfolioToken = z.infer<typeof portfolioTokenShape>;

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
    tokens: z.array(
      z.object({
        address: addressShape,
        symbol: z.string().nullable(),
        amount: decimalShape.nullable(),
        value_usd: usdShape.nullable(),
      }),
    ),
    value_usd: usdShape.nullable().meta({ description: 'Null unless each of its tokens has a price' }),
    portfolio_pct: percentShape,
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
    tokens_usd: usdShape.meta({ description: 'Tokens whose price has at least medium confidence' }),
    positions_usd: usdShape.meta({ description: 'Positions all of whose tokens have such a price' }),
    excluded_usd: usdShape.meta({ description: 'What the other listed values come to' }),
    block_number: countShape,
    tokens: z.array(portfolioTokenShape),
    positions: z.array(portfolioPositionShape),
    flags: z.array(z.string()),
    warnings: z.array(warningShape),
  })
  .meta({
    id: 'Portfolio',
    description:
      'By the logs: without the native coin, what lies staked in other contracts, and fees that V3 positions have not ' +
      'collected. LP tokens are positions, never tokens',
  });
export type Portfolio = z.infer<typeof portfolioShape>;

export const portfolioAnswerShape = z.object({ data: portfolioShape });
export type PortfolioAnswer = z.infer<typeof portfolioAnswerShape>;
