/**
 * A block source that takes blocks from Parquet files where files cover them, and all other blocks from the node. Blocks
 * of files pass the same checks as blocks of a node. A file that fails a check is useless to read again, so the error
 * ends the backfill.
 */
import { BloomCheck } from '../../node/blocks/bloomCheck';
import { BlockMismatch } from '../../node/blocks/blockMismatch';
import type { BlockHeader, BlockSource } from '../../node/blocks/blockSource';
import { toChainBlock } from '../../node/blocks/parseBlock';
import { checkFuture, checkPiece } from '../../node/blocks/checkBlocks';
import { isWeaker, type ChainBlock, type ProofLevel, type ProofMode } from '../../domain/block';
import { createSlices } from '../../domain/time/slices';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { NodeBackedSource, type RangeBounds } from '../staged/nodeBackedSource';
import type { FilePlan, ParquetFile, Part } from './filePlan';
import { joinRows, type JoinedBlock } from './joinRows';
import { LoadedFiles } from './loadedFiles';
import { fileFault, type PathOf } from './parquetRows';
import type { RowProver } from './rowProver';
import type { Staging } from './staging';

interface ParquetSourceOptions {
  readonly node: BlockSource;
  readonly plan: FilePlan;
  readonly staging: Pick<Staging, 'load' | 'release' | 'read'>;
  readonly proof: ProofMode;
  /**
   * Proves the blocks of the files, instead of headers of the node and blooms. The staging then must know by the node that
   * the last block of each file of blocks is right, and that the blocks of the file are its ancestors.
   */
  readonly prover?: RowProver;
  /** Last block to read. */
  readonly lastBlock: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Unix time in seconds. */
  readonly timeOfDay: () => number;
}

export interface ParquetSource extends BlockSource {
  /** Number of blocks that were read from files, and from the node. */
  readonly counts: { readonly files: number; readonly node: number };
  /** Resolves when no file is being read. Call after the signal of the source has aborted. */
  idle(): Promise<void>;
}

/** Largest number of blocks that are read from files at once. The node sends at most 1,000 headers at once. */
const PIECE_BLOCKS = 512;
/** Columns without which the headers of the blocks must come from the node. */
const HEADER_COLUMNS = ['parent_hash', 'logs_bloom', 'base_fee_per_gas'];

/** Whether the headers of the blocks of a file must come from the node, because the file cannot prove enough. */
export function needsNodeHeaders({ dataset, columns }: ParquetFile, proof: ProofMode): boolean {
  return dataset === 'blocks' && (proof === 'headers' || HEADER_COLUMNS.some((name) => !columns.has(name)));
}

class FileBlockSource extends NodeBackedSource<Part> implements ParquetSource {
  private readonly loaded: LoadedFiles;
  private readonly paths: ReadonlyMap<number, string>;
  private readonly blooms: Promise<BloomCheck>;

  constructor(private readonly options: ParquetSourceOptions) {
    super(options.node);
    const { staging, plan, log, signal } = options;
    this.blooms = BloomCheck.create(log);
    this.loaded = new LoadedFiles(staging, plan, signal);
    this.paths = new Map(plan.files.map(({ number, path }) => [number, path]));
  }

  get counts(): ParquetSource['counts'] {
    return { files: this.readCounts.elsewhere, node: this.readCounts.node };
  }

  idle(): Promise<void> {
    return this.loaded.idle();
  }

  protected cut(from: number, to: number): readonly Part[] {
    return this.options.plan.partsOf(from, to).flatMap(cutPart);
  }

  protected async readPart(
    part: Part,
    bounds: RangeBounds,
    signal = this.options.signal,
  ): Promise<readonly ChainBlock[] | null> {
    return part.files === null ? null : this.readFiles(part, part.files, bounds, signal);
  }

