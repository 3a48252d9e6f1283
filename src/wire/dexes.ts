/** Shapes of the answers of /dexes and /dexes/{dex_name}. */
import { z } from 'zod';

import { pairItemShape } from './pairs';
import {
  addressShape,
  countShape,
  dexNameShape,
  listMetaShape,
  percentShape,
  poolTypeShape,
  unixSecondsShape,
  usdShape,
} from './primitives';

const nullablePercentShape = percentShape.nullable();

const dexFields = {
  dex_name: dexNameShape,
  display_name: z.string().meta({ description: 'Name of the DEX for people', example: 'PulseX V2' }),
  pool_types: z.array(poolTypeShape).meta({ description: 'Types of the pools of the DEX, ascending' }),
  factories: z
    .array(addressShape)
    .meta({ description: 'Factory contracts of the DEX; for Balancer V2 the vault' }),
  volume_24h_usd: usdShape.meta({ description: 'Volume of tracked swaps in 24 h, USD' }),
  volume_7d_usd: usdShape.meta({ description: 'Volume of tracked swaps in 7 days, USD' }),
  volume_change_24h: nullablePercentShape.meta({
    description:
      'Change of volume_24h_usd against the previous 24 h, percent; null if the previous volume is 0',
  }),
  tvl_usd: usdShape.meta({ description: 'Sum of liquidity_usd of the pairs of the DEX' }),
  fees_24h_usd: usdShape.meta({ description: 'Fees of tracked swaps in 24 h, USD' }),
  protocol_fees_24h_usd: usdShape.meta({ description: 'Share of fees_24h_usd that the protocol receives' }),
  tx_24h: countShape.meta({ description: 'Swaps in 24 h' }),
  traders_24h: countShape.nullable().meta({
    description: 'Distinct senders of swap transactions in 24 h; null if the node does not report senders',
  }),
  pool_count: countShape.meta({ description: 'Number of pools of the DEX' }),
  active_pools_24h: countShape.meta({ description: 'Number of pools of the DEX with a swap in 24 h' }),
  market_share_24h: nullablePercentShape.meta({
    description:
      'volume_24h_usd in percent of the volume of all DEXes, 0 to 100; null if the volume of all DEXes is 0',
  }),
  tvl_share: nullablePercentShape.meta({
    description: 'tvl_usd in percent of the TVL of all DEXes, 0 to 100; null if the TVL of all DEXes is 0',
  }),
  last_trade_at: unixSecondsShape
    .nullable()
    .meta({ description: 'Time of the last swap, unix seconds, UTC; null if there was none' }),
} as const;

export const dexItemShape = z.object(dexFields).meta({ id: 'Dex' });
export type DexItem = z.infer<typeof dexItemShape>;

export const dexesAnswerShape = z.object({ data: z.array(dexItemShape), meta: listMetaShape });
export type DexesAnswer = z.infer<typeof dexesAnswerShape>;

const dexDayShape = z
  .object({
    time: unixSecondsShape.meta({ description: 'Start of the UTC day, unix seconds' }),
    volume_usd: usdShape.meta({ description: 'Volume in USD of tracked swaps, which have a trusted price' }),
    fees_usd: usdShape.meta({ description: 'Fees of tracked swaps, USD' }),
    tvl_usd: usdShape.nullable().meta({
      description:
        'TVL at the end of the day, USD; of the newest day, the current TVL. Null if the ingester has not computed it ' +
        'yet, which takes up to some minutes after the day is final',
    }),
    tx: countShape.meta({ description: 'Swaps' }),
    market_share: nullablePercentShape.meta({
      description:
        'volume_usd in percent of the volume of all DEXes that day; null if the volume of all DEXes is 0',
    }),
  })
  .meta({ id: 'DexDay' });
export type DexDay = z.infer<typeof dexDayShape>;

const dexDetailShape = z
  .object({
    ...dexFields,
    top_pairs: z.array(pairItemShape).meta({ description: 'The 10 pairs with the most volume in 24 h' }),
    history: z.array(dexDayShape).meta({
      description:
        'One item per UTC day, ascending, without gaps; starts at the first indexed day at the earliest',
    }),
  })
  .meta({ id: 'DexDetail' });
export type DexDetail = z.infer<typeof dexDetailShape>;

export const dexAnswerShape = z.object({ data: dexDetailShape });
export type DexAnswer = z.infer<typeof dexAnswerShape>;
