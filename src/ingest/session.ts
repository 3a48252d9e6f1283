/**
 * One run of the ingester over one store: recover, backfill what is final, follow the head. It keeps nothing that the
 * store or the node could not give again, so any error ends the session and the next one begins by recovering.
 */
import type { BlockHeader, BlockSource } from '../chain/blockSource';
import type { Clock } from '../chain/clock';
import type { FinalBlock, Finality } from '../chain/finality';
import { HeadFollower } from '../chain/follower';
import { needsSync, syncToHead, type Extension } from '../chain/syncToHead';
import type { BlockRef } from '../domain/block';
import type { Hex } from '../domain/hex';
import { AppError } from '../errors';
import type { Logger } from '../log';
import type { AuditKeeper } from './auditKeeper';
import { BlockReader, type ReaderDeps } from './blockReader';
import { countRows, sumCounts, type BlockRows } from './blockRows';
import { fetchAhead } from './fetchAhead';
import type { GapStore } from './gapStore';
import { startProgress } from './progress';
import { GapWatch, refillGaps, withoutIncomplete } from './refill';
import { RowBatch } from './rowBatch';
import { beyondFinality, checkSameChain, proveFinal } from './sameChain';
import { SESSION_LIMITS, type SessionLimits } from './sessionLimits';
import { beginWork, endWork, noteHead, type IngestStatus } from './status';
import type { Cursor, OpenIntent, StoredHead, StoredState } from './store';
import { takeOver, type TakenOver } from './takeOver';

/** Fewer missing blocks than this are not worth telling. */
const CATCH_UP_MIN_BLOCKS = 16;

export interface SessionDeps extends ReaderDeps {
  readonly source: BlockSource;
  readonly finality: Finality;
  readonly status: IngestStatus;
  /** Absent where lost rows cannot be found. */
  readonly gaps?: GapStore | undefined;
  /** Absent where nobody compares deployments. */
  readonly audit?: AuditKeeper | undefined;
  readonly log: Logger;
  readonly now: () => number;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
  /** A number that no earlier commit has. */
  readonly newCommit: () => number;
  readonly terminal?: { readonly isTTY?: boolean; write(text: string): unknown } | undefined;
}

export class IngestSession {
  private cursor: Cursor;
  private version: number;
  private readonly seqFloor: number;
  private follower: HeadFollower;
  /** What the store holds as canonical above the cursor, by height. */
  private readonly live = new Map<number, StoredHead>();
  private readonly commits: Map<Hex, number>;
  /** Rows by table of each block in the head, for the intents of promotions. */
  private readonly counts = new Map<Hex, Record<string, number>>();
  private readonly reader: BlockReader;
  private readonly limits: SessionLimits;
  private droppedBelow = 0;
  /** First block that was ever to be ingested. */
  readonly startBlock: number;
  /** Largest height of a canonical block that stands above a hole; 0: none. */
  private strayTo: number;
  private watch: GapWatch | null = null;

  private constructor(
    private readonly deps: SessionDeps,
    { stored, seqFloor }: TakenOver,
    private readonly signal: AbortSignal,
  ) {
    this.seqFloor = seqFloor;
    this.cursor = stored.cursor;
    this.version = stored.version;
    this.commits = new Map(stored.commits);
    for (const block of stored.head) this.live.set(block.number, block);
    this.strayTo = stored.headMax > (stored.head.at(-1) ?? stored.cursor).number ? stored.headMax : 0;
    this.follower = new HeadFollower(baseOf(stored.cursor));
    this.startBlock = stored.startBlock;
    this.reader = new BlockReader(deps, stored.startBlock);
    this.limits = { ...SESSION_LIMITS, ...deps.limits };
  }

  /** Recovers: replays an open intent, loads pools, checks that the node's chain is the stored one. */
  static async open(
    deps: SessionDeps,
    base: () => Promise<BlockRef>,
    signal: AbortSignal,
  ): Promise<IngestSession> {
    deps.status.phase = 'recovering';
    deps.status.idleSince = null;
    let stored = await deps.store.loadState();
    if (stored === null) {
      await deps.store.writeStart(await base());
      stored = await deps.store.loadState();
    }
    if (stored === null)
      throw new AppError('broken_invariant', 'the start was written and cannot be read back');
    await checkSameChain(deps.source, stored.cursor, signal);
    if (stored.intent?.kind === 'promotion') stored = await replayPromotion(deps, stored, stored.intent);
    stored = await withoutIncomplete(deps.gaps, stored, deps.log);
    const session = new IngestSession(deps, await takeOver(deps.store, stored, deps.now()), signal);
    const mended = await session.mend();
    await session.load(mended || stored.intent !== null);
    if (stored.intent !== null) await session.replayBackfill(stored.intent);
    await session.watchRows();
    session.report(null);
    return session;
  }

