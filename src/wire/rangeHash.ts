/** Shape of the answer of /range-hash. */
import { z } from 'zod';

import { chainIdShape, countShape, integerStringShape } from './primitives';

export const rangeHashAnswerShape = z.object({
  data: z.object({
    chain_id: chainIdShape,
    first_block: countShape.meta({ description: 'First block that is stored' }),
    final_block: countShape.meta({ description: 'Last final block that is stored' }),
    logs_from_block: countShape.nullable().meta({
      description: 'First block from which on all logs are stored; null with EXPLORER=off',
    }),
    from_block: countShape.meta({ description: 'First block of the sums' }),
    to_block: countShape.meta({ description: 'Last block of the sums' }),
    tables: z
      .array(
        z.object({
          name: z.string().meta({ description: 'Name of the table' }),
          sum: integerStringShape.meta({
            description: 'Sum of the sipHash128 of the rows, modulo 2^128. The order of rows does not matter',
          }),
        }),
      )
      .meta({ description: 'The tables with rows of these blocks, by name' }),
  }),
});
export type RangeHashAnswer = z.infer<typeof rangeHashAnswerShape>;
