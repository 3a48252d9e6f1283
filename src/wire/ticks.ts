/** Shape of the answer of /pairs/{address}/ticks. */
import { z } from 'zod';

import { TIMEFRAMES } from '../domain/timeframes';
import { asOfShape, countShape, tokenRefShape, unixSecondsShape } from './primitives';

export const barShape = z
  .object({
    time: unixSecondsShape.meta({ description: 'Open time of the bar, unix seconds, UTC' }),
    open: z.number().meta({ description: 'Marginal price after the first swap of the bar' }),
    high: z.number().meta({ description: 'Highest marginal price after a swap of the bar' }),
    low: z.number().meta({ description: 'Lowest marginal price after a swap of the bar' }),
    close: z.number().meta({ description: 'Marginal price after the last swap of the bar' }),
    volume: z.number().meta({
      description: 'Traded amount of the base token: the sum of the absolute net amounts, whole tokens',
    }),
    volume_usd: z
      .number()
      .nullable()
      .meta({ description: 'Volume of tracked swaps, USD; null if the bar has trades but no tracked swap' }),
    trades: countShape.meta({ description: 'Swaps' }),
    buys: countShape.meta({
      description: 'Number of buys: swaps in which the pool balance of the base token fell',
    }),
    sells: countShape.meta({ description: 'Number of sells: all other swaps' }),
    closed: z.boolean().meta({ description: 'False if the bar ends after the newest indexed block' }),
  })
  .meta({ id: 'Bar' });
export type Bar = z.infer<typeof barShape>;

export const CURRENCIES = ['usd', 'quote'] as const;
export type Currency = (typeof CURRENCIES)[number];

export const ticksMetaShape = asOfShape.extend({
  timeframe: z.enum(TIMEFRAMES).meta({ description: 'Length of a bar' }),
  currency: z.enum(CURRENCIES).meta({ description: 'Currency of the prices' }),
  base_token: tokenRefShape.meta({ description: 'Token whose price the bars show' }),
  quote_token: tokenRefShape.nullable().meta({
    description: 'Token in which the prices are given; null if the prices are in USD',
  }),
  next_to: unixSecondsShape
    .nullable()
    .meta({ description: 'Value of `to` for older bars; null if there are none' }),
  no_data: z.boolean().meta({ description: 'True if no bar opens before `to`' }),
  reason: z.enum(['no_usd_price', 'unknown_decimals']).optional().meta({
    description:
      'Why the series is empty. no_usd_price: the quote token has no USD price. unknown_decimals: decimals() of a token fails or exceeds 77',
  }),
});

export const ticksAnswerShape = z.object({ data: z.array(barShape), meta: ticksMetaShape });
export type TicksAnswer = z.infer<typeof ticksAnswerShape>;
