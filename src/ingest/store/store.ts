/**
 * The ingester's view of the database, in the steps of the exactly-once protocol: an intent, then rows with deduplication
 * tokens, then the cursor. ClickHouse is the real store. The simulation has a model of it that can crash between any two
 * steps.
 */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import type { PoolRow, TokenRow } from '../../clickhouse/schema/tables';
import type { HeadBlockRows } from '../rows/encodeBlocks';
import type { VaultPool } from '../pools/poolRegistry';
import type { RowBatch } from '../rows/rowBatch';
import type { StoredPrices } from '../price/storedPrices';

/** The last block of the final tables. */
export interface Cursor extends Omit<BlockRef, 'parentHash'> {
  /** Number of the range that ended there. */
  readonly seq: number;
}

/** A range whose move into the final tables was begun and not seen to end. */
export interface OpenIntent {
  readonly seq: number;
  readonly kind: 'backfill' | 'promotion';
  readonly from: number;
  readonly to: number;
  readonly toHash: Hex;
  readonly toTimestamp: number;
  /** Rows of the range by final table. */
  readonly counts: Readonly<Record<string, number>>;
}

/** A canonical head block with the name of its rows. */
export interface StoredHead extends BlockRef {
  readonly commit: number;
}

export interface StoredState {
  /** First block that was ever to be ingested. */
  readonly startBlock: number;
  readonly cursor: Cursor;
  readonly intent: OpenIntent | null;
  /** Canonical head blocks above the cursor, ascending, linked; stops at the first hole. */
  readonly head: readonly StoredHead[];
  /** Largest height that has a canonical block (may lie above a hole); the cursor's when there is none. */
  readonly headMax: number;
  /** Commits by block hash of every block above the cursor whose rows are complete, canonical or not. */
  readonly commits: ReadonlyMap<Hex, number>;
  /** Largest version of head_blocks. */
  readonly version: number;
  /** Last block that was final when the head was last told of; the cursor's number at least. */
  readonly finalNumber: number;
}

/** One flip of the head: blocks that become canonical and heights that become void. */
export interface HeadFlip {
  /** Blocks with rows to write, ascending. */
  readonly fresh: readonly HeadBlockRows[];
  /** Every block that becomes canonical (fresh ones too), ascending. */
  readonly canonical: readonly StoredHead[];
  /** Heights above the new head that held a block. */
  readonly voided: readonly number[];
  readonly version: number;
  readonly finalNumber: number;
}

export interface Store {
  /** null: nothing was ever ingested. */
  loadState(): Promise<StoredState | null>;
  /** Sets the start: `base` is the block before the first one to ingest. Only on an empty store. */
  writeStart(base: BlockRef): Promise<void>;
  loadPools(finalTo: number): Promise<PoolRow[]>;
  /** Newest states at or below the block. `exact`: also right while rows above it are partly stored (slow). */
  loadPoolStates(finalTo: number, exact: boolean): Promise<Map<Hex, PoolState>>;
  /** The pools of these rows, all of vaults, as of the block. `exact` as above. */
  loadVaultPools(finalTo: number, exact: boolean, rows: readonly PoolRow[]): Promise<VaultPool[]>;
  /** Decimals of every token that was read; 0 where it does not tell. */
  listTokens(): Promise<ReadonlyMap<Hex, number>>;
  /** What pricing needs to go on after the cursor. `pools`: those of loadPools. */
  loadPrices(cursor: Cursor, startBlock: number, pools: readonly PoolRow[]): Promise<StoredPrices>;
  writeTokens(rows: readonly TokenRow[]): Promise<void>;
  /** Head rows, then the flip. After an error nothing of it counts unless the flip itself was stored. */
  writeHead(flip: HeadFlip): Promise<void>;
  /**
   * Writes a backfilled range: intent, rows, done. Safe to repeat with the same seq and rows. `replayed`: an attempt before,
   * which was cut off; then the range is done only when what is stored passes auditRange.
   */
  writeRange(seq: number, batch: RowBatch, replayed: OpenIntent | null): Promise<Cursor>;
  /** Moves canonical head blocks from … to into the final tables. Safe to repeat. `replayed`: as above. */
  promote(intent: OpenIntent, commits: readonly number[], replayed: boolean): Promise<Cursor>;
  /** Compares what is stored of a range with its intent, and mends aggregates; throws broken_invariant naming the difference. */
  auditRange(intent: OpenIntent): Promise<void>;
  /** Drops head partitions that lie wholly below the block. */
  dropHeadBelow(block: number): Promise<void>;
}
