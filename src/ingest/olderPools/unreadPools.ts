/** The stored pools whose ticks or bins from before the start block have not been read yet. */
import type { Database } from '../../clickhouse/client/database';
import { selectAll } from '../../clickhouse/client/namedQueries';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolsTable } from '../../clickhouse/schema/tables';
import type { ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { SearchBlock } from './searchProgress';

/** Safety limit: more pools than any chain has. */
const POOLS_MAX = 10_000_000;

const poolRow = rowType(
  pick(poolsTable.types, ['address', 'protocol', 'factory', 'pool_id', 'tick_spacing', 'pool_type']),
);
export type UnreadPool = RowOf<typeof poolRow>;

/** Asks contracts at one block. An answer is null if the call has no usable answer. */
export type AskOlder = (calls: readonly ContractCall[]) => Promise<(Hex | null)[]>;

export function listUnread(database: Database, { commits, finalTo }: SearchBlock): Promise<UnreadPool[]> {
  const params = { commits, final_ord: lastOrdOfBlock(finalTo) };
  return selectAll(database, 'ingest/older_pools/list_unread', params, poolRow, POOLS_MAX);
}
