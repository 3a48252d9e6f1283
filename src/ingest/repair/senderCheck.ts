/**
 * A background task that recovers, from its signature, the sender of each transaction whose events are stored. The
 * sender is part of no root, so a block that is proven in full can still name a false one. The task goes over the final
 * blocks once, with a limited part of the processor. A restart continues where the task ended.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { readOperations, SENDERS_CHECKED, writeOperation } from '../../clickhouse/schema/operations';
import { eventsTable } from '../../clickhouse/schema/tables';
import type { ChainBlock } from '../../domain/block';
import { blockOfOrd, lastOrdOfBlock, logIndexOfOrd, toOrd } from '../../domain/ord';
import type { Logger } from '../../log';
import { BlockMismatch } from '../../node/blocks/blockMismatch';
import type { BlockSource } from '../../node/blocks/blockSource';
import type { Clock } from '../../node/rpc/clock';
import { repeatStep } from '../../workers/repeatStep';
import { CallBudget } from '../olderPools/callBudget';
import type { IngestStatus } from '../session/status';
import { nextPart, REPAIRED_MAX, blockBeforeStart } from './secondLook';

const IDLE_MS = 5_000;
/** Pause after a failure, such as an endpoint that sent a false sender. */
const FAILED_MS = 10_000;
/** Number of blocks that are fetched at once. */
const BLOCKS_MAX = 20;
/** Calls per block: header with transactions, receipts. */
const CALLS_PER_BLOCK = 2;
/** Senders that are recovered without a pause, about 10 ms of work. */
const SENDERS_AT_ONCE = 25;
/** The task pauses this many times as long as it works: it takes a twentieth of a processor core. */
const PAUSE_PER_WORK = 19;

const makerRow = rowType(pick(eventsTable.types, ['ord', 'maker']));
type StoredMaker = RowOf<typeof makerRow>;

interface SenderCheckDeps {
  readonly database: Database;
  readonly source: Pick<BlockSource, 'fetchRange' | 'checkSenders'>;
  readonly chainId: number;
  readonly status: Pick<IngestStatus, 'phase' | 'finalTo' | 'falseSenders'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly callsPerSecond: number;
  /** Called after each progress, which answers show. */
  readonly onChange: () => void;
  /** Reads these final blocks again and replaces rows that differ; null if the storage allows no repair. */
  readonly repair: ((from: number, to: number, signal: AbortSignal) => Promise<void>) | null;
}

export class SenderCheck {
  private readonly budget: CallBudget;
  /** The last block whose senders are checked. */
  private lastChecked: number | null = null;
  /**
   * Whether a false sender was found. Which endpoint sent a stored block is not recorded, so all blocks that are not
   * checked yet are then checked without pauses.
   */
  private isUrgent = false;

  constructor(private readonly deps: SenderCheckDeps) {
    this.budget = new CallBudget(deps.clock, deps.callsPerSecond);
  }

  /** Runs until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.deps;
    const step = async (): Promise<number> => ((await this.step(signal)) ? 0 : IDLE_MS);
    const onFailure = (error: string): void =>
      log.warn({ error }, 'checking stored senders failed; retrying');
    return repeatStep(clock, { firstMs: IDLE_MS, failedMs: FAILED_MS, step, onFailure }, signal);
  }

  /** Checks some blocks. Resolves to true if further blocks can be checked now. */
  async step(signal: AbortSignal): Promise<boolean> {
    const { database, status, chainId } = this.deps;
    const { finalTo } = status;
    if (status.phase !== 'follow' || finalTo === null) return false;
    this.lastChecked ??=
      (await readOperations(database, [SENDERS_CHECKED])).get(SENDERS_CHECKED) ??
      (await blockBeforeStart(database, chainId));
    if (this.lastChecked >= finalTo) return false;
    // Without a proof of the transactions, there is nothing to recover a sender from.
    const part = await nextPart(
      database,
      chainId,
      this.lastChecked + 1,
      finalTo,
      (level) => level === 'full',
    );
    const storedMakers = part === null ? [] : await this.listMakers(part.from, part.to);
    const blocks = [...new Set(storedMakers.map(({ ord }) => blockOfOrd(ord)))].slice(0, BLOCKS_MAX);
    const lastChecked = blocks.at(-1) ?? part?.to ?? finalTo;
    for (const span of toSpans(blocks)) await this.check(span, storedMakers, signal);
    this.lastChecked = lastChecked;
    await writeOperation(database, SENDERS_CHECKED, lastChecked);
    this.deps.onChange();
    return lastChecked < finalTo;
  }

