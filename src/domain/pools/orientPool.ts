/**
 * Decides which token of a pool is the base token. The decision is made once, when the pool is found, so that a chart
 * never changes its direction.
 */
import type { ChainDescription } from '../chainDescription';
import type { Hex } from '../hex';
import { pricedAs } from './nativeCoin';

/** The part of the description that ranks tokens. */
type RankingChain = Pick<ChainDescription, 'anchors' | 'wrappedNative' | 'majors'>;

/**
 * True if token0 is the base token. The quote token is the token that ranks first: anchors in configured order, then
 * the wrapped native token, then majors in configured order. If neither token ranks, token1 is the quote. Addresses
 * must be lower-case.
 */
export function orientPool(chain: RankingChain, token0: Hex, token1: Hex): boolean {
  return quoteRank(chain, token1) <= quoteRank(chain, token0);
}

/**
 * Returns the rank of a token as quote token. The token with the lowest rank is the quote. Infinity if the
 * chain description does not name the token.
 */
export function quoteRank(chain: RankingChain, coinOrToken: Hex): number {
  const token = pricedAs(coinOrToken, chain.wrappedNative);
  const anchor = chain.anchors.findIndex(({ address }) => address === token);
  if (anchor >= 0) return anchor;
  if (token === chain.wrappedNative) return chain.anchors.length;
  const major = chain.majors.indexOf(token);
  return major >= 0 ? chain.anchors.length + 1 + major : Infinity;
}
