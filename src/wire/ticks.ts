/** Shape of the answer of /pairs/{address}/ticks. */
import { z } from 'zod';

import { TIMEFRAMES } from '../domain/timeframes';
import { asOfShape, countShape, tokenRefShape, unixSecondsShape } from './primitives';

export const barShape = z
  .object({
    time: unixSecondsShape.meta({ description: 'Open time of the bar, unix seconds, UTC' }),
    open: z.number(),
    high: z.number(),
    low: z.number(),
    close: z.number(),
    volume: z.number().meta({ description: 'Sum of |net base amount|, whole base tokens' }),
    volume_usd: z
      .number()
      .nullable()
      .meta({ description: 'null while no swap of the bar has a trusted USD value' }),
    trades: countShape,
    buys: countShape,
    sells: countShape,
    closed: z.boolean().meta({ description: 'false while the bar ends after the newest indexed block' }),
  })
  .meta({ id: 'Bar' });
export type Bar = z.infer<typeof barShape>;

export const CURRENCIES = ['usd', 'quote'] as const;
export type Currency = (typeof CURRENCIES)[number];

export const ticksMetaShape = asOfShape.extend({
  timeframe: z.enum(TIMEFRAMES),
  currency: z.enum(CURRENCIES),
  base_token: tokenRefShape,
  quote_token: tokenRefShape.nullable(),
  next_to: unixSecondsShape
    .nullable()
    .meta({ description: 'Pass as `to` for older bars; null: there are none' }),
  no_data: z.boolean().meta({ description: 'true when the series has no bar at all below `to`' }),
  reason: z.enum(['no_usd_price']).optional(),
});
export type TicksMeta = z.infer<typeof ticksMetaShape>;

export const ticksAnswerShape = z.object({ data: z.array(barShape), meta: ticksMetaShape });
export type TicksAnswer = z.infer<typeof ticksAnswerShape>;
