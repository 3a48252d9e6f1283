/** Sums the recently burnt amount of the chain's burn token. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Burn } from '../../domain/chainDescription';
import { findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

const burnedRowShape = z.object({ burned: z.string() });

/** Raw amount sent to burn addresses from other addresses in the last `seconds` before the newest indexed block. */
export async function sumBurned(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  burn: Burn,
  seconds: number,
): Promise<bigint> {
  const since = Math.max(head.timestamp - seconds, 0);
  const params = {
    ...snapshotParams(head),
    token: burn.token.slice(2),
    addresses: burn.addresses.map((address) => address.slice(2)),
    after_ord: await findOrdAt(runner, chainId, head, since),
    since,
  };
  const [row] = await runner.run('overview/sum_burned', params, burnedRowShape);
  return BigInt(row?.burned ?? 0);
}
