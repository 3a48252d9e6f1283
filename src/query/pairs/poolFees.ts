/**
 * Reads the current fees of pools whose fees change, as of a snapshot. A pool row has the fee at the pool's creation. Later
 * changes come from stored logs, which retention does not delete (ingest/store/retention).
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, hash, hexBytes } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { decodeFees, listFeeChanges } from '../../protocols/registry';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** A row of list_fees.sql: `fees` is the data of the log. */
const feeRow = rowType({ pair: address, topic: hash, fees: hexBytes });

/**
 * Fee by pool, in pips (1e6 = 100 %): the larger one, if the fee depends on the direction. A pool whose fee never changed
 * has no entry; its row has the fee.
 */
export type PoolFees = ReadonlyMap<string, number>;

/**
 * Fees of all pools with a fee change. With `since_ord`, only later changes. `params` are snapshot,
 * chain_id and limit.
 */
export function listPoolFees(runner: QueryRunner, params: QueryParams): Promise<PoolFees> {
  return queryFees(runner, { ...params, all_pools: true });
}

/** Fees of the given pools. */
export async function readPoolFees(
  runner: QueryRunner,
  chainId: number,
  head: Pick<HeadSnapshot, 'finalTo' | 'blocks'>,
  addresses: readonly string[],
): Promise<PoolFees> {
  if (addresses.length === 0) return new Map();
  const pairs = [...new Set(addresses)].map((address) => address.slice(2));
  return queryFees(runner, { ...snapshotParams(head), chain_id: chainId, pairs, limit: pairs.length });
}

async function queryFees(runner: QueryRunner, params: QueryParams): Promise<PoolFees> {
  const rows = await runner.run('pairs/list_fees', { ...params, ...listFeeChanges() }, feeRow);
  return new Map(
    rows.flatMap(({ pair, topic, fees: data }) => {
      const fees = decodeFees({ topics: [topic], data });
      return fees === null ? [] : [[pair, Math.max(...fees)] as const];
    }),
  );
}
