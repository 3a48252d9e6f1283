/**
 * A block source that takes blocks from the pieces that workers have staged, and waits for them while workers run. The
 * node must have the last block of a piece: then all blocks of the piece are on the node's chain, because each names the
 * hash of the block before it. Pieces that do not pass the checks, or do not come, are read from the node.
 */
import { BlockMismatch } from '../../node/blocks/blockMismatch';
import type { BlockSource } from '../../node/blocks/blockSource';
import { checkPiece } from '../../node/blocks/checkBlocks';
import type { Clock } from '../../node/rpc/clock';
import { isWeaker, type ChainBlock, type ProofMode } from '../../domain/block';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { decodeBlocks } from './blockCodec';
import type { FinalTip } from '../../node/head/finality';
import { NodeBackedSource, type RangeBounds } from './nodeBackedSource';
import { PIECE_BLOCKS, pieceOf, spanOfPiece, type Span, type StagedBlocks } from './stagedBlocks';

interface StagedSourceOptions {
  readonly node: BlockSource;
  readonly staged: Pick<StagedBlocks, 'read' | 'dropPieces' | 'create'>;
  readonly proof: ProofMode;
  readonly tip: Pick<FinalTip, 'reaches'>;
  /** Last block that the writer has stored; null if it has not begun. */
  readonly readFinalTo: () => Promise<number | null>;
  /** Whether a worker may still stage the blocks. */
  readonly hasWorkers: () => boolean;
  /** The whole range that the workers stage. */
  readonly range: Span;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Longest time in ms to wait for a piece. */
  readonly patienceMs?: number | undefined;
}

interface Part extends Span {
  readonly piece: number;
}

/** Longer than a claim lasts, so that another worker can take over the piece of a worker that has ended. */
const PATIENCE_MS = 60_000;
const POLL_MS = 50;
/** Shortest time in ms between two looks for pieces to drop. */
const SWEEP_MS = 2_000;
/** Number of pieces below the stored blocks that are looked at: workers that resume late may stage them again. */
const SWEPT_MAX = 1_000;

export class StagedSource extends NodeBackedSource<Part> {
  private readonly loadingPieces = new Map<number, Promise<readonly ChainBlock[] | null>>();
  /** The piece of each staged block in use. */
  private readonly origins = new WeakMap<ChainBlock, number>();
  /** Pieces with wrong blocks. Workers may stage the same blocks again. */
  private readonly refused = new Set<number>();
  private sweptAt = -Infinity;
  private isPatient = true;

  constructor(private readonly options: StagedSourceOptions) {
    super(options.node);
  }

  /** Number of blocks that workers have fetched, and that the writer itself has fetched. */
  get counts(): { readonly workers: number; readonly node: number } {
    return { workers: this.readCounts.elsewhere, node: this.readCounts.node };
  }

  /** A staged block has no signatures, so the node sends the block again. Few blocks need this check. */
  override async checkSenders(block: ChainBlock, indexes: ReadonlySet<number>): Promise<void> {
    const piece = this.origins.get(block);
    if (piece === undefined) return super.checkSenders(block, indexes);
    if (block.proof !== 'full') return;
    const { number, hash, transactions } = block;
    const [nodeBlock] = await this.node.fetchRange(number, number, { signal: this.options.signal });
    if (nodeBlock === undefined) return;
    await this.node.checkSenders(nodeBlock, indexes);
    const isWrong = [...indexes].some(
      (index) => nodeBlock.transactions[index]?.from !== transactions[index]?.from,
    );
    if (nodeBlock.hash === hash && !isWrong) return;
    await this.refuse(piece, `block ${number} has a wrong sender`);
    throw new AppError('node_failed', `the staged block ${number} has a wrong sender; reading it again`);
  }

  override async fetchRange(...args: Parameters<BlockSource['fetchRange']>): Promise<ChainBlock[]> {
    const blocks = await super.fetchRange(...args);
    const [, to] = args;
    for (const piece of this.loadingPieces.keys())
      if (spanOfPiece(piece, this.options.range).to <= to) this.loadingPieces.delete(piece);
    return blocks;
  }

  protected cut(from: number, to: number): readonly Part[] {
    const count = pieceOf(to) - pieceOf(from) + 1;
    return Array.from({ length: count }, (_, index) => {
      const piece = pieceOf(from) + index;
      return { piece, ...spanOfPiece(piece, { from, to }) };
    });
  }

