/** Which side of a pool is the base: decided once, when the pool is found, so that charts never flip. */
import type { ChainDescription } from './chainDescription';
import type { Hex } from './hex';

/** What of the description ranks tokens. */
export type RankingChain = Pick<ChainDescription, 'anchors' | 'wrappedNative' | 'majors'>;

/**
 * True when token0 is the base token. The quote token is the one that ranks first: anchors in configured order, then the
 * wrapped native token, then majors in configured order. If neither token ranks, token1 is the quote. Addresses are
 * lower-case.
 */
export function orientPool(chain: RankingChain, token0: Hex, token1: Hex): boolean {
  return quoteRank(chain, token1) <= quoteRank(chain, token0);
}

/** Of a pool's tokens the one with the least rank is the quote; Infinity: the chain description does not name it. */
export function quoteRank(chain: RankingChain, token: Hex): number {
  const anchor = chain.anchors.findIndex(({ address }) => address === token);
  if (anchor >= 0) return anchor;
  if (token === chain.wrappedNative) return chain.anchors.length;
  const major = chain.majors.indexOf(token);
  return major >= 0 ? chain.anchors.length + 1 + major : Infinity;
}
