/**
 * Prevents a second live writer. Each writer claims the database with a number that is larger than the number
 * of every earlier writer. ClickHouse compares the numbers when a statement begins that writes final rows or
 * changes the head. So an older writer writes nothing after the claim, even if it was suspended for hours
 * between two statements. If the older writer began a range before the claim, the newer writer replays this
 * range with the same deduplication tokens.
 */
import { FENCED, type Database, type InsertGuard } from '../../clickhouse/client/database';
import { commandNamed, selectNamed } from '../../clickhouse/client/namedQueries';
import { bool, text, u64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { readColumnTypes, readSchema } from '../../clickhouse/schema/schema';
import { AppError } from '../../errors';

/**
 * Session numbers count time in 1/1,024 of a millisecond. A float holds these numbers exactly until the year
 * 2248.
 */
const COUNTS_PER_MS = 1_024;
/** Number of different ids. The random id tells apart two writers that claim the same session number at once. */
const ID_SPAN = 2 ** 52;

/**
 * The newest writer of a chain. `version` grows with each sign of life (a row that a live writer stores every
 * few seconds).
 */
const writerRow = rowType({ session: u64, id: u64, name: text, ended: bool, version: u64 });
export type WriterRow = RowOf<typeof writerRow>;

/** Returns the newest writer of the chain. Null before the first one. */
export async function findNewestWriter(database: Database, chainId: number): Promise<WriterRow | null> {
  const query = 'ingest/store/find_newest_writer';
  const [row] = await selectNamed(database, query, { chain: chainId }, writerRow);
  return row ?? null;
}

/** Lower bound of the number of a session that begins at `now` (unix time in ms), so a later session has a larger number. */
export const sessionAt = (now: number): number => Math.floor(now * COUNTS_PER_MS);

export class WriterClaim {
  private claim: { readonly session: number; readonly id: number } | null = null;
  /** Largest range number or head version that this process has used. */
  private largestUsed = 0;
  private readonly types = new Map<string, ReadonlyMap<string, string>>();
  private readonly schema = readSchema();

  constructor(
    private readonly database: Database,
    private readonly chainId: number,
    private readonly name: string,
  ) {}

  /** Number of the claim. No other writer has the same one. 0 before `take`. */
  get session(): number {
    return this.claim?.session ?? 0;
  }

  /** Implements `Store.claim`. */
  async take(now: number): Promise<number> {
    if (this.claim === null) {
      const newest = await findNewestWriter(this.database, this.chainId);
      const session = Math.max((newest?.session ?? 0) + 1, sessionAt(now));
      const ownClaim = { session, id: Math.floor(Math.random() * ID_SPAN) };
      await this.write(ownClaim, false);
      this.claim = ownClaim;
    } else await this.check();
    return Math.max(this.claim.session, this.largestUsed);
  }

  /** Records a range number or a head version that this process has used. */
  note(number: number): void {
    this.largestUsed = Math.max(this.largestUsed, number);
  }

  /**
   * Returns an SQL condition that makes ClickHouse throw if a newer writer has claimed the database. Must not
   * be called before `take`.
   */
  condition(): string {
    const { claim: own, chainId } = this;
    if (own === null) throw new AppError('internal', 'a writer writes before its claim');
    const newest = `SELECT max((session, id)) FROM writers WHERE chain_id = ${chainId}`;
    return `throwIf((${newest}) != (toUInt64(${own.session}), toUInt64(${own.id})), '${FENCED}') = 0`;
  }

  /** Returns the condition for an insert of RowBinary bytes into a table of the schema. */
  guard(table: string, columns: readonly string[]): InsertGuard {
    const types = this.types.get(table) ?? readColumnTypes(this.schema, table);
    this.types.set(table, types);
    return { condition: this.condition(), types: columns.map((column) => types.get(column) ?? '') };
  }

  /**
   * Gives a sign of life: stores the state of this writer, JSON as in writer_states. Throws `fenced` if a newer writer has
   * claimed the database. Does nothing before `take`.
   */
  async beat(state: string): Promise<void> {
    if (this.claim === null) return;
    const params = { chain: this.chainId, ...this.claim, state, fenced: FENCED };
    await commandNamed(this.database, 'ingest/write_writer_state', params);
  }

  /** Stores that this writer has ended, so that a standby need not wait. */
  async end(): Promise<void> {
    if (this.claim !== null) await this.write(this.claim, true);
  }

  /** Throws `fenced` if a newer writer has claimed the database. */
  async check(): Promise<void> {
    const newest = await findNewestWriter(this.database, this.chainId);
    if (newest !== null && newest.session === this.claim?.session && newest.id === this.claim.id) return;
    const reason = newest === null ? 'the claim is no longer stored' : `the newer writer is ${newest.name}`;
    throw new AppError('fenced', `this writer may no longer write: ${reason}`);
  }

  private async write(own: { readonly session: number; readonly id: number }, ended: boolean): Promise<void> {
    const params = { chain: this.chainId, ...own, name: this.name, ended };
    await commandNamed(this.database, 'ingest/write_writer', params);
  }
}
