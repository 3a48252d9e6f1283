/** Names the tokens of a pool by role: base, quote and all. Pure. */
import type { Token } from '../../wire/primitives';
import { tokenOf, type TokenMap } from '../tokens/tokens';
import type { StoredPool } from './pools';

/** The tokens of a pool by role (base, quote and all). The object stays the same until one of the tokens changes. */
export interface PoolTokens {
  readonly token0: Token;
  readonly token1: Token;
  readonly base: Token;
  readonly quote: Token;
  /** All tokens in chain order. */
  readonly all: readonly Token[];
  /** Name of the pair: "BASE / QUOTE", followed by the other tokens. */
  readonly name: string;
}

export function poolTokensOf(pool: StoredPool, tokens: TokenMap): PoolTokens {
  const token0 = tokenOf(tokens, pool.token0);
  const token1 = tokenOf(tokens, pool.token1);
  const [base, quote] = pool.base_is_token0 ? [token0, token1] : [token1, token0];
  const allTokens =
    pool.all_tokens.length === 0
      ? [token0, token1]
      : pool.all_tokens.map((address) => tokenOf(tokens, address));
  return { token0, token1, base, quote, all: allTokens, name: nameOf(base, quote, allTokens) };
}

/** Name of the pair: "BASE / QUOTE", followed by the other tokens of the pool. */
function nameOf(base: Token, quote: Token, allTokens: readonly Token[]): string {
  const otherTokens = allTokens.filter(
    ({ address }) => address !== base.address && address !== quote.address,
  );
  return [base, quote, ...otherTokens].map(labelOf).join(' / ');
}

/** A token's symbol, or its shortened address. */
export function labelOf(token: Pick<Token, 'address' | 'symbol'>): string {
  return token.symbol ?? `${token.address.slice(0, 6)}…${token.address.slice(-4)}`;
}
