/** Shapes of the items of /activity and of the stream messages. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  dexNameShape,
  hashShape,
  integerStringShape,
  listMetaShape,
  poolShape,
  poolTypeShape,
  tokenRefShape,
  unixSecondsShape,
  usdShape,
} from './primitives';

export const EVENT_KINDS = ['swap', 'mint', 'burn', 'sync'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

const eventFields = {
  id: z
    .string()
    .regex(/^\d+-\d+$/)
    .meta({ description: 'Id of the event: <block_number>-<log_index>', example: '17686110-42' }),
  block_number: countShape.meta({ description: 'Block number' }),
  timestamp: unixSecondsShape.meta({ description: 'Block time, unix seconds, UTC' }),
  tx_hash: hashShape.meta({
    description: "Transaction hash; the zero hash if the event belongs to none of the block's transactions",
  }),
  log_index: countShape.meta({ description: 'Index of the log in its block, from 0' }),
  pair_address: poolShape.meta({ description: 'Address or id of the pair' }),
  dex_name: dexNameShape,
  pool_type: poolTypeShape,
  token0: tokenRefShape.meta({ description: 'Token of amount0 and reserve0' }),
  token1: tokenRefShape.meta({ description: 'Token of amount1 and reserve1' }),
  base_token: tokenRefShape.meta({
    description:
      'The token of the pair that `price` and `side` are about; the other token is the quote token',
  }),
  maker: addressShape.nullable().meta({
    description: 'Sender of the transaction; null if the node does not report senders',
  }),
  amount_usd: usdShape.nullable().meta({
    description:
      'Value in USD at the end of the block, by trusted prices only. Swap: the mean of the trusted sides. ' +
      'Mint and burn: the sum of the trusted tokens. The pools behind a price limit what each token counts ' +
      'with. Null without a trusted price, and for a sync',
  }),
  finalized: z.boolean().meta({ description: 'Whether the block is final: no reorg can remove the event' }),
} as const;

const swapItemShape = z
  .object({
    ...eventFields,
    event_type: z.literal('swap'),
    side: z
      .enum(['buy', 'sell'])
      .meta({ description: 'buy: the pool balance of the base token fell; sell: every other swap' }),
    token_in: addressShape.meta({ description: 'Token paid into the pool' }),
    token_out: addressShape.meta({ description: 'Token paid out of the pool' }),
    amount_in: decimalShape.meta({
      description: 'Net amount of token_in paid into the pool, whole tokens; 0 if no token entered',
    }),
    amount_out: decimalShape.meta({
      description: 'Net amount of token_out paid out of the pool, whole tokens; 0 if no token left',
    }),
    amount0: decimalShape.meta({
      description: 'Net amount of token0, whole tokens; positive into the pool, negative out of the pool',
    }),
    amount1: decimalShape.meta({
      description: 'Net amount of token1, whole tokens; positive into the pool, negative out of the pool',
    }),
    price: decimalShape.nullable().meta({
      description:
        'Marginal price after the swap, quote tokens per base token; null if the pool has no price',
    }),
    price_usd: decimalShape.nullable().meta({
      description: 'Marginal price after the swap, USD per base token; null without a USD price',
    }),
    quote_price_usd: decimalShape.nullable().meta({
      description:
        'Marginal price after the swap, USD per quote token, by the USD price of the base token; null without a ' +
        'USD price',
    }),
    execution_price: decimalShape.nullable().meta({
      description:
        'Price that the trader paid, quote tokens per base token: |net quote| / |net base|; null if ' +
        'either amount is 0',
    }),
    fee_usd: usdShape.nullable().meta({
      description: 'Fee in USD; null if no side has a trusted price, and for a fee above 10 %',
    }),
    sender: addressShape.nullable().meta({
      description: 'Sender that the event names; null if the event names none, as in Balancer V2',
    }),
    recipient: addressShape.nullable().meta({
      description: 'Recipient that the event names; null if the event names none, as in Balancer V2',
    }),
    sqrt_price_x96: integerStringShape
      .optional()
      .meta({ description: 'V3 pools: sqrtPriceX96 after the swap' }),
    tick: z.int().optional().meta({ description: 'V3 pools: tick after the swap' }),
    liquidity_raw: integerStringShape
      .optional()
      .meta({ description: 'V3 pools: active liquidity after the swap' }),
  })
  .meta({ id: 'SwapEvent' });
export type SwapItem = z.infer<typeof swapItemShape>;

const liquidityFields = {
  ...eventFields,
  owner: addressShape.nullable().meta({
    description:
      'V3: owner of the position. V2: sender of a mint, recipient of a burn. Balancer V2: the liquidity ' +
      'provider; null for a join or an exit by a swap, whose event names no provider',
  }),
  amount0: decimalShape.meta({ description: 'Amount of token0 added or removed, whole tokens' }),
  amount1: decimalShape.meta({ description: 'Amount of token1 added or removed, whole tokens' }),
  amount0_usd: usdShape.nullable().meta({
    description:
      'Value of amount0 in USD at the end of the block, by a trusted or untrusted price; null without a price',
  }),
  amount1_usd: usdShape.nullable().meta({
    description:
      'Value of amount1 in USD at the end of the block, by a trusted or untrusted price; null without a price',
  }),
  liquidity_raw: integerStringShape.nullable().meta({
    description:
      'V3: liquidity added or removed. V2: LP tokens minted or burned, raw; null if their Transfer log ' +
      'was not found',
  }),
  tick_lower: z.int().nullable().optional().meta({ description: 'V3 pools: lower tick of the position' }),
  tick_upper: z.int().nullable().optional().meta({ description: 'V3 pools: upper tick of the position' }),
} as const;

const mintItemShape = z
  .object({ ...liquidityFields, event_type: z.literal('mint') })
  .meta({ id: 'MintEvent' });
export type MintItem = z.infer<typeof mintItemShape>;

const burnItemShape = z
  .object({ ...liquidityFields, event_type: z.literal('burn') })
  .meta({ id: 'BurnEvent' });
export type BurnItem = z.infer<typeof burnItemShape>;

const syncItemShape = z
  .object({
    ...eventFields,
    event_type: z.literal('sync'),
    reserve0: decimalShape.meta({ description: 'Reserve of token0 after the event, whole tokens' }),
    reserve1: decimalShape.meta({ description: 'Reserve of token1 after the event, whole tokens' }),
    price: decimalShape.nullable().meta({
      description: 'Price of the reserves, quote tokens per base token; null if a reserve is 0',
    }),
  })
  .meta({ id: 'SyncEvent' });
export type SyncItem = z.infer<typeof syncItemShape>;

/** Shape that replaces an event whose stored row cannot be read, so that one row never fails a whole
 * answer. */
