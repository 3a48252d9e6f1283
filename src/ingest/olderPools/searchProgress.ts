/** Stores the progress of the pool search, so that a restart continues at the same place. */
import { createHash } from 'node:crypto';

import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { poolSearchTable, type PoolSearchRow } from '../../clickhouse/schema/olderPoolTables';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import type { SearchedDexes } from './factoryLogs';
import { readStoredState } from '../store/storedState';

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
  const all: readonly Dex[] = [...dexes.pairs.map(({ dex }) => dex), ...dexes.manyTokens];
  const lines = all.map(({ protocol, factory, startBlock: from = 0 }) => `${protocol} ${factory} ${from}`);
  const factories: Hex = `0x${createHash('sha256').update(lines.sort().join('\n')).digest('hex')}`;
  const [row] = await selectNamed(database, 'older_pools/find_search', { chain: chainId }, progressRow);
  const first = Math.min(startBlock, ...all.map((dex) => dex.startBlock ?? 0));
  if (row?.factories === factories && row.start_block === startBlock) {
    const known = { ...row, chain_id: chainId };
    // The old logs were missing at the last run. Search again, because the node may be another one now.
    return known.state === 'incomplete' ? { ...known, state: 'searching', search_to: first } : known;
  }
  return {
    chain_id: chainId,
    factories,
    start_block: startBlock,
    searched_from: startBlock,
    search_to: all.length === 0 ? startBlock : first,
    listed: 0,
    pools: 0,
    state: 'searching',
  };
}

export function saveProgress(database: Database, progress: SearchProgress, nowMs: number): Promise<void> {
  return insertRows(database, poolSearchTable, [{ ...progress, version: Math.floor(nowMs * 1_000) }]);
}

export interface SearchBlock {
  readonly number: number;
  readonly hash: Hex;
  /** A final block whose state the node probably has. */
  readonly finalHash: Hex;
  /** First block that this database stores. */
  readonly startBlock: number;
  /** Last block in the final tables. */
  readonly finalTo: number;
  /** Commits (numbers of write attempts) of the canonical blocks after finalTo, up to `number`. */
  readonly commits: readonly number[];
}

/** Returns null before the first block is stored. */
export async function readSearchBlock(database: Database, chainId: number): Promise<SearchBlock | null> {
  const stored = await readStoredState(database, chainId);
  if (stored === null) return null;
  const { head, cursor, finalNumber } = stored;
  const { number, hash } = head.at(-1) ?? cursor;
  return {
    number,
    hash,
    finalHash: head.find((block) => block.number === finalNumber)?.hash ?? cursor.hash,
    startBlock: stored.startBlock,
    finalTo: cursor.number,
    commits: head.map(({ commit }) => commit),
  };
}
