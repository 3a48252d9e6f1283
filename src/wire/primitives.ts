/** Small shapes that other answers use: addresses, hashes, decimal strings, times, tokens and list `meta`. */
import { z } from 'zod';

export const addressShape = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({ description: 'Address, lower-case hex', example: '0xa1077a294dde1b09bb078844df40758a5d0f9a27' });

export const hashShape = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ description: '32-byte hash, lower-case hex' });

/** A decimal string without exponent or trailing zeros. */
export const decimalShape = z
  .string()
  .regex(/^-?\d+(\.\d*[1-9])?$/)
  .meta({ description: 'Decimal number in plain notation, without trailing zeros', example: '0.00004217' });

/** An on-chain integer as a base-10 string. */
export const integerStringShape = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: 'On-chain integer, base 10', example: '1000000000000000000' });

export const unixSecondsShape = z
  .int()
  .min(0)
  .meta({ description: 'Unix seconds, UTC', example: 1_700_000_000 });

export const countShape = z.int().min(0);

export const percentShape = z.number().meta({ description: 'Percent: -1.4 is minus 1.4 %', example: -1.4 });

export const usdShape = z.number().meta({ description: 'US dollars' });

export const poolTypeShape = z
  .union([z.literal(2), z.literal(3), z.literal(4), z.literal(5)])
  .meta({ description: '2 = V2 constant product, 3 = V3 concentrated, 4 = weighted, 5 = stable' });

/** A token with only the fields needed to show amounts. */
export const tokenRefShape = z.object({
  address: addressShape,
  symbol: z.string().nullable(),
  decimals: z.int().min(0).max(255).nullable(),
});
export type TokenRef = z.infer<typeof tokenRefShape>;

export const tokenShape = tokenRefShape.extend({ name: z.string().nullable() });
export type Token = z.infer<typeof tokenShape>;

const asOf = { as_of_block: z.int().min(0), as_of_timestamp: unixSecondsShape };

/** The block that a list is as of. */
export const asOfShape = z.object(asOf);

export const listMetaShape = z.object({
  page: z.int().min(1),
  limit: z.int().min(1),
  total: countShape,
  total_pages: countShape,
  has_next: z.boolean(),
  ...asOf,
});
export type ListMeta = z.infer<typeof listMetaShape>;

export const errorShape = z
  .object({ success: z.literal(false), error: z.string(), code: z.string() })
  .meta({ id: 'Error', description: 'What went wrong, for people, and its stable word' });
