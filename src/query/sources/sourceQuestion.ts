/** Defines the parameters of a search in the sources of verified contracts. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';

export const SOURCE_LANGUAGES = ['Solidity', 'Vyper', 'Yul'] as const;

export interface SourceQuestion {
  /** The search text, of three characters or more. */
  readonly q: string;
  /** The expression; null if `q` is plain text. Created by readRegexQuestion. */
  readonly regex: RegexQuestion | null;
  readonly caseMatters: boolean;
  readonly language: (typeof SOURCE_LANGUAGES)[number] | null;
  /** Part of the path, in any letter case; null accepts any path. */
  readonly path: string | null;
  readonly chainId: number;
  readonly limit: number;
  readonly offset: number;
}

export interface SourceSearchSource {
  /**
   * Runner of queries on the chain's database. The logs there rank contracts. For a chain without logs, any runner
   * may be used.
   */
  readonly runner: QueryRunner;
  /** The database of the verified contracts. */
  readonly verifiedDb: string;
}

export interface RegexQuestion {
  /** The regular expression that matches a whole file, with flags so that `^` and `$` match at line ends. */
  readonly inFile: string;
  /** The regular expression that matches one line of a file. */
  readonly inLine: string;
  /** The regular expression for one line whose first group captures the text before the first match. */
  readonly prefix: string;
  /** A text of three or more characters that every match contains. Empty if there is no such text. */
  readonly needle: string;
}

/** The search as parameters of the queries. */
type SourceFilter = {
  readonly verified_db: string;
  readonly chain_id: number;
  readonly language: string;
  readonly path: string;
};

/** Parameters of all queries of a search. */
export function filterOf({ verifiedDb }: SourceSearchSource, question: SourceQuestion): SourceFilter {
  return {
    verified_db: verifiedDb,
    chain_id: question.chainId,
    language: question.language ?? '',
    path: question.path?.toLowerCase() ?? '',
  };
}
