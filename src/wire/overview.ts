/** Shape of the answer of /overview. */
import { z } from 'zod';

import { countShape, decimalShape, percentShape, unixSecondsShape, usdShape } from './primitives';
import { proofShape } from './proof';

const overviewShape = z
  .object({
    volume_24h_usd: usdShape.meta({ description: 'Volume of tracked swaps in 24 h, USD' }),
    volume_change_24h: percentShape.nullable().meta({
      description:
        'Change of volume_24h_usd against the previous 24 h, percent; null if the previous volume is 0',
    }),
    tvl_usd: usdShape.meta({ description: 'Sum of liquidity_usd of all pairs' }),
    tx_24h: countShape.meta({ description: 'Number of transactions on the chain in 24 h' }),
    swaps_24h: countShape.meta({ description: 'Number of swaps on all DEXes in 24 h' }),
    traders_24h: countShape.nullable().meta({
      description: 'Distinct senders of swap transactions in 24 h; null if the node does not report senders',
    }),
    active_pools: countShape.meta({ description: 'Number of pools with a swap in 24 h' }),
    gas_gwei: z
      .number()
      .nullable()
      .meta({
        description:
          'Median gas price of the transactions in the newest 20 blocks, gwei. A block without stored gas ' +
          'prices counts with its base fee. Null if neither is known',
      }),
    token_burned_24h: z
      .number()
      .nullable()
      .meta({
        description:
          'Whole burn tokens sent to the burn addresses from other addresses in 24 h; null if the chain has ' +
          'no burn token',
      }),
    token_burned_symbol: z
      .string()
      .nullable()
      .meta({ description: 'Symbol of the burn token; null if the chain has none' }),
    chain_logo_url: z
      .string()
      .nullable()
      .meta({ description: "URL of the chain's logo, from the chain description; null if it has none" }),
    native_price_usd: decimalShape
      .nullable()
      .meta({ description: 'USD per native coin; null without a price' }),
    history: z
      .object({
        complete: z.boolean().meta({
          description:
            'Whether every pool of the factories is listed. False while pools from before start_block are being ' +
            'searched; lists and TVL are then incomplete',
        }),
        start_block: countShape.meta({ description: 'First indexed block' }),
        searching: z.boolean().meta({
          description:
            'Whether the search for pools from before start_block is still running. If neither searching nor ' +
            'complete, the node has no older logs',
        }),
        searched_from_block: countShape.meta({
          description: 'Creations of pools are known from this block on',
        }),
        done_pct: z.number().meta({
          description: 'Searched part of the blocks before start_block in percent, 0 to 100',
        }),
        older_pools: countShape.meta({ description: 'Number of pools found from before start_block' }),
      })
      .meta({ description: 'How complete the index is with respect to the time before its first block' }),
    proof: proofShape,
    block_number: countShape.meta({ description: 'Number of the newest block that the answer includes' }),
    block_timestamp: unixSecondsShape.meta({
      description: 'Time of the newest block that the answer includes, unix seconds, UTC',
    }),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof overviewShape>;

export const overviewAnswerShape = z.object({ data: overviewShape });
export type OverviewAnswer = z.infer<typeof overviewAnswerShape>;
