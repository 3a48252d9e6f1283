/** Shape of the answer of /chains. */
import { z } from 'zod';

import { chainIdShape, countShape } from './primitives';
import { proofShape } from './proof';

const chainItemShape = z
  .object({
    chain_id: chainIdShape,
    slug: z.string().meta({
      description: 'Name of the chain in lower case with hyphens, for paths such as /api/v1/{chain}/pairs',
    }),
    name: z.string().meta({ description: 'Name of the chain' }),
    native_symbol: z.string().meta({ description: 'Symbol of the native coin' }),
    first_block: countShape
      .nullable()
      .meta({ description: 'Number of the first indexed block; null without a block' }),
    indexed_block: countShape
      .nullable()
      .meta({ description: 'Number of the newest indexed block; null without a block' }),
    head_block: countShape
      .nullable()
      .meta({ description: "Number of the node's newest block; null if unknown" }),
    lag_seconds: countShape
      .nullable()
      .meta({ description: 'Age of the newest indexed block in seconds; null without a block' }),
    state: z.enum(['current', 'behind', 'empty', 'unavailable']).meta({
      description:
        "current: the newest indexed block is younger than 5 minutes, or is the node's newest block. behind: it is " +
        'older. empty: no block is indexed. unavailable: the database does not answer',
    }),
    logs_from_block: countShape.nullable().meta({
      description:
        'First block from which on the raw logs of all contracts are stored, as /logs needs them; null while ' +
        'EXPLORER=off keeps only some, or without a block',
    }),
    proof: proofShape.nullable().meta({
      description: 'Which part of the stored chain is proven; null if the database does not answer',
    }),
  })
  .meta({ id: 'Chain' });
export type ChainItem = z.infer<typeof chainItemShape>;

export const chainsAnswerShape = z.object({ data: z.array(chainItemShape) });
