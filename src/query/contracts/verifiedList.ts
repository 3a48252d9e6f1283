/** Lists the verified contracts of a chain, page by page, for the dialects of Sourcify and Blockscout. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, bool, text } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { verifiedContractsTable } from '../../clickhouse/schema/sourceTables';

const types = verifiedContractsTable.types;
const listedRow = rowType({
  contract: address,
  status: types.status,
  creation_match: types.creation_match,
  verified_at: types.verified_at,
  name: types.name,
  match_id: text,
  language: types.language,
  compiler: types.compiler,
  compiler_version: types.compiler_version,
  optimization: types.optimization,
  license: types.license,
  has_arguments: bool,
});
export type ListedVerification = RowOf<typeof listedRow>;

interface VerifiedListQuery {
  readonly chainId: number;
  readonly newestFirst: boolean;
  /** The match id of the last contract of the page before; `0` for the first page. */
  readonly afterMatchId: string;
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
    listVerified: ({ chainId, newestFirst, afterMatchId, limit, q = '', language = '' }) =>
      runner.run(
        'sources/list_matches',
        {
          chain_id: chainId,
          sign: newestFirst ? -1 : 1,
          after: afterMatchId,
          limit,
          q: q.toLowerCase(),
          language,
        },
        listedRow,
      ),
  };
}
