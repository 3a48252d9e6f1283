/** Computes which part of a pool's LP tokens is burnt, locked or held by the creator of its base token. Pure. */
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import type { WatchedHolder } from '../../domain/chainDescription';
import { shapeOf } from '../../domain/pools/poolShape';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { ToldSupply } from '../olderPools/olderPools';
import { isHistoryPartial } from '../holders/balances';
import { lpSupplyOf, type LpFacts } from '../tokens/tokenSupply';
import type { PairEntry } from '../pairs/pairItem';
import type { StoredPool } from '../pairs/pools';

/** Parts of the LP supply in percent. A part is null if it is unknown, and for pools without LP tokens. */
export interface LpShares {
  readonly lockedPercent: number | null;
  readonly creatorPercent: number | null;
}

/** Supply and balances by pool address. Null if the node gave no answer for a pool. Other pools have no entry. */
export type ToldLps = ReadonlyMap<string, ToldSupply | null>;

/** Whether the pool has LP tokens whose earlier transfers are missing. */
export function hasOlderLp(pool: StoredPool, head: HeadSnapshot): boolean {
  return isHistoryPartial(head) && pool.created_block === null && shapeOf(pool.pool_type).hasLpToken;
}

const UNKNOWN_SHARES: LpShares = { lockedPercent: null, creatorPercent: null };

export function lpSharesOf(
  pool: Pick<StoredPool, 'pool_type' | 'created_block'> & Pick<PairEntry, 'ownShares'>,
  facts: LpFacts,
  watched: readonly WatchedHolder[],
  creator: Hex | null,
): LpShares {
  const mintedSupply = shapeOf(pool.pool_type).hasLpToken ? (lpSupplyOf(pool, facts)?.supply ?? null) : null;
  const supply = (mintedSupply ?? 0n) - pool.ownShares;
  const watchedBalances = (facts.told ?? facts.holding)?.watched;
  if (supply <= 0n || watchedBalances === undefined) return UNKNOWN_SHARES;
  const percentOf = (raw: bigint): number => Number((raw * 10_000_000n) / supply) / 100_000;
  let lockedRaw = facts.holding?.atZero ?? watchedBalances.get(ZERO_ADDRESS) ?? 0n;
  for (const { address, kind } of watched)
    if (kind !== 'treasury') lockedRaw += watchedBalances.get(address) ?? 0n;
  return {
    lockedPercent: percentOf(lockedRaw),
    creatorPercent: creator === null ? null : percentOf(watchedBalances.get(creator) ?? 0n),
  };
}

/** The mean of a share over pools, weighted by their liquidity. Pools with an unknown share do not count. */
export function meanShare(
  shares: readonly { readonly percent: number | null; readonly liquidityUsd: number }[],
): number | null {
  const knownShares = shares.flatMap(({ percent, liquidityUsd }) =>
    percent === null ? [] : [{ percent, liquidityUsd }],
  );
  if (knownShares.length === 0) return null;
  const totalUsd = knownShares.reduce((sum, { liquidityUsd }) => sum + liquidityUsd, 0);
  if (totalUsd <= 0) return knownShares.reduce((sum, { percent }) => sum + percent, 0) / knownShares.length;
  return knownShares.reduce((sum, { percent, liquidityUsd }) => sum + percent * (liquidityUsd / totalUsd), 0);
}
