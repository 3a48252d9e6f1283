/** The scope of the market's endpoints, which answer from one snapshot of a chain. */
import type { Burn } from '../domain/chainDescription';
import { AppError } from '../errors';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { MarketTables, MarketChain } from '../query/marketTables';
import type { WalletNode } from '../query/portfolio/walletState';
import type { ByteCache } from './byteCache';
import type { Scope } from './scope';

/**
 * Longest time in ms for which the cache keeps an answer that lacks values from the node, because the node may answer
 * again before the next head.
 */
export const WITHOUT_NODE_MS = 2_000;

/** The part of the chain description that endpoints use. */
export interface ChainFacts extends MarketChain {
  readonly nativeSymbol: string;
  /** The burn token; null if the chain has none. */
  readonly burn: Burn | null;
  /** URL of the chain's logo. */
  readonly logo?: string;
  readonly majors: readonly Hex[];
}

export interface MarketDeps extends MarketTables {
  /** The newest block, which answers describe. Null while the database does not answer or no block is
   * indexed. */
  head(): HeadSnapshot | null;
  readonly cache: ByteCache;
  readonly wallets: WalletNode;
  /** Called with a requested token whose symbol, name or decimals are unknown. */
  onIncomplete?(token: Hex): void;
  readonly chain: ChainFacts;
}

/** Endpoints that answer from the newest block of the chain that the path names. */
export const MARKET: Scope<MarketDeps, Record<never, never>, HeadSnapshot> = {
  tag: 'market',
  params: () => ({}),
  ask({ chain }, ctx, _params, requestKey, read) {
    const { head } = ctx.state;
    if (head === null)
      throw new AppError('unavailable', 'no block is indexed yet, or the database does not answer');
    return { key: `${chain.chainId} ${head.version} ${requestKey}`, read: () => read(head) };
  },
  names: ({ poolNames }, head) => poolNames.at(head),
  findRunner: ({ runner }) => runner,
};
