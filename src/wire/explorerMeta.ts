/** Shape of the `meta` of the explorer's lists. */
import { z } from 'zod';

const count = z.int().min(0);

export const explorerMetaShape = z.object({
  limit: z.int().min(1),
  offset: count,
  total: count,
  as_of_block: count
    .nullable()
    .meta({ description: 'Newest indexed block of the chain; null where it is not ingested here' }),
  as_of_timestamp: count.nullable().meta({ description: 'Its time, unix seconds' }),
});
