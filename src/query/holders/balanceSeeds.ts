/**
 * Remembers seeds, for a history that begins late. A seed is the balance of one address in one token before the first
 * indexed block. It is balanceOf minus the sum of the logs at one block. This difference is the same at every later
 * block, so one request to the node is enough.
 */
import { LRUCache } from 'lru-cache';

/** Number of seeds in memory, about 200 bytes each. */
const SEEDS_MAX = 50_000;
/** After this time in ms, the node is asked for a seed again: a rebasing token changes balances without a log. */
const SEED_MS = 3_600_000;

export interface BalanceSeeds {
  /** The seed of a holder, in raw units; undefined if it is unknown. */
  find(holder: string, token: string): bigint | undefined;
  keep(holder: string, token: string, seed: bigint): void;
}

/** Seeds are kept only in memory, because the node can give them again. */
export function createBalanceSeeds(): BalanceSeeds {
  const keptSeeds = new LRUCache<string, { readonly seed: bigint }>({ max: SEEDS_MAX, ttl: SEED_MS });
  const keyOf = (holder: string, token: string): string => holder + token.slice(2);
  return {
    find: (holder, token) => keptSeeds.get(keyOf(holder, token))?.seed,
    keep: (holder, token, seed) => void keptSeeds.set(keyOf(holder, token), { seed }),
  };
}
