/** Lists the verified contracts of a chain, page by page, for the dialects of Sourcify and Blockscout. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';

const rowShape = z.object({
  contract: z.templateLiteral(['0x', z.string()]),
  status: z.enum(['exact_match', 'match']),
  creation_match: z.enum(['exact_match', 'match', '']),
  verified_at: z.int(),
  name: z.string(),
  match_id: z.string(),
  language: z.enum(['Solidity', 'Vyper', 'Yul']),
  compiler: z.string(),
  compiler_version: z.string(),
  optimization: z.boolean(),
  license: z.string().nullable(),
  has_arguments: z.coerce.boolean(),
});
export type ListedVerification = z.infer<typeof rowShape>;

interface VerifiedListQuery {
  readonly chainId: number;
  readonly newestFirst: boolean;
  /** The match id of the last contract of the page before; `0` for the first page. */
  readonly after: string;
  readonly limit: number;
  /** A part of the name, or the start of the address. Empty for all. */
  readonly q?: string;
  /** Empty for all. */
  readonly language?: string;
}

export interface VerifiedLister {
  /** Lists contracts with a verification of their own. A contract with only the same code is not listed. */
  listVerified(query: VerifiedListQuery): Promise<ListedVerification[]>;
}

export function createVerifiedLister(runner: QueryRunner): VerifiedLister {
  return {
    listVerified: ({ chainId, newestFirst, after, limit, q = '', language = '' }) =>
      runner.run(
        'sources/list_matches',
        {
          chain_id: chainId,
          sign: newestFirst ? -1 : 1,
          after,
          limit,
          q: q.toLowerCase(),
          language,
        },
        rowShape,
      ),
  };
}
