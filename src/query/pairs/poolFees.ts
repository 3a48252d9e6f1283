/**
 * The fees of a vault's pools as of a snapshot. Their rows hold the fee that they were listed with; what changed it since
 * stands in the stored logs, which are kept (ingest/store/retention).
 */
import { z } from 'zod';

import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { toFeePips } from '../../protocols/weightedPool';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

const feeRowShape = z.object({ pair: z.string(), swap_fee: z.string() });

/** By pool, in pips (1e6 = 100 %). A pool without such a log, which is any pool of no vault, has the fee of its row. */
export type PoolFees = ReadonlyMap<string, number>;

/** Of all pools of vaults; with `since_ord` only what changed later. `params`: those of a snapshot, chain_id and limit. */
export function listPoolFees(runner: QueryRunner, params: QueryParams): Promise<PoolFees> {
  return runFees(runner, { ...params, all_pools: true });
}

/** Of these pools alone. */
export async function readPoolFees(
  runner: QueryRunner,
  chainId: number,
  head: Pick<HeadSnapshot, 'finalTo' | 'blocks'>,
  addresses: readonly string[],
): Promise<PoolFees> {
  if (addresses.length === 0) return new Map();
  const pairs = [...new Set(addresses)].map((address) => address.slice(2));
  return runFees(runner, { ...snapshotParams(head), chain_id: chainId, pairs, limit: pairs.length });
}

async function runFees(runner: QueryRunner, params: QueryParams): Promise<PoolFees> {
  const rows = await runner.run('pairs/list_fees', params, feeRowShape);
  return new Map(rows.map(({ pair, swap_fee: swapFee }) => [pair, toFeePips(BigInt(swapFee))]));
}
