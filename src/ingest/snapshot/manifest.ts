/**
 * The JSON files of a snapshot: the index lists the days, and the manifest of a day lists its files with their hashes.
 * Pure. A mirror can send anything, so each value is checked.
 */
import { createHash } from 'node:crypto';

import { z } from 'zod';

import { PROOF_LEVELS } from '../../domain/block';
import { AppError } from '../../errors';
import { DATASET_NAMES, type DatasetName } from '../parquet/datasets';
import { fileFault } from '../parquet/parquetRows';
import { merkleRoot } from './merkleRoot';

/** Version of the format. A reader refuses every other one. */
const VERSION = 1;
/** Largest block number, so that positions of logs are exact. */
const BLOCK_MAX = 2 ** 31 - 1;
const DAYS_MAX = 20_000;
/** Largest number of files of one day. */
const FILES_MAX = 20_000;
/** Largest size of a file in bytes. ClickHouse keeps a file in memory while it stores the rows. */
const FILE_BYTES_MAX = 512 * 2 ** 20;

export const INDEX_NAME = 'snapshot.json';
export const MANIFEST_NAME = 'manifest.json';
/** Largest size of the index or of a manifest in bytes. */
export const JSON_BYTES_MAX = 16 * 2 ** 20;

const block = z.int().min(0).max(BLOCK_MAX);
const blockHash = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const chainId = z.int().min(1);
const day = z.string().regex(/^\d{4}-\d\d-\d\d$/);

const fileShape = z.strictObject({
  name: z.string().regex(/^[a-z0-9_]{1,100}\.parquet$/),
  dataset: z.enum(DATASET_NAMES),
  from_block: block,
  to_block: block,
  bytes: z.int().min(1).max(FILE_BYTES_MAX),
  sha256: digest,
});
/** The headers of one file of blocks: the hash of the last block, and the Merkle root over the hashes of all blocks. */
const headersShape = z.strictObject({ to_block: block, to_hash: blockHash, root: digest });

const manifestShape = z.strictObject({
  version: z.literal(VERSION),
  chain_id: chainId,
  /** UTC. */
  day,
  from_block: block,
  /** Hash of the first block, and of the block before it. */
  from_hash: blockHash,
  parent_hash: blockHash,
  to_block: block,
  to_hash: blockHash,
  /** The weakest level at which a block of the day can be proven by the files. */
  level: z.enum(PROOF_LEVELS),
  headers: z.array(headersShape).min(1).max(FILES_MAX),
  /** First block of the exporter's database. Range hashes of another first block may differ, because prices may. */
  start_block: block,
  /** Range hashes of the exporter's rows of 1,000 blocks that end on this day. */
  range_hashes: z.array(z.strictObject({ from_block: block, hash: z.string().regex(/^[0-9a-f]{32}$/) })),
  files: z.array(fileShape).min(DATASET_NAMES.length).max(FILES_MAX),
  /** Merkle root over the SHA-256 of the files, in their order. */
  files_root: digest,
});
const indexShape = z.strictObject({
  version: z.literal(VERSION),
  chain_id: chainId,
  days: z
    .array(
      z.strictObject({
        day,
        from_block: block,
        to_block: block,
        to_hash: blockHash,
        /** SHA-256 of the manifest. */
        manifest: digest,
      }),
    )
    .max(DAYS_MAX),
});

export type DayManifest = z.infer<typeof manifestShape>;
export type SnapshotFile = DayManifest['files'][number];
type SnapshotIndex = z.infer<typeof indexShape>;
export type IndexedDay = SnapshotIndex['days'][number];

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const toJson = (value: SnapshotIndex | DayManifest): Buffer =>
  Buffer.from(`${JSON.stringify(value, null, 1)}\n`);

export const rootOfFiles = (files: readonly Pick<SnapshotFile, 'sha256'>[]): string =>
  merkleRoot(files.map(({ sha256 }) => Buffer.from(sha256, 'hex')));

/** Reads the index of a snapshot. Its days are ascending and follow each other. @throws AppError `bad_config` */
export function parseIndex(path: string, bytes: Buffer, expectedChain: number): SnapshotIndex {
  const index = parse(path, bytes, indexShape);
  checkChain(path, index.chain_id, expectedChain);
  for (const [position, listedDay] of index.days.entries()) {
    const previousDay = index.days[position - 1];
    const isAscending =
      previousDay === undefined ||
      (previousDay.day < listedDay.day && previousDay.to_block < listedDay.from_block);
    if (isAscending && listedDay.from_block <= listedDay.to_block) continue;
    const got = `the day ${listedDay.day} has the blocks ${listedDay.from_block}-${listedDay.to_block}`;
    throw fileFault(path, got, 'days and blocks in ascending order');
  }
  return index;
}

/** Reads the manifest of a day that the index lists. @throws AppError `bad_config` */
export function parseManifest(
  path: string,
  bytes: Buffer,
  indexed: IndexedDay,
  expectedChain: number,
): DayManifest {
  const sha256 = sha256Of(bytes);
  if (sha256 !== indexed.manifest)
    throw fileFault(path, `the SHA-256 is ${sha256}`, `${indexed.manifest}, as the index says`);
  const manifest = parse(path, bytes, manifestShape);
  checkChain(path, manifest.chain_id, expectedChain);
  for (const name of ['day', 'from_block', 'to_block', 'to_hash'] as const)
    if (manifest[name] !== indexed[name])
      throw fileFault(path, `${name} is ${manifest[name]}`, `${indexed[name]}, as the index says`);
  const root = rootOfFiles(manifest.files);
  if (root !== manifest.files_root)
    throw fileFault(path, `files_root is ${manifest.files_root}`, `${root}, the root of the listed files`);
  for (const dataset of DATASET_NAMES) checkCover(path, manifest, dataset);
  const fileEnds = manifest.files.filter((file) => file.dataset === 'blocks').map((file) => file.to_block);
  const headerEnds = manifest.headers.map((headers) => headers.to_block);
  if (fileEnds.join() !== headerEnds.join() || manifest.headers.at(-1)?.to_hash !== manifest.to_hash)
    throw fileFault(
      path,
      `headers end at the blocks ${headerEnds.join(', ')}`,
      `${fileEnds.join(', ')} and the hash ${manifest.to_hash}, as the files of blocks end`,
    );
  return manifest;
}

/** The files of a dataset have all blocks of the day, each once. */
function checkCover(
  path: string,
  { files, from_block: from, to_block: to }: DayManifest,
  dataset: DatasetName,
): void {
  let nextBlock = from;
  for (const file of files) {
    if (file.dataset !== dataset) continue;
    if (file.from_block !== nextBlock || file.to_block < nextBlock)
      throw fileFault(
        path,
        `${file.name} has the blocks ${file.from_block}-${file.to_block}`,
        `a file of ${dataset} that begins with block ${nextBlock}`,
      );
    nextBlock = file.to_block + 1;
  }
  if (nextBlock !== to + 1)
    throw fileFault(path, `the files of ${dataset} end with block ${nextBlock - 1}`, `block ${to}`);
}

function checkChain(path: string, got: number, expected: number): void {
  if (got !== expected) throw fileFault(path, `chain_id is ${got}`, `${expected}, the chain of CHAIN_ID`);
}

function parse<T>(path: string, bytes: Buffer, shape: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch (error) {
    throw new AppError('bad_config', `${path}: the file is not JSON; allowed: a file that export wrote`, {
      cause: error,
    });
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw fileFault(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`, 'the format of export');
}
