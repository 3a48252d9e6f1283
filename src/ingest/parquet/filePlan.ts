/**
 * Which blocks the Parquet files cover. A block is covered if a file of each dataset covers it. Pure.
 */
import { AppError } from '../../errors';
import { DATASET_NAMES, type DatasetName, type ReadColumns } from './datasets';

/** A file, and the blocks that it covers. */
export interface ParquetFile {
  readonly number: number;
  readonly path: string;
  readonly dataset: DatasetName;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly columns: ReadColumns;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A part of a range: covered by these files, or by none. */
export interface Part extends Span {
  readonly files: readonly ParquetFile[] | null;
}

export class FilePlan {
  private readonly filesByDataset: ReadonlyMap<DatasetName, readonly ParquetFile[]>;
  /** The covered blocks, ascending and without overlaps. */
  readonly covered: readonly Span[];

  /** @throws AppError `bad_config` if a dataset has no file, or if two files of a dataset cover the same block */
  constructor(readonly files: readonly ParquetFile[]) {
    const sorted = files.toSorted((a, b) => a.from - b.from);
    this.filesByDataset = new Map(
      DATASET_NAMES.map((name) => [name, sorted.filter(({ dataset }) => dataset === name)]),
    );
    for (const [name, datasetFiles] of this.filesByDataset) checkFiles(name, datasetFiles, files.length);
    this.covered = [...this.filesByDataset.values()].map(joinSpans).reduce(intersect);
  }

  /** Number of covered blocks from `from` to `to`. */
  countCovered(from: number, to: number): number {
    return this.covered.reduce(
      (sum, span) => sum + Math.max(0, Math.min(to, span.to) - Math.max(from, span.from) + 1),
      0,
    );
  }

  /** The parts of a range, ascending: covered blocks and gaps. */
  partsOf(from: number, to: number): Part[] {
    const parts: Part[] = [];
    let nextBlock = from;
    for (let index = firstEndingFrom(this.covered, from); nextBlock <= to; index += 1) {
      const span = this.covered[index];
      const partStart = Math.min(to + 1, Math.max(nextBlock, span?.from ?? to + 1));
      if (partStart > nextBlock) parts.push({ from: nextBlock, to: partStart - 1, files: null });
      const partEnd = Math.min(to, span?.to ?? to);
      if (partStart <= partEnd)
        parts.push({ from: partStart, to: partEnd, files: this.filesOf(partStart, partEnd) });
      nextBlock = Math.max(partStart, partEnd + 1);
    }
    return parts;
  }

  /** The next file of each dataset after this block. */
  filesAfter(block: number): ParquetFile[] {
    return [...this.filesByDataset.values()].flatMap((datasetFiles) => {
      const nextFile = datasetFiles[firstEndingFrom(datasetFiles, block + 1)];
      return nextFile === undefined ? [] : [nextFile];
    });
  }

  private filesOf(from: number, to: number): ParquetFile[] {
    return [...this.filesByDataset.values()].flatMap((datasetFiles) => {
      const overlapping: ParquetFile[] = [];
      for (let index = firstEndingFrom(datasetFiles, from); index < datasetFiles.length; index += 1) {
        const file = datasetFiles[index];
        if (file === undefined || file.from > to) break;
        overlapping.push(file);
      }
      return overlapping;
    });
  }
}

/** Index of the first of the ascending spans that ends at `block` or later. */
function firstEndingFrom(spans: readonly Span[], block: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.to ?? 0) < block) low = middle + 1;
    else high = middle;
  }
  return low;
}

function checkFiles(name: DatasetName, files: readonly ParquetFile[], fileCount: number): void {
  if (files.length === 0)
    throw new AppError(
      'bad_config',
      `--parquet: none of the ${fileCount} files has ${name}; allowed: files of blocks, of logs and of transactions`,
    );
  for (const [index, file] of files.entries()) {
    const previous = files[index - 1];
    if (previous === undefined || previous.to < file.from) continue;
    throw new AppError(
      'bad_config',
      `--parquet: ${previous.path} has ${name} of the blocks ${previous.from}-${previous.to}, and ${file.path} of ` +
        `${file.from}-${file.to}; allowed: at most one file of ${name} per block`,
    );
  }
}

function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const { from, to } of spans) {
    const lastSpan = joined.at(-1);
    if (lastSpan !== undefined && lastSpan.to + 1 === from)
      joined[joined.length - 1] = { from: lastSpan.from, to };
    else joined.push({ from, to });
  }
  return joined;
}

function intersect(spans: readonly Span[], otherSpans: readonly Span[]): Span[] {
  const common: Span[] = [];
  let [index, otherIndex] = [0, 0];
  for (;;) {
    const [span, otherSpan] = [spans[index], otherSpans[otherIndex]];
    if (span === undefined || otherSpan === undefined) return common;
    const [from, to] = [Math.max(span.from, otherSpan.from), Math.min(span.to, otherSpan.to)];
    if (from <= to) common.push({ from, to });
    if (span.to < otherSpan.to) index += 1;
    else otherIndex += 1;
  }
}
