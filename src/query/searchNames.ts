/** Tokens and verified contracts by what they are called; a contract is also called what one with the same code is called. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import type { RowReader } from '../clickhouse/rowReader';
import { ZERO_HASH, type Hex } from '../domain/hex';
import type { NamedToken, TokenNames } from './tokenNames';

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
  readonly names: TokenNames;
  /** Name of the database with the verified contracts. */
  readonly verifiedDb: string;
}

interface VerifiedRow {
  readonly chainId: number;
  readonly address: Hex;
  readonly codeHash: Hex;
  readonly name: string;
  readonly path: string;
  readonly version: number;
}

/** The best first, each address once; at most three times `limit`. `text`: lower case. */
export async function listNamed(
  { runner, chainId, names, verifiedDb }: NameSource,
  text: string,
  limit: number,
): Promise<Named[]> {
  const asked = { q: text, word: ` ${text}`, limit, chain_id: chainId, verified_db: verifiedDb };
  const [tokens, verified] = await Promise.all([
    names.find(text, limit),
    runner.read('explorer/search_verified_names', asked, readVerified),
  ]);
  const newest = newestOf(verified, ({ chainId: chain, address }) => `${chain} ${address}`);
  const byHash = new Map<Hex, VerifiedRow>();
  for (const row of newest)
    if (row.codeHash !== ZERO_HASH && !byHash.has(row.codeHash)) byHash.set(row.codeHash, row);
  const hashes = [...byHash.keys()].map((hash) => hash.slice(2));
  const twins =
    hashes.length === 0 ? [] : await runner.run('explorer/list_code_twins', { hashes, limit }, twinShape);
  const named = [
    ...tokens.map((token) => nameToken(token, text)),
    ...newest.map((row) => (row.chainId === chainId ? nameContract(row.address, row, text) : null)),
  ].flatMap((one) => one ?? []);
  named.sort((a, b) => b.place - a.place);
  for (const { address, code_hash: hash } of twins) {
    const row = byHash.get(`0x${hash}`);
    const twin = row === undefined ? null : nameContract(address, row, text);
    if (twin !== null) named.push(twin);
  }
  // A verified token is one hit, as what it is called by most.
  const once = new Map<Hex, Named>();
  for (const one of named) if (!once.has(one.address)) once.set(one.address, one);
  return [...once.values()];
}

/** A token as a hit; null: nothing of its names is like the text. */
function nameToken({ address, symbol, name }: NamedToken, text: string): Named | null {
  const place = Math.max(
    placeOf((symbol ?? '').toLowerCase(), text),
    placeOf((name ?? '').toLowerCase(), text) - 0.5,
  );
  return place <= 0 ? null : { type: 'token', address, title: symbol ?? name ?? '', subtitle: name, place };
}

function nameContract(address: Hex, { name, path }: VerifiedRow, text: string): Named | null {
  const place = placeOf(name.toLowerCase(), text);
  return place === 0 ? null : { type: 'contract', address, title: name, subtitle: path, place };
}

/** How much of a name a text is: 4 all, 3 its beginning, 2 the beginning of a word, 1 inside, 0 not there. Both in lower case. */
export function placeOf(name: string, text: string): number {
  if (name === text) return PLACE_EXACT;
  if (name.startsWith(text)) return 3;
  if (` ${name}`.includes(` ${text}`)) return 2;
  return name.includes(text) ? 1 : 0;
}

export const PLACE_EXACT = 4;

function newestOf<Row extends { readonly version: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const known = newest.get(keyOf(row));
    if (known === undefined || known.version < row.version) newest.set(keyOf(row), row);
  }
  return [...newest.values()];
}

function readVerified(row: RowReader): VerifiedRow {
  return {
    chainId: row.u32(),
    address: row.hex0x(20),
    codeHash: row.hex0x(32),
    name: row.text(),
    path: row.text(),
    version: row.u64(),
  };
}
