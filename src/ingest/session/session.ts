/**
 * One run of the ingester over one store: recovers, backfills final blocks, follows the head. Any error ends
 * the session. The next session recovers, because all state can be read again from the database or the node.
 */
import type { BlockHeader, BlockSource } from '../../node/blocks/blockSource';
import type { FinalBlock, Finality } from '../../node/head/finality';
import { HeadFollower, BeyondFinality } from '../../node/head/follower';
import { needsSync, syncToHead, type Extension } from '../../node/head/syncToHead';
import type { BlockRef } from '../../domain/block';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import type { RangeHashWorker } from '../repair/rangeHashWorker';
import { BlockReader, type ReaderDeps } from '../decode/blockReader';
import { countRows, type BlockRows } from '../rows/blockRows';
import { BatchPair } from './batchPair';
import { fetchAhead } from './fetchAhead';
import type { GapStore } from '../repair/gapStore';
import { HeadBook } from '../store/headBook';
import { startProgress } from './progress';
import { Promoter } from '../store/promoter';
import { GapWatch, refillGaps, withoutIncomplete } from '../repair/refill';
import { RowBatch } from '../rows/rowBatch';
import { baseOf, replayPromotion } from './replayPromotion';
import { checkAncestor, checkHeadSenders, checkSameChain } from './sameChain';
import { SESSION_LIMITS, type SessionLimits } from './sessionLimits';
import { beginWork, endWork, noteHead, type IngestStatus } from './status';
import type { Cursor, OpenIntent } from '../store/store';
import type { Confirm } from '../store/gates';
import { fenceOff, type Fenced } from '../store/fenceOff';

/** Distance to the head, in blocks, from which on the status reports that the ingester is catching up. */
const CATCH_UP_MIN_BLOCKS = 16;
/** A reorg of this depth in blocks, or more, is logged as a warning, as in the alert DeepReorg. */
const DEEP_REORG_BLOCKS = 32;

export interface SessionDeps extends ReaderDeps {
  readonly source: BlockSource;
  readonly finality: Finality;
  readonly status: IngestStatus;
  /** Throws if the majority of the endpoints has another block, and benches endpoints that contradict it. */
  readonly confirm?: Confirm | undefined;
  /** Finds lost rows and stores them again. If absent, the session does not look for lost rows. */
  readonly gaps?: GapStore | undefined;
  /** Computes and stores range hashes. If absent, no range hashes are stored. */
  readonly rangeHashes?: RangeHashWorker | undefined;
  readonly log: Logger;
  readonly now: () => number;
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Returns a number that no earlier commit has. */
  readonly newCommit: () => number;
  readonly terminal?: { readonly isTTY?: boolean; write(text: string): unknown } | undefined;
}

export class IngestSession {
  private cursor: Cursor;
  private version: number;
  private readonly seqFloor: number;
  private follower: HeadFollower;
  private readonly book: HeadBook;
  private readonly reader: BlockReader;
  private readonly limits: SessionLimits;
  private readonly promoter: Promoter;
  /** True while a head is processed. Stays true after a failure or `close`, so that no promotion begins. */
  private isAdvancing = false;
  private readonly failure = new AbortController();
  /** First block that this database stores. */
  readonly startBlock: number;
  private gapWatch: GapWatch | null = null;

  private constructor(
    private readonly deps: SessionDeps,
    { stored, seqFloor }: Fenced,
    private readonly signal: AbortSignal,
  ) {
    this.seqFloor = seqFloor;
    this.cursor = stored.cursor;
    this.version = stored.version;
    this.book = new HeadBook(stored);
    this.startBlock = stored.startBlock;
    this.reader = new BlockReader(deps, stored.startBlock);
    this.limits = { ...SESSION_LIMITS, ...deps.limits };
    this.follower = this.followFrom(stored.cursor);
    this.promoter = new Promoter(deps.store, this.limits.headKeptBlocks, () => this.onPromoted());
  }

