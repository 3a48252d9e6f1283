/** What is searched in the sources of verified contracts, and where. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';

export const SOURCE_LANGUAGES = ['Solidity', 'Vyper', 'Yul'] as const;

export interface SourceQuestion {
  /** Three characters or more. */
  readonly q: string;
  /** null: `q` is a plain text. Made by readRegexQuestion. */
  readonly regex: RegexQuestion | null;
  readonly caseMatters: boolean;
  readonly language: (typeof SOURCE_LANGUAGES)[number] | null;
  /** Part of the path, in any letter case; null for any. */
  readonly path: string | null;
  readonly chainId: number;
  readonly limit: number;
  readonly offset: number;
}

/** Where sources and logs are read. */
export interface SourceSearchSource {
  /** Of the database with the logs of the asked chain, by which contracts are ranked; any where there are none. */
  readonly runner: QueryRunner;
  /** The database of the verified contracts. */
  readonly verifiedDb: string;
}

export interface RegexQuestion {
  /** With flags; over a whole file, `^` and `$` at its lines. */
  readonly inFile: string;
  /** The same over one line. */
  readonly inLine: string;
  /** Over one line, with what stands before the first match as its only group to read. */
  readonly prefix: string;
  /** A text that every match contains, three characters or more; empty: none. */
  readonly needle: string;
}

/** As the queries take it. */
export type SourceFilter = {
  readonly verified_db: string;
  readonly chain_id: number;
  readonly language: string;
  readonly path: string;
};

/** Parameters that all queries of a search have. */
export function filterOf({ verifiedDb }: SourceSearchSource, question: SourceQuestion): SourceFilter {
  return {
    verified_db: verifiedDb,
    chain_id: question.chainId,
    language: question.language ?? '',
    path: question.path?.toLowerCase() ?? '',
  };
}
