/** The block at whose end the search reads states: the newest canonical block in the database. */
import type { Database } from '../../clickhouse/client/database';
import type { Hex } from '../../domain/hex';
import { readStoredState } from '../store/storedState';

export interface SearchBlock {
  readonly number: number;
  readonly hash: Hex;
  /** First ingested block. */
  readonly startBlock: number;
  /** Last block in the final tables. */
  readonly finalTo: number;
  /** Commits of the canonical blocks above finalTo, up to `number`. */
  readonly commits: readonly number[];
}

/** Null before the first ingested block. */
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
