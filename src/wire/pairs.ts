/** Shapes of the answers of /pairs and /pairs/{address}. */
import { z } from 'zod';

import { reasonFieldShape } from './priceReason';
import {
  addressShape,
  countShape,
  decimalShape,
  dexNameShape,
  hashShape,
  integerStringShape,
  listMetaShape,
  percentShape,
  poolShape,
  poolTypeShape,
  tokenShape,
  unixSecondsShape,
  usdShape,
} from './primitives';
import { RISK_FLAGS, transferTaxShape, warningShape } from './risks';

const changeOver = (window: string): z.ZodNullable<typeof percentShape> =>
  percentShape.nullable().meta({
    description:
      `Change of price_usd in ${window}, percent. Without a USD price now or then: change of price. ` +
      'Null if the pool has no price now or had none then, and if the earlier USD price of the quote token ' +
      'had a lower confidence level',
  });
const aprOver = (window: string): z.ZodNullable<typeof percentShape> =>
  percentShape.nullable().meta({
    description:
      `LP fees of ${window} as a yearly percentage of the time-weighted TVL of ${window}. ` +
      'The TVL of a younger pool starts at its first state. Null if the TVL is 0, or the fee above 10 %',
  });

const pairFields = {
  address: poolShape.meta({ description: 'Address or id of the pair' }),
  dex_name: dexNameShape,
  pool_type: poolTypeShape,
  fee_bps: z.number().min(0).nullable().meta({
    description: 'Current fee in basis points; may be fractional. Null if a hook sets the fee of each swap',
  }),
  name: z
    .string()
    .meta({ description: 'Symbols: base / quote, then other tokens of the pool', example: 'WPLS / DAI' }),
  base_token: tokenShape.meta({ description: 'Token whose price `price` is' }),
  quote_token: tokenShape.meta({ description: 'Token in which `price` is given' }),
  tokens: z.array(tokenShape).meta({ description: 'All tokens of the pool, in chain order' }),
  price_usd: decimalShape.nullable().meta({
    description:
      'USD per base token: `price` times the USD price of the quote token; null without either price',
  }),
  price_reason: reasonFieldShape,
  price_native: decimalShape.nullable().meta({
    description:
      'Native coins per base token: `price` times the native price of the quote token; null without ' +
      'either price',
  }),
  price: decimalShape.nullable().meta({
    description:
      'Marginal price of the pool at the indexed block, quote tokens per base token; null if it has none',
  }),
  price_change_5m: changeOver('5 minutes'),
  price_change_1h: changeOver('1 hour'),
  price_change_6h: changeOver('6 hours'),
  price_change_24h: changeOver('24 h'),
  volume_24h_usd: usdShape.meta({ description: 'Volume of tracked swaps in 24 h, USD' }),
  fees_24h_usd: usdShape.meta({
    description:
      'Fees of tracked swaps in 24 h, USD, each at the fee of its time. Fees above 10 % do not count',
  }),
  liquidity_usd: usdShape.meta({
    description:
      'Value of the pool (TVL) in USD, by trusted prices. The pools behind a price limit what each token ' +
      'counts with. In a V2 pool a single trusted side counts twice. A vault pool counts at most twice its ' +
      'trusted balances. 0 without a trusted side',
  }),
  tx_24h: countShape.meta({ description: 'Swaps in 24 h: buys_24h + sells_24h' }),
  buys_24h: countShape.meta({
    description: 'Number of buys in 24 h: swaps in which the pool balance of the base token fell',
  }),
  sells_24h: countShape.meta({ description: 'Number of sells in 24 h: all other swaps' }),
  buyers_24h: countShape.nullable().meta({
    description: 'Distinct senders of buys in 24 h; null if the node does not report senders',
  }),
  sellers_24h: countShape.nullable().meta({
    description: 'Distinct senders of sells in 24 h; null if the node does not report senders',
  }),
  apr_24h: aprOver('24 h'),
  created_at: unixSecondsShape.nullable().meta({
    description: 'Time of the creation, unix seconds, UTC; null if it is unknown',
  }),
  created_block: countShape.nullable().meta({ description: 'Block of the creation; null if it is unknown' }),
  last_trade_at: unixSecondsShape
    .nullable()
    .meta({ description: 'Time of the last swap, unix seconds, UTC; null if there was none' }),
  flags: z.array(z.string()).meta({
    description:
      'Why a Balancer V2 pool backs no price: `managed_balance` (an asset manager), `weights_in_doubt` (a swap did ' +
      'not fit the weights), `extreme_terms` (a weight below 1 % or a fee above 10 %). ' +
      '`price_not_followed`: the pool has no price, because its price depends on something that no event tells, and ' +
      'nothing confirms what the node tells of it. ' +
      '`ended`: a bonding curve gave all its tokens to another pool. ' +
      '`partial_history`: transfers of the LP tokens before the first indexed block are missing, so lp_holders is ' +
      'null; `supply_unknown`: the node did not tell their supply either. ' +
      'About the pair, its base token, and taxes, honeypots and rebasing of any token: ' +
      RISK_FLAGS,
  }),
} as const;

