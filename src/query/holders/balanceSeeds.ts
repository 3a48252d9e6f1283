/**
 * Remembers balances from before the first indexed block, for a history that begins late. A seed is balanceOf
 * minus the sum of the logs at one block. The difference is the same at every later block, so one call to the
 * node is enough.
 */
import { LRUCache } from 'lru-cache';

/** Number of balances in memory, about 200 bytes each. */
const SEEDS_MAX = 50_000;
/** Seeds expire after this time, because a rebasing token may not be marked yet. */
const SEED_MS = 3_600_000;

export interface BalanceSeeds {
  /** Balance in raw units; undefined if unknown. */
  find(holder: string, token: string): bigint | undefined;
  keep(holder: string, token: string, seed: bigint): void;
}

/** Seeds are kept in memory only, because the node can give them again. */
export function createBalanceSeeds(): BalanceSeeds {
  const kept = new LRUCache<string, { readonly seed: bigint }>({ max: SEEDS_MAX, ttl: SEED_MS });
  const keyOf = (holder: string, token: string): string => holder + token.slice(2);
  return {
    find: (holder, token) => kept.get(keyOf(holder, token))?.seed,
    keep: (holder, token, seed) => void kept.set(keyOf(holder, token), { seed }),
  };
}
