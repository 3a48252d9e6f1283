/** Types of the explorer's answers, with only the fields that the page shows. */

export interface ContractRecord {
  readonly chain_id: number;
  readonly address: string;
  readonly name: string | null;
  readonly type: string;
  readonly verified: boolean;
  readonly verification: {
    readonly status: string | null;
    readonly verified_at: number | null;
    readonly source: string | null;
  } | null;
  readonly compiler: { readonly name: string; readonly version: string } | null;
  readonly language: string | null;
  readonly evm_version: string | null;
  readonly license: string | null;
  readonly abi: readonly unknown[] | null;
  readonly sources: readonly { readonly path: string; readonly content: string }[] | null;
  readonly creator: string | null;
  readonly creation_tx: string | null;
  readonly creation_block: number | null;
  readonly code_hash: string | null;
  readonly code_size: number | null;
  readonly proxy: { readonly kind: string; readonly implementation: string | null } | null;
  readonly token: {
    readonly symbol: string | null;
    readonly name: string | null;
    readonly decimals: number | null;
  } | null;
  readonly pair: {
    readonly pool_type: number;
    readonly tokens: readonly { readonly symbol: string | null; readonly decimals: number | null }[];
  } | null;
  readonly first_seen_block: number | null;
  readonly last_seen_block: number | null;
  readonly log_count: number;
}

export interface LogEntry {
  readonly id: string;
  readonly address: string;
  readonly block_number: number;
  readonly block_hash: string | null;
  readonly timestamp: number | null;
  /** Null if the log belongs to no transaction. */
  readonly tx_hash: string | null;
  readonly log_index: number;
  readonly topics: readonly string[];
  readonly data: string;
  readonly decoded: {
    readonly name: string;
    readonly signature: string;
    readonly args: readonly {
      readonly position: number;
      readonly name: string;
      readonly type: string;
      readonly indexed: boolean;
      readonly value: unknown;
    }[];
  } | null;
  readonly finalized: boolean;
}

export interface SearchHit {
  readonly type: string;
  readonly chain_id: number;
  readonly address?: string | null;
  readonly hash?: string | null;
  readonly number?: number | null;
  readonly title: string | null;
  readonly subtitle: string | null;
  readonly verified?: boolean | null;
}

export interface SourceHit {
  readonly chain_id: number;
  readonly address: string;
  readonly contract_name: string | null;
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly snippet: string;
  readonly matches: unknown;
}

export interface ListAnswer<T> {
  readonly data: readonly T[];
  readonly meta?: {
    readonly limit?: number;
    readonly offset?: number;
    readonly total?: number;
    readonly total_relation?: string;
    readonly next_cursor?: string | null;
    readonly as_of_block?: number | null;
  };
}
