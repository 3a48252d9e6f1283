/**
 * Passes found pools from the pool search to the ingest session, which adds them at the end of a block that no
 * session has read yet. The database records the number of the block. So every read of a block with this number adds
 * the same pools, unless they are known by then: on each branch, after a restart, and when lost rows are stored again.
 */
import type { HeadFollower } from '../../node/head/follower';
import { onAbort } from '../../node/rpc/abortSignals';
import type { Database } from '../../clickhouse/client/database';
import { selectAll } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { foundPoolsTable, type FoundPoolRow } from '../../clickhouse/schema/olderPoolTables';
import type { BlockRef } from '../../domain/block';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { hasManyTokens } from '../../protocols/registry';
import { toFoundRow, type Finding } from './finding';
import { OldTicks } from './oldTicks';
import { readFeeChanges } from './storedManyTokenPools';

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

interface Waiting {
  readonly findings: Finding[];
  readonly readAt: Pick<BlockRef, 'number' | 'hash'>;
  readonly settle: () => void;
}

export class FoundPools {
  private readonly byBlock = new Map<number, FoundPoolRow[]>();
  private waiting: Waiting[] = [];
  /** Addresses of the pools in `byBlock`. */
  private readonly recorded = new Set<Hex>();
  private storedTo = 0;
  private stale = false;
  private publishedAt = -Infinity;
  private known: (pool: Hex) => boolean = () => false;

  readonly oldTicks: OldTicks;

  constructor(
    private readonly database: Database,
    private readonly chainId: number,
  ) {
    this.oldTicks = new OldTicks(database);
  }

  /** Whether findings wait for `record`, and block `from` still has room for them. */
  isWaiting(from: number): boolean {
    return this.oldTicks.isWaiting || (this.waiting.length > 0 && this.roomAt(from) > 0);
  }

  /** Whether `refresh` asked for a new version of the head. `now` is a time in ms. */
  isStale(now: number): boolean {
    return this.stale && now - this.publishedAt >= REFRESH_MS;
  }

  /** Whether pools are recorded for a block that is not stored yet. */
  get isAhead(): boolean {
    return [...this.byBlock.keys()].some((block) => block > this.storedTo);
  }

  /** Notes the newest stored block. Until it reaches the blocks of the recorded pools, the pool search waits. */
  noteStored(block: number): void {
    this.storedTo = block;
  }

  /**
   * Asks the session to publish the head under a new version, unless a block comes within 10 s. Readers cache answers
   * until the version changes. With `isUrgent`, the session does not wait.
   */
  refresh({ isUrgent = false } = {}): void {
    this.stale = true;
    if (isUrgent) this.publishedAt = -Infinity;
  }

  /** Called before the head is published at `now`, because its readers read the findings so far. */
  notePublished(now: number): void {
    this.stale = false;
    this.publishedAt = now;
  }

  /** Returns whether the newest session has the pool, or will add it. */
  isKnown(pool: Hex): boolean {
    return this.known(pool) || this.recorded.has(pool);
  }

  /** Loads the pools that are added by blocks after `above`. Called when a session loads its state. */
  async load(above: number, isKnown: (pool: Hex) => boolean): Promise<void> {
    const rows = await selectAll(this.database, 'ingest/pools/list_found', { above }, foundRow, ROWS_MAX);
    const renewed = await this.renewFees(rows, above);
    this.known = isKnown;
    this.byBlock.clear();
    this.recorded.clear();
    for (const row of renewed) this.remember(row);
    await this.oldTicks.load();
  }

  /** Returns the found pools that this block adds. Earlier versions of the program recorded the hash of the block. */
  addedBy({ number, hash }: Pick<BlockRef, 'number' | 'hash'>): readonly FoundPoolRow[] {
    const rows = this.byBlock.get(number) ?? [];
    return rows.filter(({ block_hash: only }) => only === ZERO_HASH || only === hash);
  }

  /**
   * Drops the pools of blocks up to `number` from memory, because these blocks are final and their rows are
   * stored.
   */
  forgetBelow(number: number): void {
    for (const [block, rows] of this.byBlock) {
      if (block > number) continue;
      this.byBlock.delete(block);
      for (const { address } of rows) this.recorded.delete(address);
    }
  }

  /**
   * Offers pools to the session, with their states at the end of the block `readAt`. Resolves when each pool is recorded
   * or dropped. A pool is dropped if a reorg removed this block. The caller can tell the two cases apart with `isKnown`.
   */
  async offer(findings: readonly Finding[], readAt: Waiting['readAt'], signal: AbortSignal): Promise<void> {
    if (findings.length === 0) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const entry: Waiting = {
        findings: [...findings],
        readAt,
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

  /**
   * Stores that block `from` adds the offered pools, and that prices use the offered ticks from there on. No block with
   * this number may ever have been read. `finalTo` is the last block in the final tables.
   */
  async record(from: number, finalTo: number, chain: Pick<HeadFollower, 'blockAt'>): Promise<void> {
    const room = this.roomAt(from);
    const taken = new Map<Hex, Finding>();
    for (const { findings, readAt } of this.waiting) {
      const isDropped = chain.blockAt(readAt.number)?.hash !== readAt.hash;
      while (findings.length > 0 && taken.size < room) {
        const finding = findings.shift();
        if (finding === undefined || isDropped || this.isKnown(finding.pool.address)) continue;
        taken.set(finding.pool.address, { ...finding, fromBlock: from });
      }
    }
    const found = [...taken.values()];
    await this.oldTicks.record(
      from,
      found.flatMap(({ ticks }) => ticks ?? []),
    );
    const rows = await this.renewFees(found.map(toFoundRow), finalTo);
    if (rows.length > 0) await insertRows(this.database, foundPoolsTable, rows);
    for (const row of rows) this.remember(row);
    const done = this.waiting.filter(({ findings }) => findings.length === 0);
    this.waiting = this.waiting.filter(({ findings }) => findings.length > 0);
    for (const { settle } of done) settle();
  }

  /**
   * Gives pools of many tokens the fee of their newest fee event up to a final block. The registry has the fees of later events.
   */
  private async renewFees(rows: readonly FoundPoolRow[], finalTo: number): Promise<FoundPoolRow[]> {
    const renewed: FoundPoolRow[] = [];
    for (let from = 0; from < rows.length; from += ADDED_MAX) {
      const part = rows.slice(from, from + ADDED_MAX);
      const manyTokenRows = part.filter(({ protocol }) => hasManyTokens(protocol));
      const fees = await readFeeChanges(this.database, this.chainId, finalTo, manyTokenRows);
      for (const row of part) {
        const fee = fees.get(row.address);
        renewed.push(fee === undefined ? row : { ...row, fee_pips: toFeePips(fee.swapFee) });
      }
    }
    return renewed;
  }

  private roomAt(block: number): number {
    return ADDED_MAX - (this.byBlock.get(block)?.length ?? 0);
  }

  private remember(row: FoundPoolRow): void {
    this.recorded.add(row.address);
    const sameBlock = this.byBlock.get(row.block);
    if (sameBlock === undefined) this.byBlock.set(row.block, [row]);
    else sameBlock.push(row);
  }
}
