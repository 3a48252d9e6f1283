/** Shape of the `meta` of the explorer's lists. */
import { z } from 'zod';

const count = z.int().min(0);

export const explorerMetaShape = z.object({
  limit: z.int().min(1).meta({ description: 'Maximum number of items per page' }),
  offset: count.meta({ description: 'Number of items before this page' }),
  total: count.meta({
    description: 'Number of items on all pages; a lower bound if total_relation is "gte"',
  }),
  total_relation: z.enum(['eq', 'gte']).meta({
    description: '`eq`: `total` is exact. `gte`: counting stopped early, so there are at least `total` items',
  }),
  as_of_block: count.nullable().meta({
    description:
      'Number of the newest indexed block of the chain; null if this service does not index the chain',
  }),
  as_of_timestamp: count.nullable().meta({
    description: 'Time of the newest indexed block, unix seconds, UTC; null if as_of_block is null',
  }),
});
