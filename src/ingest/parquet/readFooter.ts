/** Reads the footer of a Parquet file: the end of the file, which describes its columns and row groups. */
import { AppError } from '../../errors';
import type { OpenFile } from './filePlace';

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
export async function readFooter(path: string, file: OpenFile): Promise<Buffer> {
  const { size } = file;
  const fail = (got: string, allowed: string): AppError =>
    new AppError('bad_config', `${path}: ${got}; allowed: ${allowed}`);
  if (size > FILE_BYTES_MAX)
    throw fail(
      `the file has ${size} bytes`,
      `at most ${FILE_BYTES_MAX} (cryo writes smaller files with a smaller --chunk-size)`,
    );
  const start = await file.read(0, START_BYTES);
  if (!start.equals(MAGIC)) throw fail('the file does not begin with PAR1', 'a Parquet file');
  const end = size < START_BYTES + END_BYTES ? Buffer.alloc(0) : await file.read(size - END_BYTES, END_BYTES);
  if (!end.subarray(END_BYTES - MAGIC.length).equals(MAGIC))
    throw fail('the file does not end with PAR1', 'a whole Parquet file; this file is cut off');
  const bytes = end.readUInt32LE(0);
  if (bytes > Math.min(FOOTER_BYTES_MAX, size - START_BYTES - END_BYTES))
    throw fail(`the footer has ${bytes} bytes`, 'a footer within the file, of at most 32 MiB');
  return Buffer.concat([MAGIC, await file.read(size - END_BYTES - bytes, bytes + END_BYTES)]);
}
