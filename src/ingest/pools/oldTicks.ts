/**
 * The ticks of V3 pools from before the start block. The pool search reads them from the node and offers them to
 * the session, which stores from which block on prices use them. So every later read of this block uses them too:
 * after a restart, after a reorg, and when lost rows are stored again.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectAll } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { oldTicksTable, type OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { Hex } from '../../domain/hex';

/** Safety limit: more pools than any chain has. */
const ROWS_MAX = 10_000_000;

const ticksRow = rowType(oldTicksTable.types);

/** The ticks of a pool as they were before the start block, for the ticks `low` to `high`. */
export type OldTickRange = Omit<OldTicksRow, 'from_block'>;

export class OldTicks {
  private readonly byPair = new Map<Hex, OldTicksRow>();
  private readonly byBlock = new Map<number, OldTicksRow[]>();
  private readonly waiting: OldTickRange[] = [];

  constructor(private readonly database: Database) {}

  /** Loads all rows. Called when a session loads its state. */
  async load(): Promise<void> {
    const rows = await selectAll(this.database, 'ingest/pools/list_old_ticks', {}, ticksRow, ROWS_MAX);
    this.byPair.clear();
    this.byBlock.clear();
    for (const row of rows) this.remember(row);
  }

  /** The rows that prices use from this block on. */
  addedBy(block: number): readonly OldTicksRow[] {
    return this.byBlock.get(block) ?? [];
  }

  /** The rows that prices use at this block. */
  usedAt(block: number): OldTicksRow[] {
    return [...this.byPair.values()].filter(({ from_block: from }) => from <= block);
  }

  /** Offers ranges to the session. Ranges of pools that have a row already are dropped. */
  offer(ranges: readonly OldTickRange[]): void {
    this.waiting.push(...ranges);
  }

  /** Whether offered ranges wait for `record`. */
  get isWaiting(): boolean {
    return this.waiting.length > 0;
  }

  /** Stores that prices use these ranges and the offered ones from block `from` on, which no session has read. */
  async record(from: number, ranges: readonly OldTickRange[]): Promise<void> {
    const rows = [...this.waiting.splice(0), ...ranges]
      .filter(({ pair }) => !this.byPair.has(pair))
      .map((range) => ({ ...range, from_block: from }));
    if (rows.length === 0) return;
    await insertRows(this.database, oldTicksTable, rows);
    for (const row of rows) this.remember(row);
  }

  private remember(row: OldTicksRow): void {
    if (this.byPair.has(row.pair)) return;
    this.byPair.set(row.pair, row);
    const sameBlock = this.byBlock.get(row.from_block);
    if (sameBlock === undefined) this.byBlock.set(row.from_block, [row]);
    else sameBlock.push(row);
  }
}