const undecodableItemShape = z
  .object({
    id: eventFields.id,
    event_type: z.literal('undecodable'),
    stored_as: z.enum(EVENT_KINDS).meta({ description: 'Kind of the event' }),
    block_number: eventFields.block_number,
    log_index: eventFields.log_index,
    finalized: eventFields.finalized,
  })
  .meta({
    id: 'UndecodableEvent',
    description:
      'An event whose stored row cannot be read. Only its position and its kind are known. The stream ' +
      'sends `gap` instead',
  });
export type UndecodableItem = z.infer<typeof undecodableItemShape>;

export const activityItemShape = z.discriminatedUnion('event_type', [
  swapItemShape,
  mintItemShape,
  burnItemShape,
  syncItemShape,
]);
export type ActivityItem = z.infer<typeof activityItemShape>;

/** Shape of an item of an event list. */
const activityEntryShape = z.discriminatedUnion('event_type', [
  ...activityItemShape.options,
  undecodableItemShape,
]);
export type ActivityEntry = z.infer<typeof activityEntryShape>;

export function isDecoded(entry: ActivityEntry): entry is ActivityItem {
  return entry.event_type !== 'undecodable';
}

const activityMetaShape = listMetaShape.extend({
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'Value of `cursor` for older events; null if there are none' }),
});

export const activityAnswerShape = z.object({ data: z.array(activityEntryShape), meta: activityMetaShape });
