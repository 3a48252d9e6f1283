/** Small shapes that other answers use: addresses, hashes, decimal strings, times, tokens and the `meta` of
 * lists. */
import { z } from 'zod';

export const addressShape = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({ description: 'Address, lower-case hex', example: '0xa1077a294dde1b09bb078844df40758a5d0f9a27' });

export const poolShape = z
  .string()
  .regex(/^0x[0-9a-f]{40}([0-9a-f]{24})?$/)
  .meta({
    description: 'Address of a pool, or the id of a pool without a contract, lower-case hex',
    example: '0xe56043671df55de5cdf8459710433c10324de0ae',
  });

export const hashShape = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ description: '32-byte hash, lower-case hex' });

export const chainIdShape = z.int().meta({ description: 'Chain id (EIP-155)' });

/** A decimal string without exponent or trailing zeros. */
export const decimalShape = z
  .string()
  .regex(/^-?\d+(\.\d*[1-9])?$/)
  .meta({
    description: 'Decimal number without exponent and without trailing zeros',
    example: '0.00004217',
  });

/** An on-chain integer as a base-10 string. */
export const integerStringShape = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: 'On-chain integer in base 10', example: '1000000000000000000' });

export const unixSecondsShape = z
  .int()
  .min(0)
  .meta({ description: 'Unix seconds, UTC', example: 1_700_000_000 });

export const countShape = z.int().min(0);

export const percentShape = z.number().meta({ description: 'Percent: -1.4 means −1.4 %', example: -1.4 });

export const usdShape = z.number().meta({ description: 'US dollars' });

export const poolTypeShape = z.literal([2, 3, 4, 5, 6, 7]).meta({
  description:
    'Pool type: 2 = constant product (V2), 3 = concentrated liquidity (V3), 4 = weighted, 5 = stable, 6 = crypto, 7 = bins',
});

export const dexNameShape = z
  .string()
  .meta({ description: 'Name of the DEX in paths and filters', example: 'pulsex_v2' });

/** A token with only the fields that are needed to show amounts. */
export const tokenRefShape = z.object({
  address: addressShape,
  symbol: z
    .string()
    .nullable()
    .meta({ description: 'Symbol from the contract, at most 64 characters; null if the contract has none' }),
  decimals: z.int().min(0).max(255).nullable().meta({
    description: 'Decimals of the token, 0 to 77; null if unknown, and amounts then stay in raw units',
  }),
});
export type TokenRef = z.infer<typeof tokenRefShape>;

export const tokenShape = tokenRefShape.extend({
  name: z
    .string()
    .nullable()
    .meta({ description: 'Name from the contract, at most 128 characters; null if the contract has none' }),
});
export type Token = z.infer<typeof tokenShape>;

const asOfFields = {
  as_of_block: z.int().min(0).meta({ description: 'Number of the newest block that the answer includes' }),
  as_of_timestamp: unixSecondsShape.meta({
    description: 'Time of the newest block that the answer includes, unix seconds, UTC',
  }),
};

/** The newest block that a list includes. */
export const asOfShape = z.object(asOfFields);

export const listMetaShape = z.object({
  page: z.int().min(1).meta({ description: 'Number of this page, from 1' }),
  limit: z.int().min(1).meta({ description: 'Maximum number of items per page' }),
  total: countShape.meta({ description: 'Number of items on all pages' }),
  total_pages: countShape.meta({ description: 'Number of pages' }),
  has_next: z.boolean().meta({ description: 'Whether another page follows' }),
  ...asOfFields,
});
export type ListMeta = z.infer<typeof listMetaShape>;

export const errorShape = z
  .object({
    success: z.literal(false),
    error: z.string().meta({ description: 'Description of the problem for people; the wording may change' }),
    code: z.string().meta({
      description:
        'Stable code: bad_request, not_found, logs_not_kept, method_not_allowed, rate_limited, internal or unavailable',
    }),
  })
  .meta({ id: 'Error', description: 'An error: a message for people and a code for programs' });

const wholeNumberShape = z.int().min(0);

export const explorerMetaShape = z.object({
  limit: z.int().min(1).meta({ description: 'Maximum number of items per page' }),
  offset: wholeNumberShape.meta({ description: 'Number of items before this page' }),
  total: wholeNumberShape.meta({
    description: 'Number of items on all pages; a lower bound if total_relation is "gte"',
  }),
  total_relation: z.enum(['eq', 'gte']).meta({
    description: '`eq`: `total` is exact. `gte`: counting stopped early, so there are at least `total` items',
  }),
  as_of_block: wholeNumberShape.nullable().meta({
    description:
      'Number of the newest indexed block of the chain; null if this service does not index the chain',
  }),
  as_of_timestamp: wholeNumberShape.nullable().meta({
    description: 'Time of the newest indexed block, unix seconds, UTC; null if as_of_block is null',
  }),
});