  private nextSeq(): number {
    return Math.max(this.cursor.seq, this.seqFloor) + 1;
  }

  get finalTo(): number {
    return this.cursor.number;
  }

  /** Whether the store is where the head is, or beyond it. */
  isAt(head: BlockRef): boolean {
    return !needsSync(this.follower, head);
  }

  /** Takes the store to the node's head. */
  async advanceTo(head: BlockHeader): Promise<void> {
    const { finality, status, source, now, clock } = this.deps;
    noteHead(status, head, now());
    const behind = head.number - this.follower.tip.number;
    if (behind >= CATCH_UP_MIN_BLOCKS) this.beginCatchUp(head.number);
    const final = await finality.finalAt(head, this.signal);
    status.finalNumber = final.number;
    if (final.number > this.follower.tip.number + this.limits.backfillMinBlocks)
      await this.backfill(final.number, final.hash === null ? head : { ...final, hash: final.hash });
    status.phase = 'follow';
    for await (const step of syncToHead(source, this.follower, head, { signal: this.signal, clock })) {
      await this.extend(step, final.number);
    }
    await this.finalise(head, final);
    await this.promote(this.follower.base.number);
    this.reader.settle(this.cursor.number);
    endWork(status, 'catch_up');
    this.report(head.number);
    await this.watch?.check();
    this.deps.audit?.poke(this.startBlock, this.cursor.number);
    status.idleSince = now();
  }

  /** A head that was lost on the way there says nothing of the branch that was reached instead. */
  private async finalise(head: BlockHeader, ofHead: FinalBlock): Promise<void> {
    const { tip } = this.follower;
    const final = tip.hash === head.hash ? ofHead : await this.deps.finality.finalAt(tip, this.signal);
    this.follower.finalise(final.number, final.hash);
  }

  private async load(exact: boolean): Promise<void> {
    const pools = await this.reader.load(this.cursor, exact);
    this.deps.log.info({ pools, finalTo: this.cursor.number, head: this.live.size }, 'recovered');
  }

  /** Refills what is missing below the cursor: nothing can be taken up before. Resolves to whether there was anything. */
  private async mend(): Promise<boolean> {
    const { gaps } = this.deps;
    if (gaps === undefined) return false;
    return refillGaps({ ...this.deps, gaps }, this.reader, this.cursor, this.signal);
  }

  private async watchRows(): Promise<void> {
    const { gaps, now } = this.deps;
    if (gaps !== undefined) this.watch = await GapWatch.begin(gaps, now);
  }

  private beginCatchUp(to: number): void {
    const { status, now } = this.deps;
    beginWork(status, { kind: 'catch_up', from: this.follower.tip.number + 1, to }, now());
  }

  /** Stores blocks cursor + 1 … to straight into the final tables. They are final because they lie under `proof`. */
  async backfill(to: number, proof: Pick<BlockRef, 'number' | 'hash'>): Promise<void> {
    const { status, log, now, terminal, source } = this.deps;
    const { batchLogs, batchBlocks, batchMs } = this.limits;
    status.phase = 'backfill';
    this.reader.rewindTo(this.cursor.number);
    const from = this.cursor.number + 1;
    const progress = startProgress({ from, to, log, now, terminal });
    // One batch is filled while the other is being written.
    let batch = new RowBatch();
    let spare = new RowBatch();
    let since = now();
    let last: Pick<BlockRef, 'number' | 'hash'> = this.cursor;
    let writing: Promise<void> = Promise.resolve();
    const flush = async (): Promise<void> => {
      await writing;
      if (batch.blocks === 0) return;
      await proveFinal(source, last, proof, this.signal);
      const full = batch;
      batch = spare;
      spare = full;
      since = now();
      writing = this.writeBatch(full).then((logs) => progress.step(this.cursor.number, logs));
      writing.catch(() => undefined);
    };
    try {
      for await (const blocks of fetchAhead(source, from, to, {
        signal: this.signal,
        blocksMax: batchBlocks,
      })) {
        await this.reader.read(blocks, last, false, this.signal, (rows) => batch.add(rows));
        last = blocks.at(-1) ?? last;
        if (batch.logs >= batchLogs || batch.blocks >= batchBlocks || now() - since > batchMs) await flush();
      }
      await flush();
    } finally {
      await writing;
      progress.end();
    }
    this.follower = new HeadFollower(baseOf(this.cursor));
    this.forgetBelow(this.cursor.number);
  }

