/** Shapes of values in ClickHouse's JSON output. */
import { z } from 'zod';

import type { Hex } from '../../domain/hex';

/** Shape of an integer of 64 bits or more, which arrives as text. */
export const wideIntegerShape = z.string().regex(/^-?\d+$/);
/** Shape of bytes that the statement returns as lower-case 0x-hex. */
export const hexShape = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value));
/** Shape of a row that only has the name of a table, column or database. */
export const nameRowShape = z.object({ name: z.string() });

/** Shape of one leg of a pool at the end of an epoch, as pool_epochs stores it. */
export const epochShape = z.object({
  pair: hexShape,
  leg: z.int(),
  timestamp: z.int(),
  price: z.number(),
  reserve0: z.number(),
  reserve1: z.number(),
  liquidity: z.number(),
  depth_liquidity: z.number(),
  depth_weight: z.number(),
  mean_log: z.number(),
  traded: z.number(),
  moved_at: z.int(),
  unswapped: z.number(),
  makers: z.array(hexShape),
  born_block: z.int(),
});
