/** Counts the stored pools of each factory. */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { address, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { SearchBlock } from './searchProgress';

const FACTORIES_MAX = 10_000;

const countRow = rowType({ factory: address, pools: u64 });

/** Number of stored pools of each factory. */
export async function countStored(
  database: Database,
  { commits, finalTo }: SearchBlock,
): Promise<ReadonlyMap<Hex, number>> {
  const params = { commits, final_ord: lastOrdOfBlock(finalTo), limit: FACTORIES_MAX };
  const rows = await selectNamed(database, 'ingest/older_pools/count_pools', params, countRow);
  return new Map(rows.map(({ factory, pools }) => [factory, pools]));
}