  /** Returns how many logs were stored. */
  private async writeBatch(batch: RowBatch): Promise<number> {
    this.cursor = await this.deps.store.writeRange(this.nextSeq(), batch);
    const { counts, logs } = batch;
    this.count(counts);
    this.watch?.add(counts);
    batch.reset();
    this.report(null);
    return logs;
  }

  /** Commits one step of the head: an append, or a whole new branch at once. */
  private async extend(step: Extension, finalNumber: number): Promise<void> {
    const { store, log, status } = this.deps;
    const last = step.blocks.at(-1);
    if (step.forkNumber !== null) {
      this.reader.rewindTo(step.forkNumber);
      const depth = step.removed.length;
      status.reorgs.set(depth, (status.reorgs.get(depth) ?? 0) + 1);
      log.warn({ forkNumber: step.forkNumber, depth, to: last?.hash }, 'reorg');
    }
    const first = step.blocks[0];
    const parent = first === undefined ? this.follower.tip : this.parentOf(first);
    const all: BlockRows[] = [];
    await this.reader.read(step.blocks, parent, true, this.signal, (rows) => all.push(rows));
    for (const rows of all) this.counts.set(rows.ref.hash, countRows([rows]));
    const tip = last?.number ?? step.forkNumber ?? this.follower.tip.number;
    const changed = all.findIndex((rows) => this.live.get(rows.ref.number)?.hash !== rows.ref.hash);
    if (changed === -1 && step.forkNumber === null) return;
    const blocks = changed === -1 ? [] : all.slice(changed);
    const fresh = blocks
      .filter((rows) => !this.commits.has(rows.ref.hash))
      .map((rows) => ({ rows, commit: this.deps.newCommit() }));
    const freshByHash = new Map(fresh.map(({ rows, commit }) => [rows.ref.hash, commit]));
    const canonical = blocks.map(({ ref }) => ({
      ...ref,
      commit: this.commits.get(ref.hash) ?? freshByHash.get(ref.hash) ?? 0,
    }));
    const voided = this.heightsAbove(tip);
    if (canonical.length === 0 && voided.length === 0) return;
    this.version += 1;
    const flip = { fresh, canonical, voided, version: this.version, finalNumber: Math.min(finalNumber, tip) };
    await store.writeHead(flip);
    for (const block of canonical) {
      this.live.set(block.number, block);
      this.commits.set(block.hash, block.commit);
    }
    for (const number of voided) this.live.delete(number);
    this.strayTo = 0;
    this.count(countRows(fresh.map(({ rows }) => rows)));
    status.indexed = tip;
    status.lastCommitAt = this.deps.now();
  }

  /** Heights at which the store holds a block above the new tip, also those that no longer link to what is below. */
  private heightsAbove(tip: number): number[] {
    const top = Math.max(this.strayTo, ...this.live.keys());
    return Array.from({ length: Math.max(0, top - tip) }, (_, index) => tip + 1 + index);
  }

  private parentOf(block: BlockRef): Pick<BlockRef, 'number' | 'hash'> {
    const parent = this.follower.blockAt(block.number - 1);
    return parent ?? { number: block.number - 1, hash: block.parentHash };
  }

