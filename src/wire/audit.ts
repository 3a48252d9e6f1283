/** Shape of /tokens/{address}/audit: everything needed to recompute a price. */
import { z } from 'zod';

import { reasonFieldShape } from './priceReason';
import {
  addressShape,
  countShape,
  decimalShape,
  dexNameShape,
  hashShape,
  integerStringShape,
  poolShape,
  poolTypeShape,
  tokenShape,
  unixSecondsShape,
  usdShape,
} from './primitives';
import { warningShape } from './risks';
import { confidenceShape } from './tokens';

/** How `inputs_hash` is computed; must match tokenAudit.ts exactly. */
const HASH_RECIPE =
  'SHA-256, with 0x, of the following lines in UTF-8. Each line ends with a line feed. One space ' +
  'separates fields, null is `-`, and values are printed as in this answer. Lines: ' +
  '`candlehouse-audit 1`; `chain <chain_id>`; `block <derived_at_block>`; `token <token.address>`; ' +
  '`anchor <anchor.address> <anchor.price_usd>`; for each hop `hop <step> <from_token> <to_token>`, ' +
  'followed by `pool <address> <reserve0> <reserve1> <weight> <implied_price>` for each pool of the ' +
  'hop; for each excluded pool `excluded <address> <reason> <implied_price>`. chain_id is the decimal id of the chain';

const moveCostsShape = z.object({
  p2: z.number().min(0).meta({ description: 'USD lost to move the price by 2 percent' }),
  p10: z.number().min(0).meta({ description: 'USD lost to move the price by 10 percent' }),
  p50: z.number().min(0).meta({ description: 'USD lost to move the price by 50 percent' }),
});

const auditPoolShape = z.object({
  address: poolShape.meta({ description: 'Address or id of the pool' }),
  dex_name: dexNameShape,
  pool_type: poolTypeShape,
  fee_bps: z.int().min(0).meta({ description: 'Fee of the pool, rounded to basis points' }),
  token0: addressShape.meta({ description: 'Token of reserve0' }),
  token1: addressShape.meta({ description: 'Token of reserve1' }),
  reserve0: integerStringShape.meta({ description: 'Balance of token0 in the pool, raw units' }),
  reserve1: integerStringShape.meta({ description: 'Balance of token1 in the pool, raw units' }),
  weight: decimalShape.meta({
    description: 'Share of the pool in hop_price, 0 to 1; the weights of one hop sum to exactly 1',
  }),
  implied_price: decimalShape.meta({
    description:
      'Price of the pool, to_token per from_token: the marginal price, or the 30-minute mean if the hop ' +
      'has the warning price_deviates_from_twap. If the pool holds another anchor than to_token, the ' +
      'configured prices of both anchors convert the price',
  }),
});

const auditHopShape = z.object({
  step: z.int().min(1).meta({ description: 'Position of the hop on the path, from 1' }),
  from_token: addressShape.meta({ description: 'Token that the hop prices' }),
  to_token: addressShape.meta({ description: 'Token in which the hop prices from_token' }),
  hop_price: decimalShape.meta({
    description: 'to_token per from_token: the sum of weight × implied_price over the pools, to 18 digits',
  }),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .meta({
      description:
        'Confidence of the hop, 0 to 1, from depth, agreement and freshness of its pools. confidence_score is the ' +
        'product over the hops, at most 0.989',
    }),
  pools: z.array(auditPoolShape).meta({ description: 'Pools of the hop, largest weight first' }),
});
export type AuditHop = z.infer<typeof auditHopShape>;

const excludedPoolShape = z.object({
  address: poolShape.meta({ description: 'Address or id of the pool' }),
  reason: z.enum(['outlier', 'disagrees', 'no_price', 'low_liquidity', 'dormant', 'not_on_route']).meta({
    description:
      'outlier: the price is far from the other pools of the hop; disagrees: the price differs from the ' +
      'deeper of two pools; no_price: the pool has no price, or its other token has no USD price; ' +
      'low_liquidity: less than 50 USD of the other token; dormant: no change for 30 days; ' +
      'not_on_route: the route uses other pools',
  }),
  implied_price: decimalShape
    .nullable()
    .meta({ description: 'Price of the pool in to_token; null if the pool has no price' }),
  step: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: 'Step of the hop that dropped the pool; null if the pool is on no hop' }),
  to_token: addressShape.meta({
    description: 'Token of implied_price: to_token of the hop, or else the other token of the pool',
  }),
});
export type ExcludedPool = z.infer<typeof excludedPoolShape>;

const auditShape = z
  .object({
    token: tokenShape
      .pick({ address: true, symbol: true, name: true })
      .meta({ description: 'The audited token' }),
    price_usd: decimalShape.nullable().meta({
      description:
        'USD per whole token: the product of all hop_price and anchor.price_usd, to 18 digits; null ' +
        'without a price',
    }),
    price_reason: reasonFieldShape,
    price_native: decimalShape.nullable().meta({
      description:
        'price_usd divided by the USD price of the wrapped native token, to 18 digits; null without ' +
        'either price',
    }),
    derived_at_block: countShape.meta({
      description: 'Number of the block of the price; pool states count as of its end',
    }),
    derived_at_timestamp: unixSecondsShape.meta({
      description: 'Time of the block of the price, unix seconds, UTC',
    }),
    confidence: confidenceShape,
    confidence_score: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Confidence from 0 to 1: 0.99 for an anchor, 0 without a price' }),
    manipulation_cost_usd: z
      .object({
        up: moveCostsShape.meta({ description: 'To raise price_usd by 2, 10 or 50 percent' }),
        down: moveCostsShape.meta({ description: 'To lower price_usd by 2, 10 or 50 percent' }),
      })
      .nullable()
      .meta({
        description:
          'The least that an attacker loses to move price_usd at the end of one block, if everyone else ' +
          'trades the pools back afterwards: USD, three significant digits, a lower bound. Capital that ' +
          'comes back does not count. Null without a price and for an anchor',
      }),
    price_age_blocks: countShape.nullable().meta({
      description:
        'Blocks since the newest state of the pools that the price rests on; null without a price and for an anchor',
    }),
    depth_usd: usdShape.nullable().meta({
      description:
        'Depth of the narrowest hop: USD that move its price by 2 %, by the pools that count; null for an ' +
        'anchor and without a price',
    }),
    method: z.enum(['lp_weighted_multi_hop', 'stable_anchor', 'last_known', 'none']).meta({
      description:
        'lp_weighted_multi_hop: the price follows from the hops; stable_anchor: the token is an anchor, ' +
        'whose price is configured; last_known: no pool of some hop moved for a day; none: no price',
    }),
    anchor: z
      .object({
        address: addressShape,
        price_usd: decimalShape.meta({ description: 'Configured price, USD per whole token' }),
      })
      .nullable()
      .meta({ description: 'Anchor at the end of the path; null without a price' }),
    hops: z
      .array(auditHopShape)
      .meta({ description: 'Hops from the token to the anchor; empty for an anchor and without a price' }),
    excluded_pools: z.array(excludedPoolShape).meta({
      description:
        'Pools that the price ignores: the pools that a hop dropped, then up to 20 other pools of the token',
    }),
    warnings: z.array(warningShape).meta({ description: 'Reasons for caution; empty if there are none' }),
    inputs_hash: hashShape.meta({ description: HASH_RECIPE }),
  })
  .meta({ id: 'PriceAudit' });
export type Audit = z.infer<typeof auditShape>;

export const auditAnswerShape = z.object({ data: auditShape });
export type AuditAnswer = z.infer<typeof auditAnswerShape>;
