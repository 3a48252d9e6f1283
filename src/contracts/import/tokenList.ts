/**
 * Reads token lists in the format of tokenlists.org. A list comes from anybody, so every part of it is checked, and
 * broken tokens are left out. Pure.
 */
import { z } from 'zod';

import { findAddress, normaliseText } from '../../domain/address';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';

/** Largest number of tokens in a list; the format allows 10,000. */
export const TOKENS_MAX = 100_000;
const NAME_MAX = 64;
const URL_MAX = 2_048;
const CHAIN_ID_MAX = 4_294_967_295;
const PROTOCOLS: ReadonlySet<string> = new Set(['https:', 'http:', 'ipfs:']);

const listShape = z.object({ name: z.string(), tokens: z.array(z.unknown()) });
const tokenShape = z.object({
  chainId: z.int().min(1).max(CHAIN_ID_MAX),
  address: z.string(),
  logoURI: z.string().optional(),
});

interface ListedToken {
  readonly chainId: number;
  readonly address: Hex;
  /** URL of the token's logo. Null if the list has no usable URL. */
  readonly logoUrl: string | null;
}

export interface TokenList {
  readonly name: string;
  readonly tokens: readonly ListedToken[];
  /** Number of entries without a valid chain id and address. */
  readonly broken: number;
}

/** Throws bad_config, which names the source, for a text that is no token list. */
export function parseTokenList(text: string, source: string): TokenList {
  const fail = (problem: string): AppError => new AppError('bad_config', `${source}: ${problem}`);
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw fail('not JSON; allowed: a token list (tokenlists.org)');
  }
  const list = listShape.safeParse(json);
  if (!list.success) throw fail('no token list: it needs a text "name" and a list "tokens" (tokenlists.org)');
  const { tokens: entries } = list.data;
  if (entries.length > TOKENS_MAX) throw fail(`got ${entries.length} tokens; allowed: at most ${TOKENS_MAX}`);
  const tokens = new Map<string, ListedToken>();
  let brokenCount = 0;
  for (const entry of entries) {
    const token = readToken(entry);
    if (token === null) brokenCount += 1;
    else tokens.set(`${token.chainId} ${token.address}`, token);
  }
  return {
    name: normaliseText(list.data.name, NAME_MAX) ?? 'unnamed',
    tokens: [...tokens.values()],
    broken: brokenCount,
  };
}

function readToken(entry: unknown): ListedToken | null {
  const token = tokenShape.safeParse(entry);
  const address = token.success ? findAddress(token.data.address) : null;
  if (!token.success || address === null) return null;
  return { chainId: token.data.chainId, address, logoUrl: readUrl(token.data.logoURI) };
}

/** The URL of a logo. URLs that a browser could run, that hold data or a password are left out. */
function readUrl(text: string | undefined): string | null {
  if (text === undefined || text.length > URL_MAX || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text))
    return null;
  const { protocol, username, password, href } = new URL(text);
  return PROTOCOLS.has(protocol) && username === '' && password === '' && href.length <= URL_MAX
    ? href
    : null;
}
