/**
 * A worker of a backfill: fetches and proves blocks ahead of the writer, and stages them piece by piece. Needs no order and
 * no knowledge of pools or prices. Any number of workers, on any machines, may work on a range, and each may end at any
 * moment: one insert stages a piece, and another worker takes over a claimed piece that is not staged in time.
 */
import type { BlockSource } from '../../node/blocks/blockSource';
import { checkLinks } from '../../node/blocks/checkBlocks';
import type { Clock } from '../../node/rpc/clock';
import type { ChainBlock } from '../../domain/block';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { fetchAhead } from '../session/fetchAhead';
import type { FinalTip } from '../../node/head/finality';
import { pieceOf, spanOfPiece, type Span, type StagedBlocks } from './stagedBlocks';

interface WorkerOptions {
  readonly source: BlockSource;
  readonly tip: Pick<FinalTip, 'reaches'>;
  readonly staged: StagedBlocks;
  /** Last block that the writer has stored; null if it has not begun. */
  readonly readFinalTo: () => Promise<number | null>;
  readonly range: Span;
  readonly log: Logger;
  readonly clock: Clock;
  /** Index of the next piece among the free ones, which are ascending. The default is the first. */
  readonly choose?: ((free: readonly number[]) => number) | undefined;
}

/** Largest number of pieces beyond the blocks that the writer has stored. The writer itself reads up to 90 ahead. */
const AHEAD_MAX = 256;
/** Largest number of pieces if the staged blocks have more bytes than BYTES_MAX: of such blocks, the writer reads few ahead. */
const LARGE_AHEAD_MAX = 32;
const BYTES_MAX = 2 ** 30;
/** Pause in ms if all pieces are staged or claimed. */
const IDLE_MS = 250;
const RETRY_MS = 2_000;

export class StageWorker {
  private readonly id: bigint;
  /** The piece that is being written. */
  private writing: { readonly piece: number; readonly done: Promise<void> } | null = null;
  private blocks = 0;

  constructor(private readonly options: WorkerOptions) {
    this.id = BigInt(1 + Math.floor(options.clock.random() * 2 ** 52));
  }

  /** Runs until the writer has stored the range, or the signal aborts. @throws AppError `bad_config` */
  async run(signal: AbortSignal): Promise<void> {
    const { range, log, clock } = this.options;
    log.info(range, 'staging blocks for a backfill');
    while (!signal.aborted) {
      try {
        await this.stage(signal);
        log.info({ ...range, blocks: this.blocks }, 'all blocks are stored; the worker ends');
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof AppError && error.code === 'bad_config') throw error;
        log.warn({ error: errorText(error), retryInMs: RETRY_MS }, 'staging blocks failed; retrying');
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  private async stage(signal: AbortSignal): Promise<void> {
    const { staged, clock } = this.options;
    this.writing = null;
    for (;;) {
      const piece = await this.claimNext(signal);
      // The writer may drop the tables while the last piece is written.
      if (piece === 'stored') return this.finishWriting().catch(() => undefined);
      if (piece === null) {
        await this.finishWriting();
        await clock.sleep(IDLE_MS, signal);
        continue;
      }
      const blocks = await this.fetch(piece, signal);
      await this.finishWriting();
      const writing = staged.write(piece, blocks).then(() => void (this.blocks += blocks.length));
      writing.catch(() => undefined);
      this.writing = { piece, done: writing };
    }
  }

  private async finishWriting(): Promise<void> {
    await this.writing?.done;
    this.writing = null;
  }

  /** The next piece to fetch, which this worker has claimed; null if all are taken now; `stored` if the range is stored. */
  private async claimNext(signal: AbortSignal): Promise<number | 'stored' | null> {
    const { staged, tip, range, readFinalTo, choose = () => 0 } = this.options;
    for (;;) {
      signal.throwIfAborted();
      const finalTo = await readFinalTo();
      if (finalTo !== null && finalTo >= range.to) return 'stored';
      const firstPiece = pieceOf(Math.max(range.from, (finalTo ?? 0) + 1));
      const listed = await staged.list(firstPiece, firstPiece + AHEAD_MAX - 1);
      const reserved = listed.filter(({ bytes, owner }) => bytes === 0 && owner === this.id);
      const ownPiece = reserved.find(({ piece }) => piece !== this.writing?.piece);
      if (ownPiece !== undefined) return ownPiece.piece;
      const stagedBytes = listed.reduce((sum, listedPiece) => sum + listedPiece.bytes, 0);
      const aheadMax = stagedBytes > BYTES_MAX ? LARGE_AHEAD_MAX : AHEAD_MAX;
      const takenPieces = new Set(
        listed
          .filter((listedPiece) => listedPiece.bytes > 0 || listedPiece.owner > 0n)
          .map(({ piece }) => piece),
      );
      const piecesAhead = Array.from({ length: aheadMax }, (_, index) => firstPiece + index);
      const freePieces = piecesAhead.filter((piece) => piece <= pieceOf(range.to) && !takenPieces.has(piece));
      const piece = freePieces[choose(freePieces)];
      if (piece === undefined) return null;
      if (!(await tip.reaches(spanOfPiece(piece, range).to, signal))) return null;
      await staged.claim(piece, this.id);
      // Another worker may have claimed the piece at the same time, so the next list tells whose it is.
    }
  }

  private async fetch(piece: number, signal: AbortSignal): Promise<readonly ChainBlock[]> {
    const { source, range } = this.options;
    const { from, to } = spanOfPiece(piece, range);
    const blocks: ChainBlock[] = [];
    for await (const fetched of fetchAhead(source, from, to, { signal })) blocks.push(...fetched);
    checkLinks(blocks);
    return blocks;
  }
}
