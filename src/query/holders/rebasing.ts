/** Tokens whose logs do not tell their balances, as the ingester's checks against the node have found. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { perVersion, type PerVersion } from '../head/perVersion';

/** More tokens than are ever checked; a bound, not a page. */
const TOKENS_MAX = 2_000_000;

const rebasingRowShape = z.object({ token: z.string() });

export type RebasingTables = PerVersion<ReadonlySet<string>>;

/** Read once per head version: a mark that is set between two heads shows with the later one. */
export function createRebasingTables(runner: QueryRunner): RebasingTables {
  return perVersion(() => listRebasing(runner));
}

export async function listRebasing(runner: QueryRunner): Promise<ReadonlySet<string>> {
  const rows = await runner.run('balances/list_rebasing', { limit: TOKENS_MAX }, rebasingRowShape);
  return new Set(rows.map(({ token }) => token));
}