export const pairItemShape = z.object(pairFields).meta({ id: 'Pair' });
export type PairItem = z.infer<typeof pairItemShape>;

export const pairsAnswerShape = z.object({ data: z.array(pairItemShape), meta: listMetaShape });
export type PairsAnswer = z.infer<typeof pairsAnswerShape>;

/** Names and lengths (in seconds) of the time windows in answers. */
export const WINDOW_SECONDS = { m5: 300, h1: 3_600, h6: 21_600, h24: 86_400 } as const;
export type Window = keyof typeof WINDOW_SECONDS;
export const WEEK_SECONDS = 604_800;
export const MONTH_SECONDS = 2_592_000;

export const tradeCountsShape = z.object({
  buys: countShape.meta({
    description:
      'Number of buys. A buy is a swap that lowers the pool balance of the token; in answers about a pair, of the base token',
  }),
  sells: countShape.meta({ description: 'Number of sells: all other swaps' }),
  buyers: countShape
    .nullable()
    .meta({ description: 'Distinct senders of buys; null if the node does not report senders' }),
  sellers: countShape
    .nullable()
    .meta({ description: 'Distinct senders of sells; null if the node does not report senders' }),
});
export type TradeCounts = z.infer<typeof tradeCountsShape>;

export const pairDetailShape = z
  .object({
    ...pairFields,
    token0: addressShape.meta({
      description: 'Token of reserve0: base_token or quote_token, whichever comes first in the pool',
    }),
    token1: addressShape.meta({
      description: 'Token of reserve1: base_token or quote_token, whichever comes second in the pool',
    }),
    reserve0: decimalShape
      .nullable()
      .meta({ description: 'Balance of token0 in the pool, whole tokens; null if unknown' }),
    reserve1: decimalShape
      .nullable()
      .meta({ description: 'Balance of token1 in the pool, whole tokens; null if unknown' }),
    reserve0_raw: integerStringShape
      .nullable()
      .meta({ description: 'reserve0 in raw units; null if unknown' }),
    reserve1_raw: integerStringShape
      .nullable()
      .meta({ description: 'reserve1 in raw units; null if unknown' }),
    reserve0_usd: usdShape.nullable().meta({
      description: 'Value of reserve0 in USD, by a trusted or untrusted price; null without a price',
    }),
    reserve1_usd: usdShape.nullable().meta({
      description: 'Value of reserve1 in USD, by a trusted or untrusted price; null without a price',
    }),
    token0_price: decimalShape
      .nullable()
      .meta({ description: 'Price of token0 in token1; null if the pool has no price' }),
    token1_price: decimalShape
      .nullable()
      .meta({ description: 'Price of token1 in token0; null if the pool has no price' }),
    volume: z
      .object({ m5: usdShape, h1: usdShape, h6: usdShape, h24: usdShape, d7: usdShape, d30: usdShape })
      .meta({ description: 'Volume of tracked swaps in 5 minutes, 1, 6 and 24 hours, 7 and 30 days, USD' }),
    untracked_volume_24h_usd: usdShape.meta({
      description: 'Value of all other swaps in 24 h, USD, by prices that are not trusted',
    }),
    fees: z
      .object({ h24: usdShape, d7: usdShape })
      .meta({ description: 'Fees of tracked swaps in 24 h and 7 days, USD' }),
    lp_fees_24h_usd: usdShape.meta({ description: 'Share of fees.h24 that liquidity providers receive' }),
    protocol_fees_24h_usd: usdShape.meta({ description: 'Share of fees.h24 that the protocol receives' }),
    apr_7d: aprOver('7 days'),
    transactions: z
      .object({
        m5: tradeCountsShape,
        h1: tradeCountsShape,
        h6: tradeCountsShape,
        h24: tradeCountsShape,
      })
      .meta({ description: 'Swaps and their senders in 5 minutes, 1, 6 and 24 hours' }),
    total_supply: decimalShape.nullable().meta({
      description:
        'Supply of LP tokens, whole tokens, from their Transfer logs, or from the node if these logs are incomplete; ' +
        'null for V3 pools, and if the node gives no supply',
    }),
    lp_holders: countShape.nullable().meta({
      description:
        'Number of addresses that hold LP tokens, without the zero address; null for V3 pools, and if the logs are ' +
        'incomplete',
    }),
    depth_2pct_usd: z
      .object({
        up: usdShape.nullable().meta({ description: 'Value of a trade that raises the price by 2 %, USD' }),
        down: usdShape.nullable().meta({ description: 'Value of a trade that lowers the price by 2 %, USD' }),
      })
      .meta({
        description:
          'Value of a trade that moves the price by +2 % and −2 %, at most the balance of the pool; null ' +
          'without a USD price of the quote token, and for stable pools',
      }),
    transfer_tax_pct: transferTaxShape.nullable().meta({
      description:
        'Tax of transfers of the base token, measured in swaps; null before 5 measured swaps of either side',
    }),
    lp_locked_pct: percentShape.nullable().meta({
      description:
        'Part of the LP tokens that is burnt or in a configured locker, percent; null for V3 pools, and if ' +
        'total_supply is null',
    }),
    lp_held_by_creator_pct: percentShape.nullable().meta({
      description: 'Part of the LP tokens that the creator of the base token holds, percent; null if unknown',
    }),
    warnings: z.array(warningShape).meta({ description: 'Warnings about the pair; the codes are its flags' }),
    factory: addressShape.meta({ description: 'Factory of the pool; for Balancer V2 the vault' }),
    created_tx: hashShape
      .nullable()
      .meta({ description: 'Transaction of the creation; null if it is unknown' }),
    sqrt_price_x96: integerStringShape
      .nullable()
      .optional()
      .meta({ description: 'V3 pools: sqrtPriceX96; null before the pool is initialized' }),
    tick: z
      .int()
      .nullable()
      .optional()
      .meta({ description: 'V3 pools: current tick; null before the pool is initialized' }),
    liquidity_raw: integerStringShape
      .nullable()
      .optional()
      .meta({ description: 'V3 pools: active liquidity; null if unknown' }),
    tick_spacing: z.int().optional().meta({ description: 'V3 pools: tick spacing' }),
    hooks: z
      .object({
        address: addressShape.meta({ description: 'Contract that the pool calls' }),
        permissions: z
          .array(z.string())
          .meta({ description: 'When the pool calls the contract, and whose amounts it may change' }),
      })
      .nullable()
      .optional()
      .meta({
        description: 'Uniswap V4 and PancakeSwap Infinity pools: the hook of the pool; null without one',
      }),
    ended: z
      .object({
        block_number: countShape.meta({ description: 'Block of the end' }),
        timestamp: unixSecondsShape.meta({ description: 'Time of this block, unix seconds' }),
        tx_hash: hashShape.meta({ description: 'Transaction that took all tokens out of the pool' }),
        moved_to: z
          .array(poolShape)
          .meta({ description: 'Pairs that got liquidity in the same transaction' }),
      })
      .nullable()
      .optional()
      .meta({ description: 'Bonding curves: the end of the pool; null before it' }),
    weights: z
      .array(decimalShape)
      .optional()
      .meta({ description: 'Weighted pools: weight of each token in `tokens`; the weights sum to 1' }),
    balances: z
      .array(
        z.object({
          address: addressShape.meta({ description: 'Token' }),
          balance: decimalShape
            .nullable()
            .meta({ description: 'Pool balance of the token, whole tokens; null if unknown' }),
          balance_raw: integerStringShape
            .nullable()
            .meta({ description: 'Pool balance of the token, raw units; null if unknown' }),
          value_usd: usdShape.nullable().meta({
            description: 'Value of the balance in USD, by a trusted or untrusted price; null without a price',
          }),
        }),
      )
      .optional()
      .meta({
        description: 'Weighted and stable pools: balance of each token in `tokens`, held by the vault',
      }),
  })
  .meta({ id: 'PairDetail' });
export type PairDetail = z.infer<typeof pairDetailShape>;

export const pairAnswerShape = z.object({ data: pairDetailShape });
export type PairAnswer = z.infer<typeof pairAnswerShape>;
