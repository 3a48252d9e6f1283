/** Reads token metadata by address. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType } from '../../clickhouse/rows/rowType';
import { tokensTable } from '../../clickhouse/schema/tables';
import type { Token, TokenRef } from '../../wire/primitives';

/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 2_000_000;

const tokenRow = rowType(pick(tokensTable.types, ['address', 'symbol', 'name', 'decimals']));

export type TokenMap = ReadonlyMap<string, Token>;

/**
 * Metadata of the given tokens (lower-case addresses), or of all tokens for null. Tokens without metadata are missing.
 */
export async function listTokens(
  runner: QueryRunner,
  addresses: readonly string[] | null,
): Promise<TokenMap> {
  if (addresses?.length === 0) return new Map();
  const hexAddresses = [...new Set(addresses ?? [])].map((address) => address.slice(2));
  const rows = await runner.run(
    'pairs/list_tokens',
    { addresses: hexAddresses, limit: TOKENS_MAX },
    tokenRow,
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** The token as answers show it; all fields are null without metadata. */
export function tokenOf(tokens: TokenMap, address: string): Token {
  return tokens.get(address) ?? { address, symbol: null, name: null, decimals: null };
}

/** The token for answers that need no more than its address, symbol and decimals. */
export function tokenRefOf(tokens: TokenMap, address: string): TokenRef {
  const { symbol, decimals } = tokenOf(tokens, address);
  return { address, symbol, decimals };
}