  /**
   * Opens a session and recovers: checks that the node has the stored chain, completes an unfinished range,
   * stores lost rows again, and loads pools and prices.
   */
  static async open(
    deps: SessionDeps,
    base: () => Promise<BlockRef>,
    signal: AbortSignal,
  ): Promise<IngestSession> {
    deps.status.phase = 'recovering';
    deps.status.idleSince = null;
    const floor = await deps.store.claim(deps.now());
    let stored = await deps.store.loadState();
    if (stored === null) {
      await deps.store.writeStart(await base());
      stored = await deps.store.loadState();
    }
    if (stored === null)
      throw new AppError('broken_invariant', 'the start block was written but cannot be read back');
    await deps.source.expectLevel?.(stored.proof);
    await checkSameChain(deps.source, stored.cursor, signal);
    if (stored.intent?.kind === 'promotion') stored = await replayPromotion(deps, stored, stored.intent);
    stored = await withoutIncomplete(deps.gaps, stored, deps.log);
    const session = new IngestSession(deps, await fenceOff(deps.store, stored, floor), signal);
    const wasRefilled = await session.refillLostRows();
    await session.load(wasRefilled || stored.intent !== null);
    if (stored.intent !== null) await session.replayBackfill(stored.intent);
    await session.watchRows();
    session.report(null);
    return session;
  }

  private followFrom(cursor: Cursor): HeadFollower {
    return new HeadFollower(baseOf(cursor), [], this.limits.unfinalisedMax);
  }

  private nextSeq(): number {
    return Math.max(this.cursor.seq, this.seqFloor) + 1;
  }

  get finalTo(): number {
    return this.cursor.number;
  }

  /** A signal that aborts if a promotion or other background work fails, with the error as its reason. */
  get failed(): AbortSignal {
    return this.failure.signal;
  }

  /** Resolves when no promotion is running. Rejects if one failed. */
  async promoted(): Promise<void> {
    while (this.promoter.isRunning) await this.promoter.idle();
    this.failed.throwIfAborted();
  }

  /** Waits for running work. The session must not be used afterwards. */
  async close(): Promise<void> {
    this.isAdvancing = true;
    await this.promoter.idle();
  }

  /** Whether this head of the node is stored, and no findings of background tasks wait. */
  isAt(head: BlockRef): boolean {
    const hasFindings = this.deps.foundPools?.isWaiting(this.book.firstUnstored) === true;
    return !needsSync(this.follower, head) && !hasFindings && !this.isStale();
  }

  /** Whether a background task asked to publish the head again, and the newest block is in the head tables for good. */
  private isStale(): boolean {
    const { follower, cursor, promoter, deps } = this;
    if (deps.foundPools?.isStale(deps.now()) !== true || follower.tip.number <= cursor.number) return false;
    return follower.tip.number > follower.base.number || !promoter.isBusy;
  }

  /** Publishes the head under a new version, so that readers read findings of background tasks. */
  private async republish(): Promise<void> {
    this.deps.foundPools?.notePublished(this.deps.now());
    const change = this.book.again(this.follower.tip.number);
    if (change === null) return;
    this.version += 1;
    const finalNumber = this.follower.base.number;
    await this.deps.store.writeHead({ ...change, version: this.version, finalNumber });
    this.book.note(change);
  }

  async advanceTo(head: BlockHeader): Promise<void> {
    this.failed.throwIfAborted();
    this.isAdvancing = true;
    this.takePromoted();
    await this.advance(head);
    this.isAdvancing = false;
    this.goOnPromoting();
  }

  private async advance(head: BlockHeader): Promise<void> {
    const { finality, status, source, foundPools, now, clock } = this.deps;
    noteHead(status, head, now());
    const blocksBehind = head.number - this.follower.tip.number;
    if (blocksBehind >= CATCH_UP_MIN_BLOCKS) this.beginCatchUp(head.number);
    const final = await finality.finalAt(head, this.signal);
    status.finalNumber = final.number;
    if (final.number > this.follower.tip.number + this.limits.backfillMinBlocks)
      await this.backfill(final.number, final.hash === null ? head : { ...final, hash: final.hash });
    status.phase = 'follow';
    for await (const step of syncToHead(source, this.follower, head, { signal: this.signal, clock })) {
      await this.extend(step, final.number);
    }
    await this.finalise(head, final);
    await foundPools?.record(this.book.firstUnstored, this.cursor.number, this.follower);
    if (this.isStale()) await this.republish();
    foundPools?.noteStored(this.follower.tip.number);
    this.goOnPromoting();
    endWork(status, 'catch_up');
    this.report(head.number);
    if (!this.promoter.isBusy) await this.gapWatch?.check();
    this.deps.rangeHashes?.poke(this.startBlock, this.cursor.number);
    status.idleSince = now();
  }