  /** Moves final blocks out of the head, some at a time. */
  private async promote(final: number): Promise<void> {
    while (final - this.cursor.number >= this.limits.promoteMinBlocks) {
      const to = Math.min(final, this.cursor.number + this.limits.promoteMaxBlocks);
      const blocks = this.liveRange(this.cursor.number + 1, to);
      const last = blocks.at(-1);
      if (last === undefined) return;
      const intent: OpenIntent = {
        seq: this.nextSeq(),
        kind: 'promotion',
        from: this.cursor.number + 1,
        to,
        toHash: last.hash,
        toTimestamp: last.timestamp,
        counts: sumCounts(blocks.map((block) => this.counts.get(block.hash))),
      };
      beginWork(this.deps.status, { kind: 'promotion', from: intent.from, to }, this.deps.now());
      this.cursor = await this.deps.store.promote(
        intent,
        blocks.map((block) => block.commit),
      );
      endWork(this.deps.status, 'promotion');
      this.watch?.add(intent.counts);
      this.forgetBelow(to);
      const below = to - this.limits.headKeptBlocks;
      if (below - this.droppedBelow > this.limits.headKeptBlocks / 4) {
        await this.deps.store.dropHeadBelow(below);
        this.droppedBelow = below;
      }
    }
  }

  private liveRange(from: number, to: number): StoredHead[] {
    const blocks: StoredHead[] = [];
    for (let number = from; number <= to; number += 1) {
      const block = this.live.get(number);
      if (block === undefined)
        throw new AppError('broken_invariant', `block ${number} is final and not in the head`);
      blocks.push(block);
    }
    return blocks;
  }

  private async replayBackfill(intent: OpenIntent): Promise<void> {
    const { log, source, store } = this.deps;
    log.warn({ from: intent.from, to: intent.to }, 'replaying the range that was being stored');
    this.beginCatchUp(intent.to);
    const batch = new RowBatch();
    let last: Pick<BlockRef, 'number' | 'hash'> = this.cursor;
    for await (const blocks of fetchAhead(source, intent.from, intent.to, { signal: this.signal })) {
      await this.reader.read(blocks, last, false, this.signal, (rows) => batch.add(rows));
      last = blocks.at(-1) ?? last;
    }
    if (last.hash !== intent.toHash) throw beyondFinality({ number: intent.to, hash: intent.toHash }, last);
    this.cursor = await store.writeRange(intent.seq, batch);
    await store.auditRange(intent);
    this.follower = new HeadFollower(baseOf(this.cursor));
    this.forgetBelow(this.cursor.number);
  }

  private forgetBelow(number: number): void {
    for (const height of this.live.keys()) if (height <= number) this.live.delete(height);
    if (this.commits.size > 4 * this.limits.headKeptBlocks) {
      const kept = new Set([...this.live.values()].map((block) => block.hash));
      for (const hash of this.commits.keys()) if (!kept.has(hash)) this.commits.delete(hash);
      for (const hash of this.counts.keys()) if (!kept.has(hash)) this.counts.delete(hash);
    }
  }

  private count(counts: Readonly<Record<'blocks' | 'logs' | 'swaps', number>>): void {
    const { status } = this.deps;
    status.blocks += counts.blocks;
    status.logs += counts.logs;
    status.swaps += counts.swaps;
  }

  private report(nodeHead: number | null): void {
    const { status, now } = this.deps;
    status.finalTo = this.cursor.number;
    status.indexed = Math.max(this.cursor.number, ...this.live.keys());
    if (nodeHead !== null) status.nodeHead = nodeHead;
    status.lastCommitAt = now();
  }
}

function baseOf(cursor: Cursor): BlockRef {
  const { number, hash, timestamp } = cursor;
  // The cursor's own parent is final and never asked for.
  return { number, hash, parentHash: hash, timestamp };
}

async function replayPromotion(
  deps: SessionDeps,
  stored: StoredState,
  intent: OpenIntent,
): Promise<StoredState> {
  deps.log.warn({ from: intent.from, to: intent.to }, 'replaying the promotion that was under way');
  const blocks = stored.head.filter((block) => block.number >= intent.from && block.number <= intent.to);
  if (blocks.at(-1)?.hash !== intent.toHash || blocks.length !== intent.to - intent.from + 1) {
    throw new AppError(
      'broken_invariant',
      `the head does not hold blocks ${intent.from}-${intent.to} to be promoted`,
    );
  }
  beginWork(deps.status, { kind: 'promotion', from: intent.from, to: intent.to }, deps.now());
  await deps.store.promote(
    intent,
    blocks.map((block) => block.commit),
  );
  await deps.store.auditRange(intent);
  endWork(deps.status, 'promotion');
  const after = await deps.store.loadState();
  if (after === null) throw new AppError('broken_invariant', 'the cursor is gone after a promotion');
  return after;
}
