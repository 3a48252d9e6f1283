/**
 * The interface between the ingester and the database. It follows the steps that store each block exactly
 * once: intent, rows with deduplication tokens, cursor. ClickHouse implements the interface. The simulation
 * implements it with a model in memory that can crash between any two steps.
 */
import type { BlockRef, ProofLevel } from '../../domain/block';
import type { HeadBlock, HeadFlip } from '../../domain/head/foldHead';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import type { StoredToken } from '../pools/tokenBook';
import type { PoolRow, OddKind, OddTokenRow, TokenRow } from '../../clickhouse/schema/tables';
import type { HeadBlockRows } from '../rows/encodeBlocks';
import type { ManyTokenPool } from '../pools/poolRegistry';
import type { RowBatch } from '../rows/rowBatch';
import type { StoredPrices } from '../price/storedPrices';

/** The last block in the final tables, and its range. */
export interface Cursor extends Omit<BlockRef, 'parentHash'> {
  /** Number of the range that ended with this block. */
  readonly seq: number;
}

/** A range of blocks whose insert into the final tables has begun. The insert may be incomplete. */
export interface OpenIntent {
  readonly seq: number;
  readonly kind: 'backfill' | 'promotion';
  readonly from: number;
  readonly to: number;
  readonly toHash: Hex;
  readonly toTimestamp: number;
  /** Row counts of the range, by final table. */
  readonly counts: Readonly<Record<string, number>>;
  /** Weakest level of proof of the blocks. */
  readonly proof: ProofLevel;
}

/** The rows of a head block: their commit, and how far they are proven. */
export type HeadRows = Pick<HeadBlock, 'commit' | 'proof'>;

export interface StoredState {
  /** First block of this database. */
  readonly startBlock: number;
  readonly cursor: Cursor;
  /** A range that was begun and not ended; null without one. */
  readonly intent: OpenIntent | null;
  /**
   * Canonical head blocks above the last final block: ascending, each the parent of the next, up to the first
   * missing block.
   */
  readonly head: readonly HeadBlock[];
  /**
   * Largest number of a canonical block, including blocks above a missing block. Without head blocks, the
   * number of the last final block.
   */
  readonly headMax: number;
  /** Largest number of a stored head block, canonical or not. Without head blocks, the number of the last final block. */
  readonly storedTo: number;
  /** Rows of each head block above the last final block, by block hash. Includes blocks that are not canonical. */
  readonly commits: ReadonlyMap<Hex, HeadRows>;
  /** Largest version in the table head_blocks. */
  readonly version: number;
  /** Last final block of the chain when the head last changed; at least the cursor's block. */
  readonly finalNumber: number;
  /** Level of proof of the newest block. */
  readonly proof: ProofLevel;
}

/** A flip with the rows to write. */
export type StoredFlip = HeadFlip<HeadBlockRows>;

export interface Store {
  /**
   * Claims the right to write, once per process. Returns a number at least as large as every range number and
   * every head version that any session has used, including unfinished writes. Throws `fenced` if a newer
   * writer has claimed the database since. `now` is approximate unix time in ms.
   */
  claim(now: number): Promise<number>;
  /** Returns the stored state. Null if the database has no block of the chain. */
  loadState(): Promise<StoredState | null>;
  /**
   * Stores the start of the index. `base` is the block before the first block to store. The database must be
   * empty.
   */
  writeStart(base: BlockRef): Promise<void>;
  loadPools(finalTo: number): Promise<PoolRow[]>;
  /**
   * Returns the newest states of pools up to the block. With `exact`, the states are right even if rows above
   * the block are only partly stored, but the read is slow.
   */
  loadPoolStates(finalTo: number, exact: boolean): Promise<Map<Hex, PoolState>>;
  /** Returns the pools of many tokens of these rows, as of the block. `exact` means the same as in loadPoolStates. */
  loadManyTokenPools(finalTo: number, exact: boolean, rows: readonly PoolRow[]): Promise<ManyTokenPool[]>;
  listTokens(): Promise<readonly StoredToken[]>;
  /** Returns the state of pricing at the last final block. `pools` comes from loadPools. */
  loadPrices(cursor: Cursor, startBlock: number, pools: readonly PoolRow[]): Promise<StoredPrices>;
  writeTokens(rows: readonly TokenRow[]): Promise<void>;
  /** Tokens whose Transfer logs do not tell all changes of their balances. */
  listOddTokens(): Promise<ReadonlyMap<Hex, OddKind>>;
  writeOddTokens(rows: readonly OddTokenRow[]): Promise<void>;
  /**
   * Writes head rows, and then the change of the head. If an error prevents the change, the rows have no
   * effect. `check` runs while the rows are written; if it rejects, the head does not change.
   */
  writeHead(flip: StoredFlip, check?: () => Promise<void>): Promise<void>;
  /**
   * Writes a range of the backfill in three steps: intent, rows, done. Repeated calls with the same seq and
   * rows store the rows once. `replayed` is the intent of an interrupted run, or null. With an intent,
   * checkRange must pass before the range is marked as done.
   */
  writeRange(seq: number, batch: RowBatch, replayed: OpenIntent | null): Promise<Cursor>;
  /**
   * Copies the blocks of the intent from the head tables into the final tables. Repeated calls store the rows
   * once. If `replayed` is true, an earlier run wrote the intent, and checkRange must pass before the range
   * is marked as done.
   */
  promote(intent: OpenIntent, commits: readonly number[], replayed: boolean): Promise<Cursor>;
  /**
   * Compares the stored rows of a range with its intent, and rebuilds wrong aggregates. Throws
   * broken_invariant with the difference.
   */
  checkRange(intent: OpenIntent): Promise<void>;
  /** Drops the partitions of head tables that are entirely below the block. */
  dropHeadBelow(block: number): Promise<void>;
}