  /** If the sync ended on another branch than `head`, the last final block is computed for that branch. */
  private async finalise(head: BlockHeader, finalOfHead: FinalBlock): Promise<void> {
    const { tip } = this.follower;
    const final = tip.hash === head.hash ? finalOfHead : await this.deps.finality.finalAt(tip, this.signal);
    this.follower.finalise(final.number, final.hash);
  }

  private async load(exact: boolean): Promise<void> {
    const pools = await this.reader.load(this.cursor, { exact });
    this.deps.log.info({ pools, finalTo: this.cursor.number, head: this.book.size }, 'read the stored state');
  }

  /** Stores lost rows again, before the state is loaded. Resolves to true if rows were missing. */
  private async refillLostRows(): Promise<boolean> {
    const { gaps } = this.deps;
    if (gaps === undefined) return false;
    return refillGaps({ ...this.deps, gaps }, this.reader, this.cursor, this.signal);
  }

  private async watchRows(): Promise<void> {
    const { gaps, now } = this.deps;
    if (gaps !== undefined) this.gapWatch = await GapWatch.begin(gaps, now);
  }

  private beginCatchUp(to: number): void {
    const { status, now } = this.deps;
    beginWork(status, { kind: 'catch_up', from: this.follower.tip.number + 1, to }, now());
  }

  /**
   * Stores the blocks after the last final block, up to `to`, directly in the final tables. `final` is a
   * final block at or above `to`, which makes these blocks final.
   */
  async backfill(to: number, final: Pick<BlockRef, 'number' | 'hash'>): Promise<void> {
    const { status, log, now, terminal, source } = this.deps;
    status.phase = 'backfill';
    await this.deps.confirm?.(await source.fetchHeader(to, { signal: this.signal }));
    await this.promoter.idle();
    this.takePromoted();
    this.reader.rewindTo(this.cursor.number);
    const from = this.cursor.number + 1;
    const progress = startProgress({ from, to, log, now, terminal });
    const batches = new BatchPair(this.limits, now, async (batch) =>
      progress.step(this.cursor.number, await this.writeBatch(batch)),
    );
    let lastBlock: Pick<BlockRef, 'number' | 'hash'> = this.cursor;
    // The ancestor is checked after the batch before is written, and before this one is.
    const flush = (): Promise<void> =>
      batches.flush(() => checkAncestor(source, lastBlock, final, this.signal));
    let isReading = false;
    try {
      for await (const blocks of fetchAhead(source, from, to, {
        signal: this.signal,
        blocksMax: this.limits.batchBlocks,
        parent: this.cursor.hash,
      })) {
        isReading = true;
        await this.reader.readOn(blocks, lastBlock, false, this.signal, (rows) => batches.add(rows));
        isReading = false;
        lastBlock = blocks.at(-1) ?? lastBlock;
        if (batches.isFull) await flush();
      }
      await flush();
    } catch (error) {
      // A block that the node does not send does not hold back the blocks before it.
      if (error instanceof AppError && error.retryable && !isReading) await flush();
      throw error;
    } finally {
      await batches.idle();
      progress.end();
    }
    this.follower = this.followFrom(this.cursor);
    this.book.forgetBelow(this.cursor.number, this.limits.headKeptBlocks);
  }

  /** Writes a batch as one range. Returns the number of logs in the batch. */
  private async writeBatch(batch: RowBatch): Promise<number> {
    this.cursor = await this.deps.store.writeRange(this.nextSeq(), batch, null);
    const { counts, logs } = batch;
    this.count(counts);
    this.gapWatch?.add(counts);
    batch.reset();
    this.report(null);
    return logs;
  }

  /** Stores one step of the follower as one change of the head: blocks on top of the head, or a new branch. */
  private async extend(step: Extension, finalNumber: number): Promise<void> {
    const { store, source, log, status, foundPools, now } = this.deps;
    const lastBlock = step.blocks.at(-1);
    if (step.forkNumber !== null) {
      this.reader.rewindTo(step.forkNumber);
      const depth = step.removed.length;
      status.reorgs.set(depth, (status.reorgs.get(depth) ?? 0) + 1);
      const facts = { forkNumber: step.forkNumber, depth, to: lastBlock?.hash };
      if (depth < DEEP_REORG_BLOCKS) log.info(facts, 'reorg');
      else log.warn(facts, 'deep reorg');
    }
    const firstBlock = step.blocks[0];
    const parent = firstBlock === undefined ? this.follower.tip : this.parentOf(firstBlock);
    const blockRows: BlockRows[] = [];
    await this.reader.readOn(step.blocks, parent, true, this.signal, (rows) => blockRows.push(rows));
    const tip = lastBlock?.number ?? step.forkNumber ?? this.follower.tip.number;
    const change = this.book.changeTo(blockRows, tip, step.forkNumber !== null, this.deps.newCommit);
    if (change === null) return;
    this.version += 1;
    const final = Math.max(finalNumber, this.follower.base.number);
    foundPools?.notePublished(now());
    const flip = { ...change, version: this.version, finalNumber: Math.min(final, tip) };
    await store.writeHead(flip, () => checkHeadSenders(source, step.blocks));
    this.book.note(change);
    this.count(countRows(change.fresh.map(({ rows }) => rows)));
    status.indexed = tip;
  }

