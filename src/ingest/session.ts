/**
 * One run of the ingester over one store: recover, backfill what is final, follow the head. It keeps nothing that the
 * store or the node could not give again, so any error ends the session and the next one begins by recovering.
 */
import type { BlockHeader, BlockSource } from '../chain/blockSource';
import type { Finality } from '../chain/finality';
import { HeadFollower } from '../chain/follower';
import { syncToHead, type Extension } from '../chain/syncToHead';
import type { BlockRef } from '../domain/block';
import type { Hex } from '../domain/hex';
import { AppError } from '../errors';
import type { Logger } from '../log';
import { BlockReader, type ReaderDeps } from './blockReader';
import { countRows, type BlockRows } from './blockRows';
import { fetchAhead } from './fetchAhead';
import { startProgress } from './progress';
import { RowBatch } from './rowBatch';
import { beyondFinality, checkSameChain } from './sameChain';
import type { IngestStatus } from './status';
import type { Cursor, OpenIntent, StoredHead, StoredState } from './store';

/** Final blocks wait in the head tables until there are this many: fewer, larger inserts. */
const PROMOTE_MIN_BLOCKS = 32;
const PROMOTE_MAX_BLOCKS = 256;
/** Heights kept in the head tables below the final cursor, for readers with an older snapshot. */
const HEAD_KEPT_BLOCKS = 1_024;
/** A batch of a backfill ends at whichever comes first. */
const BATCH_LOGS = 40_000;
const BATCH_BLOCKS = 5_000;
const BATCH_MS = 5_000;
/** How far finality must be beyond our tip before blocks go straight to the final tables. */
const BACKFILL_MIN_BLOCKS = 32;

export interface SessionDeps extends ReaderDeps {
  readonly source: BlockSource;
  readonly finality: Finality;
  readonly status: IngestStatus;
  readonly log: Logger;
  readonly now: () => number;
  /** A number that no earlier commit has. */
  readonly newCommit: () => number;
  readonly terminal?: { readonly isTTY?: boolean; write(text: string): unknown } | undefined;
}

export class IngestSession {
  private cursor: Cursor;
  private version: number;
  private follower: HeadFollower;
  /** What the store holds as canonical above the cursor, by height. */
  private readonly live = new Map<number, StoredHead>();
  private readonly commits: Map<Hex, number>;
  /** Rows by table of each block in the head, for the intents of promotions. */
  private readonly counts = new Map<Hex, Record<string, number>>();
  private readonly reader: BlockReader;
  private droppedBelow = 0;

  private constructor(
    private readonly deps: SessionDeps,
    stored: StoredState,
    private readonly signal: AbortSignal,
  ) {
    this.cursor = stored.cursor;
    this.version = stored.version;
    this.commits = new Map(stored.commits);
    for (const block of stored.head) this.live.set(block.number, block);
    this.follower = new HeadFollower(baseOf(stored.cursor));
    this.reader = new BlockReader(deps, stored.startBlock);
  }

  /** Recovers: replays an open intent, loads pools, checks that the node's chain is the stored one. */
  static async open(
    deps: SessionDeps,
    base: () => Promise<BlockRef>,
    signal: AbortSignal,
  ): Promise<IngestSession> {
    deps.status.phase = 'recovering';
    let stored = await deps.store.loadState();
    if (stored === null) {
      await deps.store.writeStart(await base());
      stored = await deps.store.loadState();
    }
    if (stored === null)
      throw new AppError('broken_invariant', 'the start was written and cannot be read back');
    await checkSameChain(deps.source, stored.cursor, signal);
    if (stored.intent?.kind === 'promotion') stored = await replayPromotion(deps, stored, stored.intent);
    const session = new IngestSession(deps, stored, signal);
    await session.load(stored.intent !== null);
    if (stored.intent !== null) await session.replayBackfill(stored.intent);
    session.report(null);
    return session;
  }

  get finalTo(): number {
    return this.cursor.number;
  }

