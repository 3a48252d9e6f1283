/** The answer envelope of the Etherscan dialect. module=proxy uses a node's envelope instead. */
import { z } from 'zod';

/** An action of an endpoint whose parameters choose between actions, in the extension `x-actions` of OpenAPI. */
export interface ActionDoc {
  readonly module: string;
  readonly action: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly description: string;
  }[];
  /** `post` if the parameters are too long for a URL. */
  readonly method: 'get' | 'post';
}

export const etherscanAnswerShape = z
  .union([
    z.object({
      status: z
        .enum(['0', '1'])
        .meta({ description: '1: success with a result; 0: an error or an empty list' }),
      message: z.string().meta({
        description:
          'OK; for an error NOTOK or the error text; for an empty list a text such as No records found',
      }),
      result: z.union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())]),
      reason: z
        .string()
        .optional()
        .meta({
          description:
            'checkverifystatus: why the verification failed. Clients compare `result` with a fixed text, so ' +
            'the reason is here',
        }),
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
