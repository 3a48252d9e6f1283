/** Chooses the block at which the history search reads states: the newest canonical block in the database. */
import type { Database } from '../../clickhouse/client/database';
import type { Hex } from '../../domain/hex';
import { readStoredState } from '../store/storedState';

export interface SearchBlock {
  readonly number: number;
  readonly hash: Hex;
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
  const { number, hash } = stored.head.at(-1) ?? stored.cursor;
  return {
    number,
    hash,
    startBlock: stored.startBlock,
    finalTo: stored.cursor.number,
    commits: stored.head.map(({ commit }) => commit),
  };
}
