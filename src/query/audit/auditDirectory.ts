/**
 * Looks up pools, tokens and prices for an audit in the tables of the head version, without a query. The tables hold
 * every pool.
 */
import { isAddress, type Hex } from '../../domain/hex';
import type { Token } from '../../wire/primitives';
import type { AuditPoolRow } from './auditRows';
import type { PairTable } from '../pairs/pairTable';
import type { TokenPrice } from '../prices/priceByHops';
import type { TokenTable } from '../tokens/tokenTable';

export interface AuditDirectory {
  /** The pool at this address; undefined if there is none. */
  findPair(address: Hex): AuditPoolRow | undefined;
  findToken(address: Hex): Token | undefined;
  /**
   * Fees in pips of the pools that hold the token and one of the tokens `others`. Only pools that exist at the block
   * count.
   */
  listFees(token: Hex, others: ReadonlySet<string>, block: number): readonly number[];
  /** Prices at the head. */
  priceNow(token: string): TokenPrice;
}

export function createAuditDirectory(pairs: PairTable, tokens: TokenTable): AuditDirectory {
  return {
    findPair(address) {
      const pool = pairs.byAddress.get(address)?.pool;
      if (pool === undefined || !isAddress(pool.token0) || !isAddress(pool.token1)) return undefined;
      const { dex, protocol, pool_type, token0, token1, fee_pips, all_weights } = pool;
      const tokens = pool.all_tokens.filter(isAddress);
      return { address, dex, protocol, pool_type, token0, token1, fee_pips, tokens, weights: all_weights };
    },
    findToken: (address) => tokens.byAddress.get(address)?.item,
    listFees: (token, others, block) =>
      (tokens.byAddress.get(token)?.pairs ?? []).flatMap(({ pool, item }) =>
        (pool.created_block ?? 0) <= block && item.tokens.some(({ address }) => others.has(address))
          ? [pool.fee_pips]
          : [],
      ),
    priceNow: (token) => pairs.prices.now(token),
  };
}
