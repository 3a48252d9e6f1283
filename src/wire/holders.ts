/** Shapes of the list of the holders of a token. */
import { z } from 'zod';

import {
  addressShape,
  countShape,
  decimalShape,
  integerStringShape,
  listMetaShape,
  percentShape,
} from './primitives';

const holderLabelShape = z.object({
  kind: z.enum(['pair', 'vault', 'burn', 'treasury', 'locker']).meta({ description: 'Kind of the contract' }),
  name: z.string().meta({ description: 'Name of the contract for people', example: 'WPLS / DAI' }),
});
export type HolderLabel = z.infer<typeof holderLabelShape>;

const holderShape = z
  .object({
    rank: z.int().min(1).meta({ description: 'Place among all holders, from 1' }),
    address: addressShape.meta({ description: 'Address of the holder' }),
    balance: decimalShape.nullable().meta({
      description: 'Balance in whole tokens; null if the decimals of the token are unknown',
    }),
    balance_raw: integerStringShape.meta({ description: 'Balance in raw units' }),
    share_pct: percentShape.nullable().meta({
      description: 'Part of the total supply in percent; null if the supply is unknown',
    }),
    label: holderLabelShape.nullable().meta({
      description: 'Name of the holder, if it is a known pair, vault, burn address, treasury or locker',
    }),
  })
  .meta({ id: 'Holder' });

export const holdersAnswerShape = z.object({
  data: z.array(holderShape),
  meta: listMetaShape.extend({
    total: countShape.meta({ description: 'Number of holders; 0 if `reason` is set' }),
    reason: z
      .enum(['unknown_balances'])
      .nullable()
      .meta({
        description:
          'Why the list is empty. unknown_balances: the balances do not follow from the stored transfers, because ' +
          'transfers before the first indexed block are missing, or because the transfers of the token do not tell ' +
          'its balances. Null otherwise',
      }),
  }),
});
export type HoldersAnswer = z.infer<typeof holdersAnswerShape>;
