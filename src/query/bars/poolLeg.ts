/**
 * Finds the two tokens of a pool that a request is about: `base` and `quote`, or else token0 and token1 of
 * the pool.
 */
import type { ChainDescription } from '../../domain/chainDescription';
import type { Hex } from '../../domain/hex';
import { pricedAs } from '../../domain/pools/nativeCoin';
import { orientPool } from '../../domain/pools/orientPool';
import { AppError } from '../../errors';
import { legOfPool, tokensOfPool, type StoredPool } from '../pairs/pools';

interface PoolLeg {
  readonly leg: number;
  readonly token0: string;
  readonly token1: string;
  readonly baseIsToken0: boolean;
  /** The wanted base token, as the pool names it. */
  readonly base: Hex;
  /** Whether the request exchanges the base token and the quote token of the leg. */
  readonly isTurned: boolean;
}

interface LegRequest {
  readonly base: Hex | null;
  readonly quote: Hex | null;
}

/**
 * Finds the leg that a request is about. Throws bad_request for tokens outside the pool, or for the same token twice.
 */
export function findPoolLeg(
  chain: Pick<ChainDescription, 'anchors' | 'wrappedNative' | 'majors'>,
  pool: StoredPool,
  asked: LegRequest,
): PoolLeg {
  const [ownBase, ownQuote] = pool.base_is_token0 ? [pool.token0, pool.token1] : [pool.token1, pool.token0];
  const tokens = tokensOfPool(pool);
  const priced = (token: Hex): Hex => pricedAs(token, chain.wrappedNative);
  // The wrapped coin stands for the native coin too.
  const ownOf = (token: Hex | null): Hex | null =>
    token === null || tokens.includes(token)
      ? token
      : (tokens.find((each) => priced(each) === priced(token)) ?? token);
  const [base, quote] = [ownOf(asked.base), ownOf(asked.quote)];
  for (const [paramName, askedToken] of [['base', base] as const, ['quote', quote] as const]) {
    if (askedToken !== null && !tokens.includes(askedToken))
      throw new AppError('bad_request', `${paramName}: got "${askedToken}"; allowed: ${tokens.join(', ')}`);
  }
  const wantedBase = base ?? (quote === ownBase ? ownQuote : ownBase);
  const wantedQuote = quote ?? (wantedBase === ownQuote ? ownBase : ownQuote);
  if (wantedBase === wantedQuote)
    throw new AppError('bad_request', `quote: got "${wantedQuote}"; allowed: a token other than base`);
  const isInOrder = tokens.indexOf(wantedBase) < tokens.indexOf(wantedQuote);
  const [token0, token1] = isInOrder ? [wantedBase, wantedQuote] : [wantedQuote, wantedBase];
  const leg = legOfPool(pool, token0, token1);
  if (leg === null)
    throw new AppError('bad_request', `quote: got "${wantedQuote}"; allowed: ${tokens.join(', ')}`);
  const isDefaultLeg = token0 === pool.token0 && token1 === pool.token1;
  const baseIsToken0 = isDefaultLeg ? pool.base_is_token0 : orientPool(chain, asHex(token0), asHex(token1));
  return {
    leg,
    token0,
    token1,
    base: wantedBase,
    baseIsToken0,
    isTurned: (baseIsToken0 ? token0 : token1) !== wantedBase,
  };
}

function asHex(address: string): Hex {
  return `0x${address.slice(2)}`;
}
