/** Lists tokens whose balances do not follow from their transfers. The ingester finds them. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { OddKind } from '../../clickhouse/schema/tables';
import { createOddReader } from './balanceChecks';
import { perVersion, type PerVersion } from '../head/perVersion';

/** Limit for safety: more tokens than are ever checked. */
const TOKENS_MAX = 2_000_000;

const tokenRow = rowType({ token: address });

/** Tokens whose balances must come from the node. */
export interface UnfollowedTokens {
  /** Tokens that are marked as rebasing. */
  readonly rebasing: ReadonlySet<string>;
  /** Tokens with odd logs, by address. */
  readonly odd: ReadonlyMap<string, { readonly kind: OddKind }>;
}

export type RebasingTables = PerVersion<UnfollowedTokens>;

/** Reads the list once per head version. A token that is marked between two heads appears in the later version. */
export function createRebasingTables(runner: QueryRunner): RebasingTables {
  const readOdd = createOddReader(runner);
  return perVersion({
    async read() {
      const [rebasing, odd] = await Promise.all([listRebasing(runner), readOdd()]);
      return { rebasing, odd };
    },
  });
}

export async function listRebasing(runner: QueryRunner): Promise<ReadonlySet<string>> {
  const rows = await runner.run('holders/list_rebasing', { limit: TOKENS_MAX }, tokenRow);
  return new Set(rows.map(({ token }) => token));
}
