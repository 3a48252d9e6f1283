/** Shape of the answer of /overview. */
import { z } from 'zod';

import { countShape, decimalShape, percentShape, unixSecondsShape, usdShape } from './primitives';

export const overviewShape = z
  .object({
    volume_24h_usd: usdShape,
    volume_change_24h: percentShape.nullable().meta({ description: 'Percent against the 24 hours before' }),
    tvl_usd: usdShape,
    tx_24h: countShape.meta({ description: 'Transactions on the chain in 24 hours' }),
    swaps_24h: countShape,
    traders_24h: countShape
      .nullable()
      .meta({ description: 'Distinct makers; null where no sender is known' }),
    active_pools: countShape.meta({ description: 'Pools with a swap in 24 hours' }),
    gas_gwei: z
      .number()
      .nullable()
      .meta({ description: 'Median gas price paid in the last 20 blocks; the base fee where none is known' }),
    token_burned_24h: z.number().nullable().meta({
      description:
        'Amount of the burn token sent to its burn addresses from others in 24 hours; null without a burn token',
    }),
    token_burned_symbol: z.string().nullable(),
    native_price_usd: decimalShape.nullable(),
    block_number: countShape,
    block_timestamp: unixSecondsShape,
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof overviewShape>;

export const overviewAnswerShape = z.object({ data: overviewShape });
export type OverviewAnswer = z.infer<typeof overviewAnswerShape>;
