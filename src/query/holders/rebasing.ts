/** Lists tokens whose balances change without transfers. The ingester's checks against the node find them. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { perVersion, type PerVersion } from '../head/perVersion';

/** Limit for safety: more tokens than are ever checked. */
const TOKENS_MAX = 2_000_000;

const rebasingRowShape = z.object({ token: z.string() });

export type RebasingTables = PerVersion<ReadonlySet<string>>;

/** Reads the list once per head version. A token that is marked between two heads appears in the later version. */
export function createRebasingTables(runner: QueryRunner): RebasingTables {
  return perVersion(() => listRebasing(runner));
}

export async function listRebasing(runner: QueryRunner): Promise<ReadonlySet<string>> {
  const rows = await runner.run('holders/list_rebasing', { limit: TOKENS_MAX }, rebasingRowShape);
  return new Set(rows.map(({ token }) => token));
}