  protected async readPart(
    part: Part,
    { notBefore, parent }: RangeBounds,
    signal = this.options.signal,
  ): Promise<readonly ChainBlock[] | null> {
    const loading = this.loadingPieces.get(part.piece) ?? this.load(part, signal);
    this.loadingPieces.set(part.piece, loading);
    // A failed piece is loaded again by the next session.
    loading.catch(() => this.loadingPieces.delete(part.piece));
    const piece = await loading;
    const firstNumber = piece?.[0]?.number ?? Infinity;
    const blocks = piece?.slice(part.from - firstNumber, part.to - firstNumber + 1) ?? [];
    if (part.from < firstNumber || blocks.length < part.to - part.from + 1) return null;
    return faultOf(blocks, { notBefore, parent }) === null ? blocks : null;
  }

  /** Waits for a piece. Resolves to null if the node shall send its blocks. */
  private async load({ piece, from, to }: Part, signal: AbortSignal): Promise<readonly ChainBlock[] | null> {
    const { staged, clock, log, patienceMs = PATIENCE_MS } = this.options;
    for (const waitingSince = clock.now(); !this.refused.has(piece);) {
      await this.sweep();
      const body = await this.orCreateTables(() => staged.read(piece, { from, to }));
      if (body !== null) {
        this.isPatient = true;
        return this.checkStaged(piece, body, signal);
      }
      if (!this.isPatient || !(await this.isComing(piece, signal))) return null;
      if (clock.now() - waitingSince > patienceMs) {
        log.warn({ from, to }, 'no worker has staged the next blocks; reading them from the node');
        this.isPatient = false;
      } else await clock.sleep(POLL_MS, signal);
    }
    return null;
  }

  /** Workers stage only whole pieces of final blocks. */
  private async isComing(piece: number, signal: AbortSignal): Promise<boolean> {
    const { hasWorkers, tip, range } = this.options;
    return hasWorkers() && (await tip.reaches(spanOfPiece(piece, range).to, signal));
  }

  private async checkStaged(
    piece: number,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<readonly ChainBlock[] | null> {
    const blocks = orFault(() => decodeBlocks(body));
    if (typeof blocks === 'string') return this.refuse(piece, blocks);
    const lastBlock = blocks.at(-1);
    const fault = faultOf(blocks, { notBefore: 0, parent: undefined });
    if (lastBlock === undefined || fault !== null) return this.refuse(piece, fault ?? 'no blocks');
    const { proof: mode } = this.options;
    const weakBlock =
      mode === 'auto' ? undefined : blocks.find(({ proof = 'bloom' }) => isWeaker(proof, mode));
    if (weakBlock !== undefined) return this.refuse(piece, `block ${weakBlock.number} is not proven enough`);
    const { hash } = await this.node.fetchHeader(lastBlock.number, { signal });
    if (hash !== lastBlock.hash)
      return this.refuse(piece, `block ${lastBlock.number} is ${lastBlock.hash}, but the node has ${hash}`);
    for (const block of blocks) this.origins.set(block, piece);
    return blocks;
  }

  private async refuse(piece: number, reason: string): Promise<null> {
    const { staged, log } = this.options;
    this.refused.add(piece);
    log.warn({ from: piece * PIECE_BLOCKS, reason }, 'staged blocks are wrong; the node sends them again');
    await staged.dropPieces(piece, piece);
    return null;
  }

  /** Drops the pieces that are stored. */
  private async sweep(): Promise<void> {
    const { clock, staged, readFinalTo } = this.options;
    if (clock.now() - this.sweptAt < SWEEP_MS) return;
    this.sweptAt = clock.now();
    const lastStoredPiece = pieceOf(((await readFinalTo()) ?? 0) + 1) - 1;
    if (lastStoredPiece < 0) return;
    await this.orCreateTables(async () => {
      await staged.dropPieces(Math.max(0, lastStoredPiece - SWEPT_MAX + 1), lastStoredPiece);
      return null;
    });
  }

  /**
   * Another backfill may have dropped the tables at its end. The tables are then empty again. Every other failure of a query
   * that would fail again is treated alike: creating tables that exist changes nothing.
   */
  private async orCreateTables<T>(run: () => Promise<T | null>): Promise<T | null> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof AppError) || error.retryable) throw error;
      await this.options.staged.create();
      return null;
    }
  }
}

function faultOf(blocks: readonly ChainBlock[], bounds: RangeBounds): string | null {
  const fault = orFault(() => checkPiece(blocks, bounds));
  return typeof fault === 'string' ? fault : null;
}

/** Returns the result of `run`, or what is wrong with the blocks. */
function orFault<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof BlockMismatch || error instanceof RangeError) return errorText(error);
    throw error;
  }
}
