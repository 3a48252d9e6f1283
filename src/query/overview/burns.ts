/** Sums the recently burnt amount of the chain's burn token. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u256 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Burn } from '../../domain/chainDescription';
import { findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

const burnedRow = rowType({ burned: u256 });

/** Raw amount sent to burn addresses from other addresses in the last `seconds` before the newest indexed block. */
export async function sumBurned(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  burn: Burn,
  seconds: number,
): Promise<bigint> {
  const windowStart = Math.max(head.timestamp - seconds, 0);
  const params = {
    ...snapshotParams(head),
    token: burn.token.slice(2),
    addresses: burn.addresses.map((address) => address.slice(2)),
    after_ord: await findOrdAt(runner, chainId, head, windowStart),
    since: windowStart,
  };
  const [row] = await runner.run('overview/sum_burned', params, burnedRow);
  return row?.burned ?? 0n;
}
