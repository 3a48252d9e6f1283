/**
 * Shape of the proof in answers: the level of proof of the newest block, and the part of the chain with this level.
 */
import { z } from 'zod';

import { PROOF_LEVELS } from '../domain/block';
import { countShape } from './primitives';

export const proofShape = z
  .object({
    level: z
      .enum(PROOF_LEVELS)
      .nullable()
      .meta({
        description:
          'How far the newest stored block is proven. full: header hash, transactions root and receipts root. ' +
          'receipts: header hash and receipts root. headers: header hash. bloom: only the bloom of its logs. ' +
          'none: nothing, because the bloom is empty. Null if no block is stored',
      }),
    proven_from: countShape.nullable().meta({
      description:
        'First block of the newest part of the stored chain in which every block has this level or a stronger one; ' +
        'null if no block is stored',
    }),
    proven_to: countShape
      .nullable()
      .meta({ description: 'Last block of this part: the newest stored block; null if no block is stored' }),
    senders_proven_to: countShape.nullable().meta({
      description:
        'Last block of this part up to which the sender of each transaction with stored events is recovered from its ' +
        'signature; null if the level is not full, or if none is checked yet',
    }),
  })
  .meta({ id: 'Proof', description: 'Which part of the stored chain is proven at which level' });
export type Proof = z.infer<typeof proofShape>;
