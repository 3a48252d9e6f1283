/**
 * Remembers which blocks are stored with all their raw logs, and which with only some of them (EXPLORER=off). A change
 * of the setting holds from the first block that is stored after it. Blocks that are not final are then stored again, so
 * that all blocks above the last final block are stored with the same setting.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { writeOperation } from '../../clickhouse/schema/operations';
import { u32, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Logger } from '../../log';
import type { GapStore } from '../repair/gapStore';
import type { Store, StoredState } from './store';
import type { WriterClaim } from './writerClaim';

/** From this block on, all logs are stored if `whole`, or else only some of them. */
interface LogChange {
  readonly from: number;
  readonly whole: boolean;
}

/** Safety limit of stored changes of the setting EXPLORER. */
const CHANGES_MAX = 100_000;

const NO_BLOCK = 2 ** 32 - 1;

const changeRow = rowType({ block: u32, whole: u64 });

export class LogLedger {
  /** Stored changes, the oldest first. Blocks before the first change have all logs. */
  private changes: readonly LogChange[] = [];
  /** The change that the present setting makes. It is stored just before the first block that it concerns. */
  private pending: LogChange | null = null;

  constructor(
    private readonly database: Database,
    private readonly writer: WriterClaim | null = null,
  ) {}

  async load(): Promise<void> {
    const query = 'ingest/store/list_log_changes';
    const rows = await selectNamed(this.database, query, { limit: CHANGES_MAX }, changeRow);
    this.changes = rows.map(({ block, whole }) => ({ from: block, whole: whole === 1 }));
  }

  /** Whether the block is stored with all its logs. */
  isWholeAt(block: number): boolean {
    const allChanges = this.pending === null ? this.changes : [...this.changes, this.pending];
    return allChanges.findLast(({ from }) => from <= block)?.whole ?? true;
  }

  /** The first block from which on all stored blocks have all logs. A number above all blocks if the newest has not. */
  wholeFrom(): number {
    const lastChange = this.changes.at(-1);
    return lastChange === undefined ? 0 : lastChange.whole ? lastChange.from : NO_BLOCK;
  }

  /** Loads the stored changes, and compares them with the setting. `from` is the first block that it concerns. */
  async plan(whole: boolean, from: number): Promise<LogChange | null> {
    this.pending = null;
    await this.load();
    if ((this.changes.at(-1)?.whole ?? true) !== whole) this.pending = { from, whole };
    return this.pending;
  }

  /**
   * Stores the change that the setting makes. Must be called before the first block that it concerns is stored. Resolves
   * to whether there was a change.
   */
  async record(): Promise<boolean> {
    const { pending } = this;
    if (pending === null) return false;
    const name = `explorer.${pending.from}`;
    await writeOperation(this.database, name, pending.whole ? 1 : 0, this.writer?.condition());
    this.changes = [...this.changes.filter(({ from }) => from !== pending.from), pending];
    this.pending = null;
    return true;
  }
}

/** Tells the user of a command that some logs are not compared. */
export function someLogsText(wholeFrom: number): string {
  const blocksText = wholeFrom === NO_BLOCK ? '' : ` of blocks before ${wholeFrom}`;
  return `Logs${blocksText} are not compared, because only some are stored (EXPLORER=off).\n`;
}

interface KeepingOptions {
  /** Whether all logs of the blocks are stored from now on. */
  readonly whole: boolean;
  readonly log: Logger;
  /** Called when a change of the setting is stored, so that readers in this process read it. */
  readonly onChange: () => void;
}

/** Wraps a store so that the ledger knows which blocks are stored with all logs. */
export function logKeepingStore(
  store: Store,
  ledger: LogLedger,
  { whole, log, onChange }: KeepingOptions,
): Store {
  const record = async (): Promise<void> => {
    if (await ledger.record()) onChange();
  };
  return {
    ...store,
    async loadState(): Promise<StoredState | null> {
      const stored = await store.loadState();
      if (stored === null) return null;
      const { intent, cursor } = stored;
      // An unfinished range is stored as it was begun.
      const change = await ledger.plan(whole, (intent?.to ?? cursor.number) + 1);
      // The head tables have the rows of an unfinished promotion, after which the state is loaded again.
      if (change === null || intent?.kind === 'promotion') return stored;
      const facts = { from: change.from };
      if (whole) log.info(facts, 'all raw logs are stored from this block on; older blocks have only some');
      else log.warn(facts, 'EXPLORER=off: from this block on, only logs that the market needs are stored');
      return { ...stored, head: [], commits: new Map() };
    },
    async writeHead(flip, check) {
      if (flip.fresh.length > 0) await record();
      await store.writeHead(flip, check);
    },
    async writeRange(seq, batch, replayed) {
      if (replayed === null) await record();
      return store.writeRange(seq, batch, replayed);
    },
  };
}

/** Wraps the store for lost rows so that head blocks with only some logs count as complete. */
export function logKeepingGaps(gaps: GapStore, ledger: LogLedger): GapStore {
  return {
    ...gaps,
    listIncomplete: (blocks) => gaps.listIncomplete(blocks, !ledger.isWholeAt(blocks[0]?.number ?? 0)),
  };
}
