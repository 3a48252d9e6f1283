/** Pools with their tokens by address. What is final never changes, so it is asked for once; a head pool, each time. */
import { LRUCache } from 'lru-cache';

import type { QueryRunner } from '../clickhouse/namedQueries';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from './headSnapshot';
import type { PairTables } from './pairTable';
import { findPool, type PoolRow } from './pools';
import { listPoolTokens, type TokenMap } from './tokens';

/** Final pools remembered. */
const POOLS_KEPT = 20_000;

export interface PoolWithTokens {
  readonly pool: PoolRow;
  readonly tokens: TokenMap;
}

export interface PoolDirectory {
  /** null: there is no pool at the address as of the snapshot. */
  find(head: HeadSnapshot, address: Hex): Promise<PoolWithTokens | null>;
}

/** `pairs`: where pools stand in memory once lists were asked for. */
export function createPoolDirectory(runner: QueryRunner, pairs?: Pick<PairTables, 'ready'>): PoolDirectory {
  const known = new LRUCache<Hex, PoolWithTokens & { readonly finalTo: number }>({ max: POOLS_KEPT });
  return {
    async find(head, address) {
      const table = pairs?.ready(head) ?? null;
      const entry = table?.byAddress.get(address);
      if (table !== null && entry !== undefined) return { pool: entry.pool, tokens: table.tokens };
      const kept = known.get(address);
      // A snapshot older than the one that showed the pool may be of before its creation.
      if (kept !== undefined && head.finalTo >= kept.finalTo) return kept;
      const [pool, tokens] = await Promise.all([
        findPool(runner, head, address),
        listPoolTokens(runner, head, address),
      ]);
      if (pool === null) return null;
      if (pool.is_final) known.set(address, { pool, tokens, finalTo: head.finalTo });
      return { pool, tokens };
    },
  };
}
