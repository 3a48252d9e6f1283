/** Shape of the answer of /source-search. */
import { z } from 'zod';

import { addressShape, chainIdShape, explorerMetaShape } from './primitives';

const sourceHitShape = z
  .object({
    chain_id: chainIdShape,
    address: addressShape.meta({ description: 'A verified contract with this file' }),
    contract_name: z.string().meta({ description: 'Name of the verified contract in its source' }),
    path: z.string().meta({ description: 'Path of the file in the verified contract' }),
    line: z.int().min(1).meta({ description: 'Line number, from 1' }),
    column: z
      .int()
      .min(1)
      .meta({ description: 'Position of the first match in the line, in characters, from 1' }),
    snippet: z
      .string()
      .meta({ description: 'The matching line, with up to two lines before and two lines after it' }),
    matches: z.int().min(1).meta({ description: 'Number of matches in the line' }),
    contracts: z
      .int()
      .min(1)
      .meta({ description: 'Number of verified contracts of the chain that share the file' }),
  })
  .meta({ id: 'SourceHit' });

export const sourceSearchAnswerShape = z.object({
  success: z.literal(true),
  data: z.array(sourceHitShape),
  meta: explorerMetaShape,
});
