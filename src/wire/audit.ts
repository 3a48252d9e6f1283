/** Shape of /tokens/{address}/audit: everything needed to recompute a price. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  hashShape,
  integerStringShape,
  poolTypeShape,
  tokenShape,
  unixSecondsShape,
} from './primitives';
import { confidenceShape, warningShape } from './tokens';

/** How `inputs_hash` is computed; must match hashInputs.ts exactly. */
const HASH_RECIPE =
  'sha256, with 0x, of these UTF-8 lines, each ended by \\n, fields divided by one space, null as -, all values as they ' +
  'stand in this answer: `candlehouse-audit 1`; `chain <chain_id>`; `block <derived_at_block>`; ' +
  '`token <token.address>`; `anchor <anchor.address> <anchor.price_usd>` (`anchor - -` without one); then for each hop ' +
  '`hop <step> <from_token> <to_token>` and for each of its pools ' +
  '`pool <address> <reserve0> <reserve1> <weight> <implied_price>`; then for each excluded pool ' +
  '`excluded <address> <reason> <implied_price>`. chain_id is the number of the chain (369 for PulseChain).';

const auditPoolShape = z.object({
  address: addressShape,
  dex_name: z.string(),
  pool_type: poolTypeShape,
  fee_bps: z.int().min(0),
  token0: addressShape.meta({ description: 'Token of reserve0' }),
  token1: addressShape,
  reserve0: integerStringShape,
  reserve1: integerStringShape,
  weight: decimalShape.meta({ description: 'The weights of one hop sum to exactly 1' }),
  implied_price: decimalShape.meta({
    description:
      'to_token per from_token: the marginal price, or the 30-minute mean where the warning price_deviates_from_twap ' +
      'says so; in a pool with another anchor than to_token turned by the given prices of the two',
  }),
});

const auditHopShape = z.object({
  step: z.int().min(1),
  from_token: addressShape,
  to_token: addressShape,
  hop_price: decimalShape.meta({ description: 'Sum of weight * implied_price, to 18 digits' }),
  pools: z.array(auditPoolShape),
});
export type AuditHop = z.infer<typeof auditHopShape>;

const excludedPoolShape = z.object({
  address: addressShape,
  reason: z.enum(['outlier', 'disagrees', 'no_price', 'low_liquidity', 'dormant', 'not_on_route']).meta({
    description:
      'outlier, disagrees: dropped from its hop by its price; no_price: the pool or its other token has none; ' +
      'low_liquidity: less than 50 USD on its known side; dormant: no move for 30 days; not_on_route: another hop is wider',
  }),
  implied_price: decimalShape.nullable(),
  step: z.int().min(1).nullable().meta({ description: 'The hop it was dropped from; null: none' }),
  to_token: addressShape.meta({
    description: "implied_price is in this token: the hop's to_token, or the pool's other token",
  }),
});
export type ExcludedPool = z.infer<typeof excludedPoolShape>;

export const auditShape = z
  .object({
    token: tokenShape.pick({ address: true, symbol: true, name: true }),
    price_usd: decimalShape.nullable().meta({
      description: 'Product of the hop prices times the price of the anchor, to 18 digits',
    }),
    price_native: decimalShape.nullable(),
    derived_at_block: countShape,
    derived_at_timestamp: unixSecondsShape,
    confidence: confidenceShape,
    confidence_score: z.number().min(0).max(1),
    method: z.enum(['lp_weighted_multi_hop', 'stable_anchor', 'last_known', 'none']),
    anchor: z
      .object({ address: addressShape, price_usd: decimalShape })
      .nullable()
      .meta({ description: 'The token whose price is given, at the end of the path' }),
    hops: z.array(auditHopShape),
    excluded_pools: z.array(excludedPoolShape),
    warnings: z.array(warningShape),
    inputs_hash: hashShape.meta({ description: HASH_RECIPE }),
  })
  .meta({ id: 'PriceAudit' });
export type Audit = z.infer<typeof auditShape>;

export const auditAnswerShape = z.object({ data: auditShape });
export type AuditAnswer = z.infer<typeof auditAnswerShape>;
