/** Tokens and verified contracts by what they are called; a contract is also called what one with the same code is called. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { ZERO_HASH, type Hex } from '../domain/hex';

const nameShape = z.object({
  type: z.enum(['token', 'contract']),
  chain_id: z.int(),
  /** Hex without 0x; empty: a token's. */
  code_hash: z.string(),
  address: z.templateLiteral(['0x', z.string()]),
  title: z.string(),
  subtitle: z.string().nullable(),
  place: z.number(),
});
type NameRow = z.infer<typeof nameShape>;
const twinShape = z.object({ address: z.templateLiteral(['0x', z.string()]), code_hash: z.string() });

export interface Named {
  readonly type: 'token' | 'contract' | 'pair';
  readonly address: Hex;
  readonly title: string;
  readonly subtitle: string | null;
  /** 4: all of the name, 3: its beginning, 2: the beginning of a word, 1: inside; half a place less of less telling names. */
  readonly place: number;
}

export interface NameSource {
  readonly runner: QueryRunner;
  readonly chainId: number;
  /** Name of the database with the verified contracts. */
  readonly verifiedDb: string;
}

/** The best first, each address once; at most three times `limit`. `text`: lower case. */
export async function listNamed(
  { runner, chainId, verifiedDb }: NameSource,
  text: string,
  limit: number,
): Promise<Named[]> {
  const params = { chain_id: chainId, q: text, verified_db: verifiedDb, limit };
  const rows = await runner.run('explorer/search_names', params, nameShape);
  const byHash = new Map<string, NameRow>();
  for (const row of rows) {
    const known = row.code_hash === '' || row.code_hash === NO_CODE || byHash.has(row.code_hash);
    if (!known) byHash.set(row.code_hash, row);
  }
  const twins =
    byHash.size === 0
      ? []
      : await runner.run('explorer/list_code_twins', { hashes: [...byHash.keys()], limit }, twinShape);
  // A verified token is one hit, as what it is called by most.
  const named = new Map<Hex, Named>();
  const add = (address: Hex, { type, title, subtitle, place }: NameRow): void => {
    if (!named.has(address)) named.set(address, { type, address, title, subtitle, place });
  };
  for (const row of rows) if (row.chain_id === chainId) add(row.address, row);
  for (const { address, code_hash: hash } of twins) {
    const row = byHash.get(hash);
    if (row !== undefined) add(address, row);
  }
  return [...named.values()];
}

const NO_CODE = ZERO_HASH.slice(2);
