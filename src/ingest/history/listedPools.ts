/** Reads from the database which found pools are already stored as pools. */
import { z } from 'zod';

import type { Database } from '../../clickhouse/client/database';
import { selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import { hexShape } from '../../clickhouse/rows/rowShapes';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { OldPool, SearchedDexes } from './factoryLogs';
import type { SearchBlock } from './searchBlock';

/** Safety limit: more pools than any chain has. */
const ROWS_MAX = 10_000_000;
const FACTORIES_MAX = 10_000;

const unlistedShape = z.object({
  dex: z.string(),
  address: hexShape,
  factory: hexShape,
  token0: hexShape,
  token1: hexShape,
  fee_pips: z.int(),
  tick_spacing: z.int(),
  pool_id: hexShape.nullable(),
});
const countShape = z.object({ factory: hexShape, pools: z.int() });

/** Found pools whose block a reorg removed. Their states must be read from the node again. */
export async function listUnlisted(
  database: Database,
  { pairs, vaults }: SearchedDexes,
  { commits, finalTo }: SearchBlock,
): Promise<OldPool[]> {
  const params = { commits, final_ord: lastOrdOfBlock(finalTo) };
  const rows = await selectAll(database, 'ingest/history/list_unlisted', params, unlistedShape, ROWS_MAX);
  return rows.flatMap((row): OldPool[] => {
    const { address, token0, token1, pool_id: poolId } = row;
    const common = { address, block: 0, tx: ZERO_HASH };
    const vault = vaults.find(({ factory }) => factory === row.factory);
    if (poolId !== null)
      return vault === undefined ? [] : [{ ...common, dex: vault, protocol: null, creation: null, poolId }];
    const pair = pairs.find(({ dex }) => dex.factory === row.factory);
    if (pair === undefined) return [];
    const feePips = pair.protocol.poolType === 3 ? row.fee_pips : null;
    const creation = { pool: address, token0, token1, feePips, tickSpacing: row.tick_spacing };
    return [{ ...common, ...pair, creation, poolId: null }];
  });
}

/** Number of stored pools of each factory. */
export async function countListed(
  database: Database,
  { commits, finalTo }: SearchBlock,
): Promise<ReadonlyMap<Hex, number>> {
  const params = { commits, final_ord: lastOrdOfBlock(finalTo), limit: FACTORIES_MAX };
  const rows = await selectNamed(database, 'ingest/history/count_pools', params, countShape);
  return new Map(rows.map(({ factory, pools }) => [factory, pools]));
}
