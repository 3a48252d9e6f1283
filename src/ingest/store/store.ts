/**
 * The interface between the ingester and the database, in the steps of the exactly-once protocol: intent,
 * rows with deduplication tokens, cursor. ClickHouse implements it; the simulation has a model that can crash
 * between any two steps.
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

/** A range whose insert into the final tables has begun and may be unfinished. */
export interface OpenIntent {
  readonly seq: number;
  readonly kind: 'backfill' | 'promotion';
  readonly from: number;
  readonly to: number;
  readonly toHash: Hex;
  readonly toTimestamp: number;
  /** Row counts of the range by final table. */
  readonly counts: Readonly<Record<string, number>>;
}

/** A canonical head block and the commit of its rows. */
export interface StoredHead extends BlockRef {
  readonly commit: number;
}

export interface StoredState {
  /** First block of the deployment. */
  readonly startBlock: number;
  readonly cursor: Cursor;
  readonly intent: OpenIntent | null;
  /** Canonical head blocks above the cursor: ascending, linked, up to the first hole. */
  readonly head: readonly StoredHead[];
  /** Largest height with a canonical block, even above a hole. Without head blocks, the cursor's height. */
  readonly headMax: number;
  /** Commit of every head block above the cursor, canonical or not, by block hash. */
  readonly commits: ReadonlyMap<Hex, number>;
  /** Largest version of head_blocks. */
  readonly version: number;
  /** Last final block at the time of the last flip; at least the cursor's block. */
  readonly finalNumber: number;
}

/** One flip of the head: blocks that become canonical, and heights that become void. */
export interface HeadFlip {
  /** Blocks whose rows must be written, ascending. */
  readonly fresh: readonly HeadBlockRows[];
  /** Every block that becomes canonical, including fresh ones, ascending. */
  readonly canonical: readonly StoredHead[];
  /** Heights above the new head that held a block. */
  readonly voided: readonly number[];
  readonly version: number;
  readonly finalNumber: number;
}

export interface Store {
  /** Null: the chain was never ingested into this database. */
  loadState(): Promise<StoredState | null>;
  /** Sets the start: `base` is the block before the first one to ingest. Only for an empty store. */
  writeStart(base: BlockRef): Promise<void>;
  loadPools(finalTo: number): Promise<PoolRow[]>;
  /** Newest states up to the block. `exact`: correct even while rows above the block are partly stored (slow). */
  loadPoolStates(finalTo: number, exact: boolean): Promise<Map<Hex, PoolState>>;
  /** Vault pools of these rows, as of the block. `exact` as above. */
  loadVaultPools(finalTo: number, exact: boolean, rows: readonly PoolRow[]): Promise<VaultPool[]>;
  /** Decimals of every stored token; 0 if unknown. */
  listTokens(): Promise<ReadonlyMap<Hex, number>>;
  /** State of pricing at the cursor. `pools` from loadPools. */
  loadPrices(cursor: Cursor, startBlock: number, pools: readonly PoolRow[]): Promise<StoredPrices>;
  writeTokens(rows: readonly TokenRow[]): Promise<void>;
  /** Writes head rows, then the flip. After an error, the rows have no effect unless the flip was stored. */
  writeHead(flip: HeadFlip): Promise<void>;
  /**
   * Writes a backfilled range: intent, rows, done. Safe to repeat with the same seq and rows. `replayed`: the
   * interrupted intent; the range is then marked done only after checkRange passes.
   */
  writeRange(seq: number, batch: RowBatch, replayed: OpenIntent | null): Promise<Cursor>;
  /** Promotes the blocks of the intent into the final tables. Safe to repeat. `replayed` as above. */
  promote(intent: OpenIntent, commits: readonly number[], replayed: boolean): Promise<Cursor>;
  /**
   * Compares the stored rows of a range with its intent, and repairs aggregates. Throws broken_invariant that
   * names the difference.
   */
  checkRange(intent: OpenIntent): Promise<void>;
  /** Drops the head partitions that are entirely below the block. */
  dropHeadBelow(block: number): Promise<void>;
}
