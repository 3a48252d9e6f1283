/** Shape of the answer of /source-search. */
import { z } from 'zod';

import { explorerMetaShape } from './explorerMeta';
import { addressShape } from './primitives';

export const sourceHitShape = z
  .object({
    chain_id: z.int(),
    address: addressShape,
    contract_name: z.string(),
    path: z.string(),
    line: z.int().min(1),
    column: z.int().min(1).meta({ description: 'Of the first match in the line, in characters, from 1' }),
    snippet: z.string().meta({ description: 'The line with up to two before and behind it' }),
    matches: z.int().min(1).meta({ description: 'Matches in the line' }),
    contracts: z
      .int()
      .min(1)
      .meta({ description: 'How many verified contracts of the chain share the file' }),
  })
  .meta({ id: 'SourceHit' });

export const sourceSearchAnswerShape = z.object({
  success: z.literal(true),
  data: z.array(sourceHitShape),
  meta: explorerMetaShape.extend({
    total: z.int().min(0).meta({ description: 'Matching lines' }),
    total_exact: z.boolean().meta({ description: 'false: at least so many' }),
  }),
});