  private async readFiles(
    part: Part,
    files: readonly ParquetFile[],
    bounds: RangeBounds,
    signal: AbortSignal,
  ): Promise<ChainBlock[]> {
    const { staging, lastBlock, proof, prover, timeOfDay } = this.options;
    const pathOf = (file: number): string => this.paths.get(file) ?? 'a file';
    const [rows, headers] = await this.loaded.use(files, part, lastBlock, () =>
      Promise.all([staging.read(files, part, pathOf), this.listHeaders(part, signal)]),
    );
    const headerByNumber = new Map(headers.map((header) => [header.number, header]));
    const joined = joinRows(rows, part, headerByNumber, pathOf);
    const blooms = await this.blooms;
    const senders = await prover?.recoverSenders(joined);
    // The level of blocks that no prover proves: with PROOF=headers, the node has sent and proven every header.
    const checkedLevel = headerByNumber.size === joined.length && proof === 'headers' ? 'headers' : 'bloom';
    const blocks: ChainBlock[] = [];
    const slices = createSlices();
    for (const block of joined) {
      const { header, transactions, logs, row } = block;
      orFileFault(pathOf(row.file), () => checkFuture(header, timeOfDay()));
      const hasBloom = orFileFault(
        pathOf(logs[0]?.file ?? row.file),
        () => proof !== 'none' && blooms.check(header, logs),
      );
      const proven =
        prover === undefined
          ? checkedLevel
          : this.checkLevel(block, prover.prove(block, pathOf, senders), pathOf);
      // Without a bloom and without the receipts root, nothing shows that all logs of the block are there.
      const isCovered = hasBloom || !isWeaker(proven, 'receipts');
      blocks.push(toChainBlock(header, { transactions, logs, proof: isCovered ? proven : 'none' }));
      await slices.step();
    }
    const blockFiles = files.filter(({ dataset }) => dataset === 'blocks').map(({ path }) => path);
    orFileFault(blockFiles.join(', '), () => checkPiece(blocks, bounds));
    return blocks;
  }

  /** @throws AppError `bad_config` if the rows prove less than PROOF asks for */
  private checkLevel(block: JoinedBlock, level: ProofLevel, pathOf: PathOf): ProofLevel {
    const { proof } = this.options;
    const neededLevel = proof === 'auto' ? 'full' : proof;
    if (!isWeaker(level, neededLevel)) return level;
    const { row, transactions } = block;
    throw fileFault(
      pathOf(transactions[0]?.file ?? row.file),
      `block ${row.block} is proven at the level ${level}`,
      `${neededLevel}, or a weaker setting of PROOF`,
    );
  }

  /** The node's headers of all blocks of the part if the files cannot prove enough, otherwise of its first and last block. */
  private async listHeaders({ from, to, files }: Part, signal: AbortSignal): Promise<BlockHeader[]> {
    const { node, proof, prover } = this.options;
    if (prover !== undefined) return [];
    const needsAll = files?.some((file) => needsNodeHeaders(file, proof)) === true;
    if (needsAll) return node.fetchHeaders(from, to, { signal });
    const endBlocks = from === to ? [from] : [from, to];
    return Promise.all(endBlocks.map((number) => node.fetchHeader(number, { signal })));
  }
}

export function createParquetSource(options: ParquetSourceOptions): ParquetSource {
  return new FileBlockSource(options);
}

function cutPart(part: Part): Part[] {
  const { from, to, files } = part;
  if (files === null) return [part];
  const count = Math.ceil((to - from + 1) / PIECE_BLOCKS);
  return Array.from({ length: count }, (_, index) => {
    const begin = from + index * PIECE_BLOCKS;
    const end = Math.min(to, begin + PIECE_BLOCKS - 1);
    return {
      from: begin,
      to: end,
      files: files.filter((file) => file.from <= end && file.to >= begin),
    };
  });
}

/** Turns a failed check into an error of the file. */
function orFileFault<T>(path: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof BlockMismatch)) throw error;
    throw new AppError('bad_config', `${path}: ${error.message}`, { cause: error });
  }
}
