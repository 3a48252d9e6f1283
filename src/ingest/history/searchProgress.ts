/** Stores the progress of the history search, so that a restart continues at the same place. */
import { createHash } from 'node:crypto';

import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { poolSearchTable, type PoolSearchRow } from '../../clickhouse/schema/historyTables';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import type { SearchedDexes } from './factoryLogs';

export type SearchProgress = Omit<PoolSearchRow, 'version'>;

const { chain_id, version, ...stored } = poolSearchTable.types;
const progressRow = rowType(stored);

/**
 * Loads the stored progress. If the factories or the start block changed, the search starts from the
 * beginning.
 */
export async function loadProgress(
  database: Database,
  chainId: number,
  dexes: SearchedDexes,
  startBlock: number,
): Promise<SearchProgress> {
  const allDexes: readonly Dex[] = [...dexes.pairs.map(({ dex }) => dex), ...dexes.vaults];
  const lines = allDexes.map(
    ({ protocol, factory, startBlock: from = 0 }) => `${protocol} ${factory} ${from}`,
  );
  const factories: Hex = `0x${createHash('sha256').update(lines.sort().join('\n')).digest('hex')}`;
  const [row] = await selectNamed(database, 'history/find_search', { chain: chainId }, progressRow);
  const first = Math.min(startBlock, ...allDexes.map((dex) => dex.startBlock ?? 0));
  if (row?.factories === factories && row.start_block === startBlock) {
    const stored = { ...row, chain_id: chainId };
    // The old logs were missing at the last run. Search again, because the node may be another one now.
    return stored.state === 'incomplete' ? { ...stored, state: 'searching', search_to: first } : stored;
  }
  return {
    chain_id: chainId,
    factories,
    start_block: startBlock,
    searched_from: startBlock,
    search_to: allDexes.length === 0 ? startBlock : first,
    listed: 0,
    pools: 0,
    state: 'searching',
  };
}

export function saveProgress(database: Database, progress: SearchProgress, nowMs: number): Promise<void> {
  return insertRows(database, poolSearchTable, [{ ...progress, version: Math.floor(nowMs * 1_000) }]);
}
