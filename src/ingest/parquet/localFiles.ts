/** Parquet files in folders of this machine. */
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { AppError, errorText } from '../../errors';
import { namePattern, type FilePlace, type OpenFile } from './filePlace';

async function list(pattern: string): Promise<string[]> {
  const stats = await stat(pattern).catch(() => null);
  if (stats?.isFile() === true) return [pattern];
  const [folder, name] =
    stats?.isDirectory() === true ? [pattern, '*.parquet'] : [dirname(pattern), basename(pattern)];
  const nameTest = namePattern(name);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory() && nameTest.test(entry.name))
    .map((entry) => join(folder, entry.name));
}

async function openLocal(path: string): Promise<OpenFile> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new AppError('bad_config', `${path}: the file cannot be opened (${errorText(error)})`);
  });
  const stats = await file.stat();
  if (!stats.isFile()) {
    await file.close();
    throw new AppError('bad_config', `${path}: got no file; allowed: a Parquet file`);
  }
  return {
    size: stats.size,
    async read(from, bytes) {
      const buffer = Buffer.alloc(bytes);
      const { bytesRead } = await file.read(buffer, 0, bytes, from);
      return buffer.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}

export const LOCAL_FILES: FilePlace = {
  list,
  open: openLocal,
  stream: (path) => Promise.resolve(createReadStream(path)),
};