  private parentOf(block: BlockRef): Pick<BlockRef, 'number' | 'hash'> {
    return this.follower.blockAt(block.number - 1) ?? { number: block.number - 1, hash: block.parentHash };
  }

  /** Takes the result of a finished promotion and begins the next, of at most `promoteMaxBlocks` blocks. */
  private goOnPromoting(): void {
    this.takePromoted();
    const { base } = this.follower;
    if (this.promoter.isBusy || base.number - this.cursor.number < this.limits.promoteMinBlocks) return;
    const lastPromotable = Math.min(base.number, this.cursor.number + this.limits.promoteMaxBlocks);
    const from = this.cursor.number + 1;
    const { blocks, ...facts } = this.book.range(from, lastPromotable);
    const lastBlock = blocks.at(-1);
    if (lastBlock === undefined) return;
    const ends = { to: lastBlock.number, toHash: lastBlock.hash, toTimestamp: lastBlock.timestamp };
    const intent: OpenIntent = { seq: this.nextSeq(), kind: 'promotion', from, ...ends, ...facts };
    beginWork(this.deps.status, { kind: 'promotion', from, to: ends.to }, this.deps.now());
    this.promoter.begin(
      intent,
      blocks.map((block) => block.commit),
    );
  }

  private takePromoted(): void {
    const promoted = this.promoter.take();
    if (promoted === null) return;
    const { intent, cursor } = promoted;
    endWork(this.deps.status, 'promotion');
    this.cursor = cursor;
    this.gapWatch?.add(intent.counts);
    this.book.forgetBelow(cursor.number, this.limits.headKeptBlocks);
    this.reader.finalise(cursor.number);
    this.report(null);
    this.deps.rangeHashes?.poke(this.startBlock, cursor.number);
  }

  /** Called when a promotion has ended. While a head is being processed, `advanceTo` begins the next one. */
  private onPromoted(): void {
    if (this.isAdvancing) return;
    try {
      this.goOnPromoting();
    } catch (error) {
      this.failure.abort(error);
    }
  }

  private async replayBackfill(intent: OpenIntent): Promise<void> {
    const { log, source, store } = this.deps;
    log.warn({ from: intent.from, to: intent.to }, 'replaying an unfinished range');
    this.beginCatchUp(intent.to);
    const batch = new RowBatch();
    let lastBlock: Pick<BlockRef, 'number' | 'hash'> = this.cursor;
    for await (const blocks of fetchAhead(source, intent.from, intent.to, { signal: this.signal })) {
      await this.reader.read(blocks, lastBlock, false, this.signal, (rows) => batch.add(rows));
      lastBlock = blocks.at(-1) ?? lastBlock;
    }
    if (lastBlock.hash !== intent.toHash)
      throw new BeyondFinality({ number: intent.to, hash: intent.toHash }, lastBlock);
    this.cursor = await store.writeRange(intent.seq, batch, intent);
    this.follower = this.followFrom(this.cursor);
    this.book.forgetBelow(this.cursor.number, this.limits.headKeptBlocks);
  }

  private count(counts: Readonly<Record<'blocks' | 'logs' | 'swaps' | 'pools', number>>): void {
    const { status } = this.deps;
    status.blocks += counts.blocks;
    status.logs += counts.logs;
    status.swaps += counts.swaps;
    status.pools += counts.pools;
  }

  private report(nodeHead: number | null): void {
    const { status } = this.deps;
    status.finalTo = this.cursor.number;
    status.indexed = Math.max(this.cursor.number, this.book.top);
    if (nodeHead !== null) status.nodeHead = nodeHead;
  }
}
