/** Where a snapshot is: a folder, a bucket, or a folder of an http or https server. */
import { createReadStream } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';

import { AppError, errorText } from '../../errors';
import { isBucketPath, type BucketFiles } from '../parquet/bucketFiles';
import { fileFault } from '../parquet/parquetRows';
import { repeatRequest } from '../parquet/repeatRequest';

/** The files of a snapshot, by their paths within it. */
export interface SnapshotPlace {
  /** All bytes of a file. A failed read ends the stream with an AppError. @throws AppError */
  stream(path: string, signal: AbortSignal): Promise<Readable>;
  /** Stores a file, whole or not at all. @throws AppError `bad_config` for a place that can only be read */
  write(path: string, bytes: Buffer, signal: AbortSignal): Promise<void>;
}

export function openPlace(root: string, bucket: BucketFiles): SnapshotPlace {
  const base = root.replace(/\/+$/, '');
  if (isBucketPath(root))
    return {
      stream: (path, signal) => bucket.stream(`${base}/${path}`, signal),
      write: (path, bytes, signal) => bucket.write(`${base}/${path}`, bytes, signal),
    };
  if (/^https?:\/\//i.test(root)) return openServer(base);
  return {
    stream: (path) => Promise.resolve(Readable.from(readLocal(join(root, path)), { objectMode: false })),
    async write(path, bytes) {
      const target = join(root, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(`${target}.part`, bytes);
      await rename(`${target}.part`, target);
    },
  };
}

/** Redirects are followed, because the hashes of a snapshot prove its files, whoever sends them. */
function openServer(base: string): SnapshotPlace {
  return {
    stream: (path, signal) =>
      repeatRequest({
        path,
        server: 'the server',
        make: (options) => new Request(`${base}/${path}`, options),
        read: (_, chunks) => Promise.resolve(Readable.from(chunks, { objectMode: false })),
        reasonOf: () => 'the server refuses the request',
        signal,
      }),
    write: () =>
      Promise.reject(new AppError('bad_config', '--out: got a URL; allowed: a folder or s3://bucket/folder')),
  };
}

async function* readLocal(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw new AppError('bad_config', `${path}: the file cannot be read (${errorText(error)})`);
  }
}

/** All bytes of a small file. @throws AppError `bad_config` if it has more bytes */
export async function readSmall(
  place: SnapshotPlace,
  path: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of await place.stream(path, signal)) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > bytesMax) throw fileFault(path, `got more than ${bytesMax} bytes`, 'at most this');
    chunks.push(piece);
  }
  return Buffer.concat(chunks);
}
