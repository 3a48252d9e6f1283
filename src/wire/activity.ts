/** Shapes of the items of /activity and of the stream messages. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  hashShape,
  integerStringShape,
  listMetaShape,
  poolTypeShape,
  tokenRefShape,
  unixSecondsShape,
  usdShape,
} from './primitives';

export const EVENT_KINDS = ['swap', 'mint', 'burn', 'sync'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

const common = {
  id: z
    .string()
    .regex(/^\d+-\d+$/)
    .meta({ description: '<block_number>-<log_index>', example: '17686110-42' }),
  block_number: countShape,
  timestamp: unixSecondsShape,
  tx_hash: hashShape,
  log_index: countShape,
  pair_address: addressShape,
  dex_name: z.string(),
  pool_type: poolTypeShape,
  token0: tokenRefShape,
  token1: tokenRefShape,
  maker: addressShape.nullable().meta({ description: 'Sender of the transaction' }),
  amount_usd: usdShape.nullable().meta({
    description:
      'Value by trusted prices at the end of the block: of a swap the mean of its trusted sides, of a mint or burn ' +
      'their sum; null where none is trusted, and for a sync',
  }),
  finalized: z.boolean(),
} as const;

export const swapItemShape = z
  .object({
    ...common,
    event_type: z.literal('swap'),
    side: z.enum(['buy', 'sell']).meta({ description: 'buy: the pool balance of the base token fell' }),
    token_in: addressShape,
    token_out: addressShape,
    amount_in: decimalShape,
    amount_out: decimalShape,
    amount0: decimalShape.meta({ description: 'Signed, + into the pool' }),
    amount1: decimalShape.meta({ description: 'Signed, + into the pool' }),
    price: decimalShape.nullable().meta({ description: 'Marginal price after the swap, quote per base' }),
    price_usd: decimalShape.nullable(),
    execution_price: decimalShape.nullable().meta({ description: '|net quote| / |net base|' }),
    fee_usd: usdShape.nullable(),
    sender: addressShape.nullable().meta({ description: 'Null where the event names none (Balancer)' }),
    recipient: addressShape.nullable(),
    sqrt_price_x96: integerStringShape.optional(),
    tick: z.int().optional(),
    liquidity_raw: integerStringShape.optional(),
  })
  .meta({ id: 'SwapEvent' });
export type SwapItem = z.infer<typeof swapItemShape>;

const liquidity = {
  ...common,
  owner: addressShape,
  amount0: decimalShape,
  amount1: decimalShape,
  amount0_usd: usdShape.nullable().meta({ description: 'By whatever price there was' }),
  amount1_usd: usdShape.nullable(),
  liquidity_raw: integerStringShape.nullable(),
  tick_lower: z.int().nullable().optional(),
  tick_upper: z.int().nullable().optional(),
} as const;

export const mintItemShape = z
  .object({ ...liquidity, event_type: z.literal('mint') })
  .meta({ id: 'MintEvent' });
export type MintItem = z.infer<typeof mintItemShape>;

export const burnItemShape = z
  .object({ ...liquidity, event_type: z.literal('burn') })
  .meta({ id: 'BurnEvent' });
export type BurnItem = z.infer<typeof burnItemShape>;

export const syncItemShape = z
  .object({
    ...common,
    event_type: z.literal('sync'),
    reserve0: decimalShape,
    reserve1: decimalShape,
    price: decimalShape.nullable(),
  })
  .meta({ id: 'SyncEvent' });
export type SyncItem = z.infer<typeof syncItemShape>;

/** Replaces an event whose stored row cannot be read, so one row never fails a whole answer. */
export const undecodableItemShape = z
  .object({
    id: common.id,
    event_type: z.literal('undecodable'),
    stored_as: z.enum(EVENT_KINDS),
    block_number: countShape,
    log_index: countShape,
    finalized: z.boolean(),
  })
  .meta({
    id: 'UndecodableEvent',
    description:
      'An event whose stored row cannot be read: only where it stands, and under which event_type it is stored. The ' +
      'stream sends `gap` in its place.',
  });
export type UndecodableItem = z.infer<typeof undecodableItemShape>;

export const activityItemShape = z.discriminatedUnion('event_type', [
  swapItemShape,
  mintItemShape,
  burnItemShape,
  syncItemShape,
]);
export type ActivityItem = z.infer<typeof activityItemShape>;

/** An item of an event list. */
export const activityEntryShape = z.discriminatedUnion('event_type', [
  ...activityItemShape.options,
  undecodableItemShape,
]);
export type ActivityEntry = z.infer<typeof activityEntryShape>;

export function isDecoded(entry: ActivityEntry): entry is ActivityItem {
  return entry.event_type !== 'undecodable';
}

export const activityMetaShape = listMetaShape.extend({
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'Pass as `cursor` for older events; null: there are none' }),
});

export const activityAnswerShape = z.object({ data: z.array(activityEntryShape), meta: activityMetaShape });
export type ActivityAnswer = z.infer<typeof activityAnswerShape>;
