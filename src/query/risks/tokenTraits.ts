/** Reads what the ingester measured about tokens, and the logos of imported token lists. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { createNewestRows } from '../head/newestRows';

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

const versionedRowShape = traitsRowShape.extend({ version: z.coerce.number() });
const markRowShape = z.object({ mark: z.string() });

/** A function that returns the traits of each measured token. Each call reads only the rows that are new. */
export function createTraitReader(runner: QueryRunner): () => Promise<ReadonlyMap<string, TokenTraits>> {
  return createNewestRows((since) =>
    runner.run('risks/list_traits', { since, limit: TOKENS_MAX }, versionedRowShape),
  );
}

/** A function that returns the URLs of logos by token. It reads them again after an import. */
export function createLogoReader(
  runner: QueryRunner,
  chainId: number,
): () => Promise<ReadonlyMap<string, string>> {
  let known: ReadonlyMap<string, string> = new Map();
  let mark = '';
  return async () => {
    const [row] = await runner.run('risks/find_logo_mark', { chain_id: chainId }, markRowShape);
    const next = row?.mark ?? '';
    if (next !== mark) known = await listLogos(runner, chainId);
    mark = next;
    return known;
  };
}

/** The traits of each measured token. */
export async function listTraits(runner: QueryRunner): Promise<ReadonlyMap<string, TokenTraits>> {
  const rows = await runner.run('risks/list_traits', { since: 0, limit: TOKENS_MAX }, traitsRowShape);
  return new Map(rows.map((row) => [row.token, row]));
}

/** URLs of logos by token. */
export async function listLogos(runner: QueryRunner, chainId: number): Promise<ReadonlyMap<string, string>> {
  const params = { chain_id: chainId, limit: TOKENS_MAX };
  const rows = await runner.run('risks/list_logos', params, logoRowShape);
  return new Map(rows.map(({ token, logo_url }) => [token, logo_url]));
}
