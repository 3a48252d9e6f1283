/** Shape of the answer of /readyz. */
import { z } from 'zod';

import { proofShape } from './proof';

export const problemShape = z.object({
  code: z.string().meta({ description: 'Stable code' }),
  message: z.string().meta({
    description:
      'Description of the problem for people. The text stays the same while the problem lasts; the wording may change between versions',
  }),
  age_seconds: z.int().nullable().meta({
    description: 'Seconds since the cause began, or since this process first saw the problem',
  }),
  detail: z.string().nullable().meta({
    description: 'Text of the newest error of the cause, which may change at any time; null without one',
  }),
  figures: z.record(z.string(), z.number()).meta({
    description: 'Numbers that describe the problem and change while it lasts, by their names',
  }),
});
type WireProblem = z.infer<typeof problemShape>;
/** A problem as the parts of the program report it. Missing fields are unknown. */
export type ReadyProblem = Pick<WireProblem, 'code' | 'message'> & Partial<WireProblem>;

/** Identifies a problem while its text or figures change. Several endpoints can have the same problem. */
export function problemKey({ code, figures }: Pick<ReadyProblem, 'code' | 'figures'>): string {
  const endpoint = figures?.['endpoint'];
  return endpoint === undefined ? code : `${code} #${endpoint}`;
}

export const backfillShape = z.object({
  from_block: z.int().meta({ description: 'First block of the range that is being stored' }),
  to_block: z.int().meta({ description: 'Last block of the range' }),
  done_pct: z.number().meta({ description: 'Stored part of the range in percent, 0 to 100' }),
  seconds_left: z.int().nullable().meta({
    description: 'Seconds until the end at the pace so far; null before the first stored block',
  }),
});

const checkShape = z.object({ ok: z.boolean().meta({ description: 'Whether the check passes' }) });
export const readyShape = z.object({
  ready: z.boolean().meta({ description: 'Whether answers are current: the database and the head are ok' }),
  checks: z.object({
    database: checkShape.extend({
      last_answer_seconds: z.number().nullable().meta({
        description: 'Seconds since the last answer of the database; null if there was none',
      }),
    }),
    head: checkShape.extend({
      block_number: z
        .int()
        .nullable()
        .meta({ description: 'Number of the newest indexed block; null if no block is indexed yet' }),
      block_hash: z
        .string()
        .nullable()
        .meta({ description: 'Hash of the newest indexed block; null without a block' }),
      final_block: z.int().nullable().meta({ description: 'Last final block; null without a block' }),
      age_seconds: z
        .int()
        .nullable()
        .meta({ description: 'Age of the newest indexed block in seconds; null without a block' }),
      block_seconds: z.number().nullable().meta({
        description: 'Mean time between the newest blocks in seconds; null if fewer than three are known',
      }),
    }),
    node: checkShape
      .extend({
        head: z.int().nullable().meta({ description: "Number of the node's newest block; null if unknown" }),
        behind_blocks: z.int().nullable().meta({
          description: 'Blocks from the newest indexed block to the head of the node; null if unknown',
        }),
      })
      .nullable()
      .meta({
        description: 'State of the node; null if neither this process nor the ingester asked the node',
      }),
  }),
  backfill: backfillShape.nullable().meta({
    description: 'Progress of a backfill of at least 100 blocks; null if there is none',
  }),
  proof: proofShape,
  problems: z.array(problemShape),
});
export type ReadyAnswer = z.infer<typeof readyShape>;
