/**
 * What wallets held before the first indexed block, where the history begins late: what balanceOf said beyond the logs as
 * of one block. It is the same at every later block, so it is asked for once and added to the logs from then on.
 */
import { LRUCache } from 'lru-cache';

/** Some 200 bytes each. */
const SEEDS_MAX = 50_000;
/** Asked for again after so long: a token whose logs do not tell its balances may not be known as such yet. */
const SEED_MS = 3_600_000;

export interface BalanceSeeds {
  /** Raw units; undefined: not known. */
  find(holder: string, token: string): bigint | undefined;
  keep(holder: string, token: string, seed: bigint): void;
}

/** Kept in memory alone: the node gives them again. */
export function createBalanceSeeds(max = SEEDS_MAX): BalanceSeeds {
  const kept = new LRUCache<string, { readonly seed: bigint }>({ max, ttl: SEED_MS });
  const keyOf = (holder: string, token: string): string => holder + token.slice(2);
  return {
    find: (holder, token) => kept.get(keyOf(holder, token))?.seed,
    keep: (holder, token, seed) => void kept.set(keyOf(holder, token), { seed }),
  };
}
