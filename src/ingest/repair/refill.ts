/**
 * Detects lost rows while the ingester runs, and reads their blocks from the node again. Decoding starts with
 * the pool states and prices from before the lost rows. `gapStore.ts` finds the tables with lost rows and
 * inserts the rows.
 */
import { BeyondFinality } from '../../node/head/follower';
import type { BlockSource } from '../../node/blocks/blockSource';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import type { BlockReader } from '../decode/blockReader';
import { fetchAhead } from '../session/fetchAhead';
import type { Gap, GapStore, RowTotals } from './gapStore';
import { RowBatch } from '../rows/rowBatch';
import { beginWork, endWork, type IngestStatus } from '../session/status';
import type { Cursor, Store, StoredState } from '../store/store';

const CHECK_EVERY_MS = 60_000;

interface RefillDeps {
  readonly store: Store;
  readonly gaps: GapStore;
  readonly source: BlockSource;
  readonly status: IngestStatus;
  readonly log: Logger;
  readonly now: () => number;
}

/** Compares expected and stored row counts, at most once a minute. */
export class GapWatch {
  private expected: Map<EventTableName, number>;
  private checkedAt: number;

  private constructor(
    private readonly gaps: GapStore,
    expected: RowTotals,
    private readonly now: () => number,
  ) {
    this.expected = new Map(expected);
    this.checkedAt = now();
  }

  static async begin(gaps: GapStore, now: () => number): Promise<GapWatch> {
    return new GapWatch(gaps, await gaps.readExpected(), now);
  }

  /** Adds the row counts of a range that has just been finished. */
  add(counts: Readonly<Record<string, number>>): void {
    for (const [name, rows] of this.expected) this.expected.set(name, rows + (counts[name] ?? 0));
  }

  /**
   * Compares the counts. Must be called only between two writes. Throws a retryable error if rows are lost;
   * the next session then reads the blocks again.
   */
  async check(): Promise<void> {
    if (this.now() - this.checkedAt < CHECK_EVERY_MS) return;
    this.checkedAt = this.now();
    const stored = await this.gaps.readStored();
    if (listWrongCounts(this.expected, stored).length === 0) return;
    // Retention may have deleted old rows meanwhile, so the expected counts are read again before the final
    // comparison.
    this.expected = new Map(await this.gaps.readExpected());
    const stillWrong = listWrongCounts(this.expected, await this.gaps.readStored());
    if (stillWrong.length === 0) return;
    throw new AppError(
      'unavailable',
      `stored rows of ${stillWrong.join(', ')} are missing; their blocks are read again`,
    );
  }
}

/**
 * Stores the lost rows of all final ranges again. Resolves to true if rows were missing. The caller must then
 * load the block reader again, because its state is at the end of the last refilled range.
 */
export async function refillGaps(
  deps: RefillDeps,
  reader: BlockReader,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<boolean> {
  const { gaps, status, log, now } = deps;
  const listDiffering = async (): Promise<EventTableName[]> =>
    listWrongCounts(await gaps.readExpected(), await gaps.readStored(cursor.number));
  const wrongTables = await listDiffering();
  if (wrongTables.length === 0) return false;
  const gapList = await gaps.listGaps(wrongTables, cursor.number);
  for (const gap of gapList) {
    const { from, to, missing } = gap;
    log.error({ from, to, missing: [...missing] }, 'stored rows are missing; reading their blocks again');
    beginWork(status, { kind: 'refill', from, to }, now());
    await refill(deps, reader, gap, signal);
    endWork(status, 'refill');
    status.refills += 1;
    log.warn({ from, to }, 'the missing rows are stored again');
  }
  const lastGap = gapList.at(-1);
  // checkRange counts the rows of all ranges, so one call at the end is enough.
  if (lastGap !== undefined) await deps.store.checkRange(lastGap);
  const stillWrong = await listDiffering();
  if (stillWrong.length > 0) throw wrongCountsError(stillWrong);
  return gapList.length > 0;
}

/** Lists the tables whose row counts differ from the sums over the finished ranges. */
function listWrongCounts(expected: RowTotals, stored: RowTotals): EventTableName[] {
  return [...expected].filter(([name, rows]) => stored.get(name) !== rows).map(([name]) => name);
}

/**
 * The error for counts that still differ after lost rows were stored again: some rows belong to no range, or
 * a range was stored twice.
 */
function wrongCountsError(tables: readonly string[]): AppError {
  return new AppError(
    'broken_invariant',
    `the row counts of ${tables.join(', ')} differ from those of the finished ranges; the writer stops: ` +
      'run `candlehouse verify` to list the differences',
  );
}

async function refill(
  { gaps, source }: RefillDeps,
  reader: BlockReader,
  gap: Gap,
  signal: AbortSignal,
): Promise<void> {
  // The reader uses only the number. The hash and the time of the block before are not known here.
  const cursorBefore = {
    seq: gap.seq - 1,
    number: gap.from - 1,
    hash: gap.toHash,
    timestamp: gap.toTimestamp,
  };
  await reader.load(cursorBefore, { exact: true });
  const batch = new RowBatch();
  let lastBlock: { number: number; hash: Gap['toHash'] } | null = null;
  for await (const blocks of fetchAhead(source, gap.from, gap.to, { signal })) {
    const [firstBlock] = blocks;
    if (firstBlock === undefined) continue;
    // The block before the range may be lost too. Then its hash is unknown, and the hash of the range's last
    // block is checked instead.
    const parent = lastBlock ?? { number: firstBlock.number - 1, hash: firstBlock.parentHash };
    await reader.read(blocks, parent, false, signal, (rows) => batch.add(rows));
    lastBlock = blocks.at(-1) ?? lastBlock;
  }
  if (lastBlock?.hash !== gap.toHash)
    throw new BeyondFinality(
      { number: gap.to, hash: gap.toHash },
      lastBlock ?? { number: gap.to, hash: gap.toHash },
    );
  await gaps.refill(gap, batch);
}

/**
 * Removes the head blocks from the first incomplete block on. The session then stores these blocks again,
 * under new commits.
 */
export async function withoutIncomplete(
  gaps: GapStore | undefined,
  stored: StoredState,
  log: Logger,
): Promise<StoredState> {
  const incomplete = (await gaps?.listIncomplete(stored.head)) ?? [];
  const [firstIncomplete] = incomplete;
  if (firstIncomplete === undefined) return stored;
  log.error(
    { from: firstIncomplete.number, blocks: incomplete.length },
    'rows of head blocks are missing; reading the blocks again',
  );
  const commits = new Map(stored.commits);
  for (const { hash } of incomplete) commits.delete(hash);
  return { ...stored, commits, head: stored.head.filter(({ number }) => number < firstIncomplete.number) };
}
