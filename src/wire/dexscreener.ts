/**
 * Shapes of the answers under /dexscreener, from DEX Screener's adapter specification v1.1: camel case, with amounts
 * and prices as decimal strings in whole tokens.
 */
import { z } from 'zod';

import { addressShape, countShape, decimalShape, hashShape, unixSecondsShape } from './primitives';

const blockShape = z.object({ blockNumber: countShape, blockTimestamp: unixSecondsShape });

export const latestBlockShape = z.object({
  block: blockShape.meta({
    description: 'The newest block that is final: what was told cannot be taken back',
  }),
});

export const screenerAssetShape = z.object({
  asset: z
    .object({
      id: addressShape,
      name: z.string().min(1),
      symbol: z.string().min(1),
      totalSupply: decimalShape.optional(),
      metadata: z.record(z.string(), z.string()).optional(),
    })
    .meta({ id: 'DexScreenerAsset' }),
});
export type ScreenerAsset = z.infer<typeof screenerAssetShape>;

const pairIdShape = z
  .string()
  .regex(/^0x[0-9a-f]{40}(-\d+-\d+)?$/)
  .meta({
    description: 'Address of the pool; of one of more than two tokens with the indexes of the two behind it',
  });

export const screenerPairShape = z.object({
  pair: z
    .object({
      id: pairIdShape,
      dexKey: z.string().min(1),
      asset0Id: addressShape,
      asset1Id: addressShape,
      createdAtBlockNumber: countShape.optional(),
      createdAtBlockTimestamp: unixSecondsShape.optional(),
      createdAtTxnId: hashShape.optional(),
      feeBps: z.number().min(0),
      pool: z
        .object({
          id: addressShape,
          name: z.string().min(1),
          assetIds: z.array(addressShape),
          pairIds: z.array(pairIdShape),
        })
        .optional()
        .meta({ description: 'Only of pools of more than two tokens' }),
    })
    .meta({ id: 'DexScreenerPair' }),
});
export type ScreenerPair = z.infer<typeof screenerPairShape>;

const event = {
  block: blockShape,
  txnId: hashShape,
  txnIndex: countShape,
  eventIndex: countShape.meta({ description: 'Index of the log in its block' }),
  maker: addressShape.meta({
    description:
      'Sender of the transaction; where the node does not tell, the receiver or owner of the event',
  }),
  pairId: pairIdShape,
  reserves: z
    .object({ asset0: decimalShape, asset1: decimalShape })
    .optional()
    .meta({ description: 'What is in the pool after the event' }),
} as const;

export const screenerSwapShape = z
  .object({
    ...event,
    eventType: z.literal('swap'),
    asset0In: decimalShape.optional(),
    asset1In: decimalShape.optional(),
    asset0Out: decimalShape.optional(),
    asset1Out: decimalShape.optional(),
    priceNative: decimalShape.meta({
      description:
        'asset1 per asset0: the marginal price after the swap; where there is none, what was paid. Never 0',
    }),
  })
  .meta({ id: 'DexScreenerSwap' });

export const screenerLiquidityShape = z
  .object({
    ...event,
    eventType: z.enum(['join', 'exit']),
    amount0: decimalShape,
    amount1: decimalShape,
  })
  .meta({ id: 'DexScreenerJoinExit' });

export const screenerEventShape = z.union([screenerSwapShape, screenerLiquidityShape]);
export type ScreenerEvent = z.infer<typeof screenerEventShape>;

export const screenerEventsShape = z.object({ events: z.array(screenerEventShape) });