  private listMakers(from: number, to: number): Promise<StoredMaker[]> {
    const params = { from_ord: toOrd(from, 0), to_ord: lastOrdOfBlock(to), blocks: BLOCKS_MAX };
    return selectNamed(this.deps.database, 'ingest/repair/list_makers', params, makerRow);
  }

  /** Checks consecutive blocks. Stored makers of other blocks are ignored. */
  private async check(
    { from, to }: { readonly from: number; readonly to: number },
    storedMakers: readonly StoredMaker[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.budget.spend(this.isUrgent ? 0 : CALLS_PER_BLOCK * (to - from + 1), signal);
    for (const block of await this.deps.source.fetchRange(from, to, { signal })) {
      if (block.proof !== 'full') continue;
      const makersOfBlock = storedMakers.filter(({ ord }) => blockOfOrd(ord) === block.number);
      await this.recover(block, new Set(makersOfBlock.map(({ ord }) => transactionOf(block, ord))), signal);
      // A maker is null if the node that sent the block reported no senders.
      const wrongMaker = makersOfBlock.find(
        ({ ord, maker }) => maker !== null && maker !== senderOf(block, ord),
      );
      if (wrongMaker !== undefined) await this.mend(block, wrongMaker, signal);
    }
  }

  /** Compares the senders of these transactions with their signatures. @throws BlockMismatch if one differs */
  private async recover(block: ChainBlock, indexes: ReadonlySet<number>, signal: AbortSignal): Promise<void> {
    const { source, clock } = this.deps;
    const indexList = [...indexes];
    for (let start = 0; start < indexList.length; start += SENDERS_AT_ONCE) {
      signal.throwIfAborted();
      const startedAt = clock.now();
      try {
        await source.checkSenders(block, new Set(indexList.slice(start, start + SENDERS_AT_ONCE)));
      } catch (error) {
        if (error instanceof BlockMismatch) this.isUrgent = true;
        throw error;
      }
      await clock.sleep(this.isUrgent ? 0 : PAUSE_PER_WORK * (clock.now() - startedAt), signal);
    }
  }

  private async mend(block: ChainBlock, wrongMaker: StoredMaker, signal: AbortSignal): Promise<void> {
    const { log, status, repair } = this.deps;
    const { number } = block;
    this.isUrgent = true;
    status.falseSenders = { block: number };
    const facts = { block: number, stored: wrongMaker.maker, recovered: senderOf(block, wrongMaker.ord) };
    log.error(facts, 'a stored sender differs from the signature; reading the blocks again');
    if (repair === null) return;
    const to = Math.min(status.finalTo ?? number, number + REPAIRED_MAX);
    await repair(number, to, signal);
    status.falseSenders = null;
    log.warn({ from: number, to }, 'the stored senders are corrected');
  }
}

const transactionOf = ({ logs }: ChainBlock, ord: number): number =>
  logs[logIndexOfOrd(ord)]?.transactionIndex ?? -1;

const senderOf = (block: ChainBlock, ord: number): string | null =>
  block.transactions[transactionOf(block, ord)]?.from ?? null;

/** Cuts ascending block numbers into ranges without gaps. */
function toSpans(blocks: readonly number[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const block of blocks) {
    const lastRange = ranges.at(-1);
    if (lastRange?.to === block - 1) lastRange.to = block;
    else ranges.push({ from: block, to: block });
  }
  return ranges;
}
