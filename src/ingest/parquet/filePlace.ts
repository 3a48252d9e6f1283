/** Where Parquet files can be: in folders of this machine, or in a bucket. */
import type { Readable } from 'node:stream';

/** A file whose bytes are read from any position. */
export interface OpenFile {
  /** Size in bytes. */
  readonly size: number;
  /** At most `bytes` bytes from position `firstByte`; fewer at the end of the file. */
  read(firstByte: number, bytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

export interface FilePlace {
  /** Paths of the files that match a pattern, in any order. The list is empty if nothing matches. */
  list(pattern: string, signal: AbortSignal): Promise<string[]>;
  /** @throws AppError `bad_config` if there is no such file */
  open(path: string, signal: AbortSignal): Promise<OpenFile>;
  /** All bytes of a file. A failed read ends the stream with an AppError. */
  stream(path: string, signal: AbortSignal): Promise<Readable>;
}

/** Finds the place of a path or pattern. */
export type FindPlace = (path: string) => FilePlace;

/** Largest number of files of a backfill. */
export const PARQUET_FILES_MAX = 200_000;

/** A pattern of file names with `*` for any characters. */
export function namePattern(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
