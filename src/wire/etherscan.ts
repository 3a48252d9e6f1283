/** The answer envelope of the Etherscan dialect. module=proxy uses a node's envelope instead. */
import { z } from 'zod';

export const etherscanAnswerShape = z
  .union([
    z.object({
      status: z.enum(['0', '1']),
      message: z.string().meta({ description: 'OK, NOTOK, or what an empty list is called' }),
      result: z.union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())]),
      reason: z
        .string()
        .optional()
        .meta({ description: 'Why a verification failed; its clients know one literal text alone' }),
    }),
    z.object({ jsonrpc: z.literal('2.0'), id: z.int(), result: z.string() }),
    z.object({
      jsonrpc: z.literal('2.0'),
      id: z.int(),
      error: z.object({ code: z.int(), message: z.string() }),
    }),
  ])
  .meta({ id: 'EtherscanAnswer' });
export type EtherscanAnswer = z.infer<typeof etherscanAnswerShape>;
