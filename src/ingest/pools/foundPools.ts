/**
 * Passes found pools from the pool search to the ingest session, which adds them at the end of its newest
 * block. The database records which block adds which pools. So every later read of this block adds the same
 * pools: after a restart, after a reorg back to the block, and when lost rows are stored again.
 */
import { onAbort } from '../../node/rpc/abortSignals';
import type { Database } from '../../clickhouse/client/database';
import { selectAll } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { foundPoolsTable, type FoundPoolRow } from '../../clickhouse/schema/olderPoolTables';
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { OldTicks, type OldTickRange } from './oldTicks';

/** Safety limit: more pools than any chain has. */
const ROWS_MAX = 10_000_000;
/** Largest number of found pools that one block adds. It limits the size of one change of the head. */
export const ADDED_MAX = 500;

const foundRow = rowType(foundPoolsTable.types);

/**
 * Findings of background workers are published at most once in this time, in ms. Each publication makes readers build
 * their tables again, and the next block publishes the findings anyway.
 */
const REFRESH_MS = 10_000;

/** A pool that is not added yet, and the block at whose end the node returned its state. */
export interface FoundPool {
  readonly row: Omit<FoundPoolRow, 'block' | 'block_hash'>;
  readonly readAt: Pick<BlockRef, 'number' | 'hash'>;
  /** The ticks of a V3 pool before the start block; absent for other pools. */
  readonly ticks?: OldTickRange;
}

/** Questions to the session that decide whether a pool's state is usable. */
interface AddingChain {
  isCanonical(block: Pick<BlockRef, 'number' | 'hash'>): boolean;
  isKnown(pool: Hex): boolean;
}

interface Waiting {
  readonly pools: FoundPool[];
  readonly settle: () => void;
}

export class FoundPools {
  private readonly byBlock = new Map<Hex, FoundPoolRow[]>();
  private waiting: Waiting[] = [];
  private removed: FoundPoolRow[] = [];
  private stale = false;
  private publishedAt = -Infinity;
  private known: AddingChain['isKnown'] = () => false;

  readonly oldTicks: OldTicks;

  constructor(private readonly database: Database) {
    this.oldTicks = new OldTicks(database);
  }

  /** Whether pools wait to be added, or `refresh` asked for a new version of the head. `now` is a time in ms. */
  isWaiting(now: number): boolean {
    return this.waiting.length > 0 || (this.stale && now - this.publishedAt >= REFRESH_MS);
  }

  get hasPools(): boolean {
    return this.waiting.length > 0;
  }

  /**
   * Asks the session to publish the head under a new version, unless a block comes within 10 s. Readers cache answers
   * until the version changes. With `isUrgent`, the session does not wait.
   */
  refresh({ isUrgent = false } = {}): void {
    this.stale = true;
    if (isUrgent) this.publishedAt = -Infinity;
  }

  /**
   * Called before the head is published at `now`, because its readers read the findings so far. Returns whether `refresh`
   * was called since the last call.
   */
  takeRefresh(now: number): boolean {
    const { stale } = this;
    this.stale = false;
    this.publishedAt = now;
    return stale;
  }

  /** Returns whether the newest session already has the pool. */
  isKnown(pool: Hex): boolean {
    return this.known(pool);
  }

  /** Loads the pools that were added by blocks after `above`. Called when a session loads its state. */
  async load(above: number, isKnown: AddingChain['isKnown']): Promise<void> {
    const rows = await selectAll(this.database, 'ingest/pools/list_found', { above }, foundRow, ROWS_MAX);
    this.known = isKnown;
    this.byBlock.clear();
    for (const row of rows) this.remember(row);
    await this.oldTicks.load();
  }

  /** Returns the found pools that the block with this hash adds. */
  addedBy(blockHash: Hex): readonly FoundPoolRow[] {
    return this.byBlock.get(blockHash) ?? [];
  }

  /**
   * Drops the pools of blocks up to `number` from memory, because these blocks are final and their rows are
   * stored.
   */
  forgetBelow(number: number): void {
    for (const [hash, [first]] of this.byBlock) if ((first?.block ?? 0) <= number) this.byBlock.delete(hash);
  }

  /**
   * Offers pools to the session. Resolves when each pool is added or dropped. A pool is dropped if a reorg
   * removed the block at which its state was read. The caller can tell the two cases apart with `isKnown`.
   */
  async offer(pools: readonly FoundPool[], signal: AbortSignal): Promise<void> {
    if (pools.length === 0) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const entry: Waiting = {
        pools: [...pools],
        settle: () => {
          release();
          resolve();
        },
      };
      const release = onAbort(signal, () => {
        this.waiting = this.waiting.filter((other) => other !== entry);
        reject(new Error('the search for pools stops'));
      });
      this.waiting.push(entry);
    });
  }

  /** Takes the usable pools for one block. The caller must call `record` before the block is read. */
  take(chain: AddingChain): FoundPool[] {
    const taken = new Map<Hex, FoundPool>();
    for (const { pools } of this.waiting) {
      while (pools.length > 0 && taken.size < ADDED_MAX) {
        const pool = pools.shift();
        if (pool === undefined || chain.isKnown(pool.row.address) || !chain.isCanonical(pool.readAt))
          continue;
        taken.set(pool.row.address, pool);
      }
    }
    return [...taken.values()];
  }

  /** Stores that the block adds the pools. From then on, every read of the block adds them. */
  async record(
    { number, hash }: Pick<BlockRef, 'number' | 'hash'>,
    pools: readonly FoundPool[],
  ): Promise<void> {
    const rows = pools.map(({ row }) => ({ ...row, block: number, block_hash: hash }));
    await this.oldTicks.record(
      number,
      pools.flatMap(({ ticks }) => ticks ?? []),
    );
    await insertRows(this.database, foundPoolsTable, rows);
    for (const row of rows) this.remember(row);
  }

  /** Notes the pools of blocks that a reorg removed. The pool search reads their states again. */
  noteRemoved(blocks: readonly Pick<BlockRef, 'hash'>[]): void {
    for (const { hash } of blocks) this.removed.push(...this.addedBy(hash));
  }

  /** Returns the pools of removed blocks that no other block has added yet. */
  takeRemoved(): readonly FoundPoolRow[] {
    const rows = this.removed.filter(({ address }) => !this.isKnown(address));
    this.removed = [];
    return rows;
  }

  /** Resolves the `offer` calls whose pools are all taken. Must be called after the block is stored. */
  settle(): void {
    const done = this.waiting.filter(({ pools }) => pools.length === 0);
    this.waiting = this.waiting.filter(({ pools }) => pools.length > 0);
    for (const { settle } of done) settle();
  }

  private remember(row: FoundPoolRow): void {
    const known = this.byBlock.get(row.block_hash);
    if (known === undefined) this.byBlock.set(row.block_hash, [row]);
    else if (!known.some(({ address }) => address === row.address)) known.push(row);
  }
}
