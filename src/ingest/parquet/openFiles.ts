/** Finds the Parquet files of a backfill by their patterns, and reads what their footers say. */
import { AppError } from '../../errors';
import { chooseColumns, findDataset } from './datasets';
import { PARQUET_FILES_MAX, type FindPlace, type OpenFile } from './filePlace';
import { FilePlan, type ParquetFile } from './filePlan';
import { fileFault } from './parquetRows';
import type { Footer, Staging } from './staging';

/** Number of footers that are read at the same time. */
const READERS = 4;
/** Largest block number, so that positions of logs are exact. */
const BLOCK_MAX = 2 ** 31 - 1;
/** The range of blocks in a file name of cryo: `ethereum__logs__00001000_to_00001999.parquet`. */
const CRYO_RANGE = /__(\d{1,10})_to_(\d{1,10})\.parquet$/;

/**
 * Lists the files of the patterns, each once, in alphabetical order. A pattern is a file, a folder, or a path whose last
 * part contains `*`. @throws AppError `bad_config` if a pattern matches no file
 */
export async function listFiles(
  patterns: readonly string[],
  placeOf: FindPlace,
  signal: AbortSignal,
): Promise<string[]> {
  const allPaths = new Set<string>();
  for (const pattern of patterns) {
    const paths = await placeOf(pattern).list(pattern, signal);
    if (paths.length === 0)
      throw new AppError(
        'bad_config',
        `--parquet ${pattern}: no file matches; allowed: a file, a folder, or a path such as 'dir/*.parquet' or 's3://bucket/dir/*.parquet'`,
      );
    for (const path of paths) allPaths.add(path);
  }
  if (allPaths.size > PARQUET_FILES_MAX)
    throw new AppError(
      'bad_config',
      `--parquet: got ${allPaths.size} files; allowed: at most ${PARQUET_FILES_MAX}`,
    );
  return [...allPaths].toSorted();
}

/** Reads the footers of all files. @throws AppError `bad_config` if a file cannot be used */
export async function planFiles(
  staging: Staging,
  paths: readonly string[],
  placeOf: FindPlace,
  signal: AbortSignal,
): Promise<FilePlan> {
  const files: ParquetFile[] = [];
  let nextIndex = 0;
  const work = async (): Promise<void> => {
    for (let index = nextIndex++; index < paths.length; index = nextIndex++) {
      signal.throwIfAborted();
      const path = paths[index];
      if (path === undefined) return;
      const file = await placeOf(path).open(path, signal);
      const footer = await readFooter(path, file).finally(() => file.close());
      files.push(describe(index, path, await staging.readFooter(index, path, footer, signal)));
    }
  };
  await Promise.all(Array.from({ length: READERS }, work));
  return new FilePlan(files);
}

function describe(number: number, path: string, { rows, columns, blocks }: Footer): ParquetFile {
  const dataset = findDataset(path, columns);
  const [, firstInName, lastInName] = CRYO_RANGE.exec(path) ?? [];
  const range = firstInName === undefined ? blocks : { from: Number(firstInName), to: Number(lastInName) };
  if (range === null)
    throw fileFault(
      path,
      'the range of blocks is unknown',
      'statistics of block_number (cryo without --no-stats), or a name of cryo such as x__logs__0_to_999.parquet',
    );
  if (range.from > range.to || range.to > BLOCK_MAX)
    throw fileFault(path, `the range is ${range.from} to ${range.to}`, `blocks 0 to ${BLOCK_MAX}, ascending`);
  return { number, path, dataset, rows, columns: chooseColumns(path, dataset, columns), ...range };
}

/** Largest file in bytes. ClickHouse keeps a file in memory while it stores the rows. */
const FILE_BYTES_MAX = 512 * 2 ** 20;
const FOOTER_BYTES_MAX = 32 * 2 ** 20;
const MAGIC = Buffer.from('PAR1');
/** A file starts with the magic number. */
const START_BYTES = 4;
/** A file ends with the length of its footer and the magic number. */
const END_BYTES = 8;

/**
 * Returns the footer between two magic numbers, which is a Parquet file without data.
 * @throws AppError `bad_config` if the file is not a whole Parquet file
 */
async function readFooter(path: string, file: OpenFile): Promise<Buffer> {
  const { size } = file;
  const fail = (got: string, allowed: string): AppError =>
    new AppError('bad_config', `${path}: ${got}; allowed: ${allowed}`);
  if (size > FILE_BYTES_MAX)
    throw fail(
      `the file has ${size} bytes`,
      `at most ${FILE_BYTES_MAX} (cryo writes smaller files with a smaller --chunk-size)`,
    );
  const fileStart = await file.read(0, START_BYTES);
  if (!fileStart.equals(MAGIC)) throw fail('the file does not begin with PAR1', 'a Parquet file');
  const fileEnd =
    size < START_BYTES + END_BYTES ? Buffer.alloc(0) : await file.read(size - END_BYTES, END_BYTES);
  if (!fileEnd.subarray(END_BYTES - MAGIC.length).equals(MAGIC))
    throw fail('the file does not end with PAR1', 'a whole Parquet file; this file is cut off');
  const footerBytes = fileEnd.readUInt32LE(0);
  if (footerBytes > Math.min(FOOTER_BYTES_MAX, size - START_BYTES - END_BYTES))
    throw fail(`the footer has ${footerBytes} bytes`, 'a footer within the file, of at most 32 MiB');
  return Buffer.concat([MAGIC, await file.read(size - END_BYTES - footerBytes, footerBytes + END_BYTES)]);
}
