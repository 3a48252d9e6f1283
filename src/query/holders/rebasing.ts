/** Lists tokens whose balances do not follow from their logs, by the ingester's checks against the node. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { perVersion, type PerVersion } from '../head/perVersion';

/** Limit for safety: more tokens than are ever checked. */
const TOKENS_MAX = 2_000_000;

const rebasingRowShape = z.object({ token: z.string() });

export type RebasingTables = PerVersion<ReadonlySet<string>>;

/** Read once per head version, so a mark set between two heads appears with the later head. */
export function createRebasingTables(runner: QueryRunner): RebasingTables {
  return perVersion(() => listRebasing(runner));
}

export async function listRebasing(runner: QueryRunner): Promise<ReadonlySet<string>> {
  const rows = await runner.run('holders/list_rebasing', { limit: TOKENS_MAX }, rebasingRowShape);
  return new Set(rows.map(({ token }) => token));
}
