/** Reads what the ingester measured about tokens, and the logos of imported token lists. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';

/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 2_000_000;

const flag = z.boolean().nullable();
const traitsRowShape = z.object({
  token: z.string(),
  buys: z.int(),
  buy_tax: z.number(),
  sells: z.int(),
  sell_tax: z.number(),
  buyers: z.int(),
  sellers: z.int(),
  sale_fails: flag,
  mintable: flag,
  pausable: flag,
  bridged: flag,
  forked: flag,
  kept_at_zero: z.string(),
});
export type TokenTraits = z.infer<typeof traitsRowShape>;

const logoRowShape = z.object({ token: z.string(), logo_url: z.string() });

/** The traits of each measured token. */
export async function listTraits(runner: QueryRunner): Promise<ReadonlyMap<string, TokenTraits>> {
  const rows = await runner.run('risks/list_traits', { limit: TOKENS_MAX }, traitsRowShape);
  return new Map(rows.map((row) => [row.token, row]));
}

/** URLs of logos by token. */
export async function listLogos(runner: QueryRunner, chainId: number): Promise<ReadonlyMap<string, string>> {
  const params = { chain_id: chainId, limit: TOKENS_MAX };
  const rows = await runner.run('risks/list_logos', params, logoRowShape);
  return new Map(rows.map(({ token, logo_url }) => [token, logo_url]));
}
