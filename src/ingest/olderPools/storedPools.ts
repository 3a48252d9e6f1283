/** Reads from the database which found pools are already stored as pools. */
import type { Database } from '../../clickhouse/client/database';
import { selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import { address, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { foundPoolsTable } from '../../clickhouse/schema/olderPoolTables';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { POOL_V3 } from '../../domain/pool';
import type { OlderPool, SearchedDexes } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

/** Safety limit: more pools than any chain has. */
const ROWS_MAX = 10_000_000;
const FACTORIES_MAX = 10_000;

const { dex, factory, token0, token1, fee_pips, tick_spacing, pool_id } = foundPoolsTable.types;
const removedRow = rowType({ dex, address, factory, token0, token1, fee_pips, tick_spacing, pool_id });
const countRow = rowType({ factory, pools: u64 });

/** Found pools whose block a reorg removed. Their states must be read from the node again. */
export async function listRemovedPools(
  database: Database,
  { pairs, vaults }: SearchedDexes,
  { commits, finalTo }: SearchBlock,
): Promise<OlderPool[]> {
  const params = { commits, final_ord: lastOrdOfBlock(finalTo) };
  const rows = await selectAll(database, 'ingest/older_pools/list_removed', params, removedRow, ROWS_MAX);
  return rows.flatMap((row): OlderPool[] => {
    const { address, token0, token1, pool_id: poolId } = row;
    const common = { address, block: 0, tx: ZERO_HASH };
    const vault = vaults.find(({ factory }) => factory === row.factory);
    if (poolId !== null)
      return vault === undefined ? [] : [{ ...common, dex: vault, protocol: null, creation: null, poolId }];
    const pair = pairs.find(({ dex }) => dex.factory === row.factory);
    if (pair === undefined) return [];
    const feePips = pair.protocol.poolType === POOL_V3 ? row.fee_pips : null;
    const creation = { pool: address, token0, token1, feePips, tickSpacing: row.tick_spacing };
    return [{ ...common, ...pair, creation, poolId: null }];
  });
}

/** Number of stored pools of each factory. */
export async function countStored(
  database: Database,
  { commits, finalTo }: SearchBlock,
): Promise<ReadonlyMap<Hex, number>> {
  const params = { commits, final_ord: lastOrdOfBlock(finalTo), limit: FACTORIES_MAX };
  const rows = await selectNamed(database, 'ingest/older_pools/count_pools', params, countRow);
  return new Map(rows.map(({ factory, pools }) => [factory, pools]));
}
