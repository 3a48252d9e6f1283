/** The reason of a missing price: the rule that left the price out, as a code and a sentence. */
import { z } from 'zod';

import { usdShape } from './primitives';

const priceReasonShape = z
  .object({
    code: z.enum(['no_route', 'low_liquidity', 'unknown_decimals', 'price_not_followed']).meta({
      description:
        'no_route: no usable pool connects the token to a token with a price, within 4 hops of an anchor, or the ' +
        'next epoch or trade gives the token its route; low_liquidity: its best pool holds less than need_usd; ' +
        'unknown_decimals: the decimals of a token are unknown; price_not_followed: the price of the pools cannot ' +
        'be followed (a stable pool with rates, a vault pool in doubt, a pool with a hook that takes part in ' +
        'the amounts). Later versions may add codes',
    }),
    text: z.string().meta({
      description: 'The rule as a sentence for people; the wording may change',
      example: 'No price: the best pool of DUST has $20.00 on the side with a known price, $50 needed',
    }),
    have_usd: usdShape.min(0).nullable().meta({
      description:
        'With low_liquidity: USD on the side with a known price of the best pool, 0 for a pair without liquidity',
    }),
    need_usd: usdShape.min(0).nullable().meta({
      description:
        'With low_liquidity: USD that this side needs; null for a pair, whose price needs any liquidity',
    }),
  })
  .meta({ id: 'PriceReason' });
export type PriceReason = z.infer<typeof priceReasonShape>;

/** The field of an item. */
export const reasonFieldShape = priceReasonShape
  .nullable()
  .meta({ description: 'Why price_usd is null; null if price_usd is a number' });