  /** Takes the store to the node's head. */
  async advanceTo(head: BlockHeader): Promise<void> {
    const { finality, status, source } = this.deps;
    status.nodeHead = head.number;
    const final = await finality.finalAt(head, this.signal);
    if (final.number > this.follower.tip.number + BACKFILL_MIN_BLOCKS) await this.backfill(final.number);
    status.phase = 'follow';
    for await (const step of syncToHead(source, this.follower, head, { signal: this.signal })) {
      await this.extend(step, final.number);
    }
    this.follower.finalise(final.number, final.hash ?? undefined);
    await this.promote(Math.min(final.number, this.follower.tip.number));
    this.reader.settle(this.cursor.number);
    this.report(head.number);
  }

  private async load(exact: boolean): Promise<void> {
    const pools = await this.reader.load(this.cursor, exact);
    this.deps.log.info({ pools, finalTo: this.cursor.number, head: this.live.size }, 'recovered');
  }

  /** Stores blocks cursor + 1 … to straight into the final tables. */
  async backfill(to: number): Promise<void> {
    const { status, log, now, terminal, source } = this.deps;
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
      const full = batch;
      batch = spare;
      spare = full;
      since = now();
      writing = this.writeBatch(full).then((logs) => progress.step(this.cursor.number, logs));
      writing.catch(() => undefined);
    };
    try {
      for await (const blocks of fetchAhead(source, from, to, { signal: this.signal })) {
        await this.reader.read(blocks, last, false, this.signal, (rows) => batch.add(rows));
        last = blocks.at(-1) ?? last;
        if (batch.logs >= BATCH_LOGS || batch.blocks >= BATCH_BLOCKS || now() - since > BATCH_MS)
          await flush();
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
    this.cursor = await this.deps.store.writeRange(this.cursor.seq + 1, batch);
    const { counts, logs } = batch;
    this.count(counts);
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
    const voided = [...this.live.keys()].filter((number) => number > tip);
    if (canonical.length === 0 && voided.length === 0) return;
    this.version += 1;
    const flip = { fresh, canonical, voided, version: this.version, finalNumber: Math.min(finalNumber, tip) };
    await store.writeHead(flip);
    for (const block of canonical) {
      this.live.set(block.number, block);
      this.commits.set(block.hash, block.commit);
    }
    for (const number of voided) this.live.delete(number);
    this.count(countRows(fresh.map(({ rows }) => rows)));
    status.indexed = tip;
    status.lastCommitAt = this.deps.now();
  }

  private parentOf(block: BlockRef): Pick<BlockRef, 'number' | 'hash'> {
    const parent = this.follower.blockAt(block.number - 1);
    return parent ?? { number: block.number - 1, hash: block.parentHash };
  }

  /** Moves final blocks out of the head, some at a time. */
  private async promote(final: number): Promise<void> {
    while (final - this.cursor.number >= PROMOTE_MIN_BLOCKS) {
      const to = Math.min(final, this.cursor.number + PROMOTE_MAX_BLOCKS);
      const blocks = this.liveRange(this.cursor.number + 1, to);
      const last = blocks.at(-1);
      if (last === undefined) return;
      const intent: OpenIntent = {
        seq: this.cursor.seq + 1,
        kind: 'promotion',
        from: this.cursor.number + 1,
        to,
        toHash: last.hash,
        toTimestamp: last.timestamp,
        counts: sumCounts(blocks.map((block) => this.counts.get(block.hash))),
      };
      this.cursor = await this.deps.store.promote(
        intent,
        blocks.map((block) => block.commit),
      );
      this.forgetBelow(to);
      const below = to - HEAD_KEPT_BLOCKS;
      if (below - this.droppedBelow > HEAD_KEPT_BLOCKS / 4) {
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
    if (this.commits.size > 4 * HEAD_KEPT_BLOCKS) {
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

function sumCounts(all: readonly (Readonly<Record<string, number>> | undefined)[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    if (counts === undefined) throw new AppError('broken_invariant', 'a final block was never decoded');
    for (const [table, count] of Object.entries(counts)) sums[table] = (sums[table] ?? 0) + count;
  }
  return sums;
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
  await deps.store.promote(
    intent,
    blocks.map((block) => block.commit),
  );
  await deps.store.auditRange(intent);
  const after = await deps.store.loadState();
  if (after === null) throw new AppError('broken_invariant', 'the cursor is gone after a promotion');
  return after;
}
