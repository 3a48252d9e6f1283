/**
 * Shapes of the answers under /dexscreener, from DEX Screener's adapter specification v1.1: camel case, with amounts
 * and prices as decimal strings in whole tokens.
 */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  hashShape,
  poolShape,
  unixSecondsShape,
} from '../primitives';

const blockShape = z.object({
  blockNumber: countShape.meta({ description: 'Block number' }),
  blockTimestamp: unixSecondsShape.meta({ description: 'Block time, unix seconds, UTC' }),
});

export const latestBlockShape = z.object({
  block: blockShape.meta({
    description: 'The newest final block; no reorg can change the events up to it',
  }),
});

export const screenerAssetShape = z.object({
  asset: z
    .object({
      id: addressShape,
      name: z
        .string()
        .min(1)
        .meta({ description: 'Name of the token; its symbol if the contract has no name' }),
      symbol: z
        .string()
        .min(1)
        .meta({ description: 'Symbol of the token; its address if the contract has no symbol' }),
      totalSupply: decimalShape
        .optional()
        .meta({ description: 'Total supply, whole tokens; absent if unknown' }),
      metadata: z
        .record(z.string(), z.string())
        .optional()
        .meta({ description: '{decimals}: decimals of the token; absent if unknown' }),
    })
    .meta({ id: 'DexScreenerAsset' }),
});
export type ScreenerAsset = z.infer<typeof screenerAssetShape>;

const pairIdShape = z
  .string()
  .regex(/^0x[0-9a-f]{40}([0-9a-f]{24}|-\d+-\d+)?$/)
  .meta({
    description:
      'Address of the pool. In a pool of more than two tokens: <address>-<i>-<j>, with the positions of ' +
      'the two tokens',
  });

export const screenerPairShape = z.object({
  pair: z
    .object({
      id: pairIdShape,
      dexKey: z.string().min(1).meta({ description: 'Name of the DEX, as dex_name in /api/v1/dexes' }),
      asset0Id: addressShape.meta({ description: 'First token of the pair' }),
      asset1Id: addressShape.meta({ description: 'Second token of the pair' }),
      createdAtBlockNumber: countShape
        .optional()
        .meta({ description: 'Block of the creation; absent if the pool is older than the start block' }),
      createdAtBlockTimestamp: unixSecondsShape
        .optional()
        .meta({ description: 'Time of the creation block, unix seconds, UTC' }),
      createdAtTxnId: hashShape.optional().meta({ description: 'Transaction of the creation' }),
      feeBps: z.number().min(0).optional().meta({
        description: 'Fee of the pool in basis points; may be fractional. Absent if a hook sets it',
      }),
      pool: z
        .object({
          id: poolShape.meta({ description: 'Address or id of the pool' }),
          name: z.string().min(1).meta({ description: 'Symbols of the tokens of the pool' }),
          assetIds: z.array(addressShape).meta({ description: 'All tokens of the pool' }),
          pairIds: z.array(pairIdShape).meta({ description: "Ids of all pairs of the pool's tokens" }),
        })
        .optional()
        .meta({ description: 'The pool of the pair; only for pools of more than two tokens' }),
    })
    .meta({ id: 'DexScreenerPair' }),
});
export type ScreenerPair = z.infer<typeof screenerPairShape>;

const eventFields = {
  block: blockShape,
  txnId: hashShape.meta({ description: 'Transaction hash' }),
  txnIndex: countShape.meta({ description: 'Index of the transaction in its block' }),
  eventIndex: countShape.meta({ description: 'Index of the log in its block' }),
  maker: addressShape.meta({
    description:
      'Sender of the transaction; if the node does not provide the sender, the recipient or owner of the event',
  }),
  pairId: pairIdShape,
  reserves: z
    .object({ asset0: decimalShape, asset1: decimalShape })
    .optional()
    .meta({ description: 'Balances of the pool after the event, whole tokens; absent if unknown' }),
} as const;

const screenerSwapShape = z
  .object({
    ...eventFields,
    eventType: z.literal('swap'),
    asset0In: decimalShape.optional().meta({ description: 'Amount of asset0 paid in, whole tokens' }),
    asset1In: decimalShape.optional().meta({ description: 'Amount of asset1 paid in, whole tokens' }),
    asset0Out: decimalShape.optional().meta({ description: 'Amount of asset0 paid out, whole tokens' }),
    asset1Out: decimalShape.optional().meta({ description: 'Amount of asset1 paid out, whole tokens' }),
    priceNative: decimalShape.meta({
      description:
        'asset1 per asset0, never 0: the marginal price after the swap, or the paid price if the pool has ' +
        'no marginal price',
    }),
  })
  .meta({ id: 'DexScreenerSwap' });

const screenerLiquidityShape = z
  .object({
    ...eventFields,
    eventType: z
      .enum(['join', 'exit'])
      .meta({ description: 'join: liquidity added; exit: liquidity removed' }),
    amount0: decimalShape.meta({ description: 'Amount of asset0, whole tokens' }),
    amount1: decimalShape.meta({ description: 'Amount of asset1, whole tokens' }),
  })
  .meta({ id: 'DexScreenerJoinExit' });

const screenerEventShape = z.union([screenerSwapShape, screenerLiquidityShape]);
export type ScreenerEvent = z.infer<typeof screenerEventShape>;

export const screenerEventsShape = z.object({ events: z.array(screenerEventShape) });
