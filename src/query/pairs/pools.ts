/** Reads pools as of a snapshot: one by its address, or all. */
import { z } from 'zod';

import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Hex } from '../../domain/hex';
import { poolTypeShape } from '../../wire/primitives';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

const storedPoolShape = z.object({
  address: z.string(),
  dex: z.string(),
  pool_type: poolTypeShape,
  factory: z.string(),
  token0: z.string(),
  token1: z.string(),
  base_is_token0: z.boolean(),
  /** All tokens of a weighted or stable pool in chain order; empty for two-token pools. */
  all_tokens: z.array(z.string()),
  /** Weights of a weighted pool, times 10^18; empty for other pools. */
  all_weights: z.array(z.string()),
  fee_pips: z.int(),
  tick_spacing: z.int(),
  /** Block of the pool's first stored event; `created_block` is null if the pool was created before the first ingested block. */
  first_block: z.int().min(0),
  created_block: z.int().nullable(),
  created_at: z.int().nullable(),
  created_tx: z.string().nullable(),
});
export type StoredPool = z.infer<typeof storedPoolShape>;

const foundPoolShape = storedPoolShape.extend({ is_final: z.boolean() });

/** The pool at an address, or null. `is_final`: no reorg can remove the pool. */
export async function findPool(
  runner: QueryRunner,
  head: HeadSnapshot,
  address: Hex,
): Promise<z.infer<typeof foundPoolShape> | null> {
  const params = { ...snapshotParams(head), pair: address.slice(2) };
  const [row] = await runner.run('pairs/find_pool', params, foundPoolShape);
  return row ?? null;
}

/** Every pool of a snapshot. With `since_ord`, only later pools. */
export async function listPools(runner: QueryRunner, params: QueryParams): Promise<StoredPool[]> {
  return runner.run('pairs/list_pools', params, storedPoolShape);
}

export function tokensOfPool({ all_tokens, token0, token1 }: StoredPool): readonly string[] {
  return all_tokens.length === 0 ? [token0, token1] : all_tokens;
}

/** The number of the pool's leg of two tokens (swaps.leg), or null without such a leg. */
export function legOfPool(pool: StoredPool, token0: string, token1: string): number | null {
  const tokens = tokensOfPool(pool);
  const [first, second] = [tokens.indexOf(token0), tokens.indexOf(token1)];
  return first < 0 || second < 0 || first >= second ? null : 256 * first + second;
}

/** Weights of the pool's tokens, 0 to 1; empty for pools without weights. */
export function weightsOfPool({ all_weights }: StoredPool): readonly number[] {
  return all_weights.map((weight) => Number(weight) / 1e18);
}
