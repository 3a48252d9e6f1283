/** Shapes of the answers of /dexes and /dexes/{dex_name}. */
import { z } from 'zod';

import { pairItemShape } from './pairs';
import {
  addressShape,
  countShape,
  listMetaShape,
  percentShape,
  poolTypeShape,
  unixSecondsShape,
  usdShape,
} from './primitives';

const usd = usdShape;
const percent = percentShape.nullable();

const item = {
  dex_name: z.string().meta({ example: 'pulsex_v2' }),
  display_name: z.string(),
  pool_types: z.array(poolTypeShape),
  factories: z.array(addressShape),
  volume_24h_usd: usd,
  volume_7d_usd: usd,
  volume_change_24h: percent.meta({ description: 'Percent against the 24 hours before' }),
  tvl_usd: usd,
  fees_24h_usd: usd,
  protocol_fees_24h_usd: usd,
  tx_24h: countShape,
  traders_24h: countShape.nullable().meta({ description: 'Distinct makers; null where no sender is known' }),
  pool_count: countShape,
  active_pools_24h: countShape.meta({ description: 'Pools with a swap in 24 hours' }),
  market_share_24h: percent.meta({ description: 'Percent of the 24 h volume of all DEXes' }),
  tvl_share: percent,
  last_trade_at: unixSecondsShape.nullable(),
} as const;

export const dexItemShape = z.object(item).meta({ id: 'Dex' });
export type DexItem = z.infer<typeof dexItemShape>;

export const dexesAnswerShape = z.object({ data: z.array(dexItemShape), meta: listMetaShape });
export type DexesAnswer = z.infer<typeof dexesAnswerShape>;

export const dexDayShape = z
  .object({
    time: unixSecondsShape.meta({ description: 'Start of the UTC day' }),
    volume_usd: usd,
    fees_usd: usd,
    tvl_usd: usd.nullable().meta({ description: 'Known of the running day alone' }),
    tx: countShape,
    market_share: percent,
  })
  .meta({ id: 'DexDay' });
export type DexDay = z.infer<typeof dexDayShape>;

export const dexDetailShape = z
  .object({
    ...item,
    top_pairs: z.array(pairItemShape),
    history: z.array(dexDayShape).meta({ description: 'Ascending days, from the first indexed one at most' }),
  })
  .meta({ id: 'DexDetail' });
export type DexDetail = z.infer<typeof dexDetailShape>;

export const dexAnswerShape = z.object({ data: dexDetailShape });
export type DexAnswer = z.infer<typeof dexAnswerShape>;
