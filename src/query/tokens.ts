/** Token metadata by address. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import type { Hex } from '../domain/hex';
import type { Token, TokenRef } from '../wire/primitives';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';

/** More tokens than any chain has pools for; a bound, not a page. */
const TOKENS_MAX = 2_000_000;

const tokenRowShape = z.object({
  address: z.string(),
  symbol: z.string().nullable(),
  name: z.string().nullable(),
  decimals: z.int().nullable(),
});

const markShape = z.object({ table_rows: z.string(), newest_version: z.string() });

export type TokenMap = ReadonlyMap<string, Token>;

/** Metadata of the given tokens (lower-case addresses); those without are missing in the map. */
export async function listTokens(runner: QueryRunner, addresses: readonly string[]): Promise<TokenMap> {
  if (addresses.length === 0) return new Map();
  return readTokens(runner, [...new Set(addresses)]);
}

/** Metadata of the tokens of one pool, which need not be known. */
export async function listPoolTokens(runner: QueryRunner, head: HeadSnapshot, pool: Hex): Promise<TokenMap> {
  const params = { ...snapshotParams(head), pair: pool.slice(2), limit: TOKENS_MAX };
  const rows = await runner.run('pairs/list_pool_tokens', params, tokenRowShape);
  return new Map(rows.map((row) => [row.address, row]));
}

/** Metadata of every token, for tables that are made once per head version. */
export interface TokenMetadata {
  /** The same map as long as no token is added or read again. */
  read(): Promise<TokenMap>;
}

export function createTokenMetadata(runner: QueryRunner): TokenMetadata {
  let kept: { readonly mark: string; readonly tokens: TokenMap } | null = null;
  return {
    async read() {
      // Read first: what is written meanwhile makes the next mark differ.
      const mark = await readMark(runner);
      if (kept?.mark !== mark) kept = { mark, tokens: await readTokens(runner, []) };
      return kept.tokens;
    },
  };
}

/** A text that changes with every write to the table of tokens, and sometimes with a merge. */
async function readMark(runner: QueryRunner): Promise<string> {
  const [mark] = await runner.run('pairs/mark_tokens', {}, markShape);
  return mark === undefined ? '' : `${mark.table_rows} ${mark.newest_version}`;
}

async function readTokens(runner: QueryRunner, addresses: readonly string[]): Promise<TokenMap> {
  const params = { addresses: addresses.map((address) => address.slice(2)), limit: TOKENS_MAX };
  const rows = await runner.run('pairs/list_tokens', params, tokenRowShape);
  return new Map(rows.map((row) => [row.address, row]));
}

/** The token as answers show it; a token without metadata has nulls. */
export function tokenOf(tokens: TokenMap, address: string): Token {
  return tokens.get(address) ?? { address, symbol: null, name: null, decimals: null };
}

/** The token where only its amounts matter. */
export function tokenRefOf(tokens: TokenMap, address: string): TokenRef {
  const { symbol, decimals } = tokenOf(tokens, address);
  return { address, symbol, decimals };
}
