/** Tokens and verified contracts by what they are called; a contract is also called what one with the same code is called. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { ZERO_HASH, type Hex } from '../domain/hex';

const tokenShape = z.object({
  address: z.templateLiteral(['0x', z.string()]),
  title: z.string(),
  subtitle: z.string().nullable(),
  place: z.number(),
});
const verifiedShape = tokenShape.extend({
  chain_id: z.int(),
  /** Hex without 0x. */
  code_hash: z.string(),
});
type TokenRow = z.infer<typeof tokenShape>;
type VerifiedRow = z.infer<typeof verifiedShape>;
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
  const [tokens, verified] = await Promise.all([
    runner.run('explorer/search_names', params, tokenShape),
    runner.run('explorer/search_verified_names', params, verifiedShape),
  ]);
  const byHash = new Map<string, VerifiedRow>();
  for (const row of verified)
    if (row.code_hash !== NO_CODE && !byHash.has(row.code_hash)) byHash.set(row.code_hash, row);
  const twins =
    byHash.size === 0
      ? []
      : await runner.run('explorer/list_code_twins', { hashes: [...byHash.keys()], limit }, twinShape);
  const named: Named[] = [
    ...tokens.map((row) => toNamed('token', row.address, row)),
    ...verified.flatMap((row) => (row.chain_id === chainId ? [toNamed('contract', row.address, row)] : [])),
  ];
  named.sort((a, b) => b.place - a.place);
  for (const { address, code_hash: hash } of twins) {
    const row = byHash.get(hash);
    if (row !== undefined) named.push(toNamed('contract', address, row));
  }
  // A verified token is one hit, as what it is called by most.
  const once = new Map<Hex, Named>();
  for (const one of named) if (!once.has(one.address)) once.set(one.address, one);
  return [...once.values()];
}

function toNamed(type: Named['type'], address: Hex, { title, subtitle, place }: TokenRow): Named {
  return { type, address, title, subtitle, place };
}

const NO_CODE = ZERO_HASH.slice(2);
