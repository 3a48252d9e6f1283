/**
 * Loads the files of a snapshot for a ParquetSource. Each file must have the size and the SHA-256 of its manifest. The
 * headers of a file of blocks must lead by their parent hashes to its last block, whose hash the node confirms: for most
 * chains, one header of the node a day.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

import type { BlockSource } from '../../node/blocks/blockSource';
import { createSlices } from '../../domain/time/slices';
import { AppError } from '../../errors';
import { allColumns } from '../parquet/datasets';
import type { FilePlace } from '../parquet/filePlace';
import { FilePlan, type ParquetFile } from '../parquet/filePlan';
import { fileFault } from '../parquet/parquetRows';
import type { RowProver } from '../parquet/rowProver';
import type { Staging } from '../parquet/staging';
import {
  INDEX_NAME,
  JSON_BYTES_MAX,
  MANIFEST_NAME,
  parseIndex,
  parseManifest,
  type DayManifest,
  type SnapshotFile,
} from './manifest';
import { merkleRoot } from './merkleRoot';
import { readSmall, type SnapshotPlace } from './snapshotPlace';

/** Number of headers that are read at once. */
const HEADERS_AT_ONCE = 512;

interface Span {
  readonly from: number;
  readonly to: number;
}

export class SnapshotFiles {
  readonly plan: FilePlan;
  private readonly listedFiles = new Map<
    string,
    { readonly manifest: DayManifest; readonly file: SnapshotFile }
  >();

  private constructor(
    private readonly place: SnapshotPlace,
    readonly manifests: readonly DayManifest[],
  ) {
    const files: ParquetFile[] = [];
    for (const manifest of manifests)
      for (const file of manifest.files) {
        const path = `${manifest.day}/${file.name}`;
        if (this.listedFiles.has(path))
          throw fileFault(path, 'the manifest lists the file twice', 'each file once');
        this.listedFiles.set(path, { manifest, file });
        const { dataset, from_block: from, to_block: to } = file;
        files.push({ number: files.length, path, dataset, from, to, rows: 0, columns: allColumns(dataset) });
      }
    this.plan = new FilePlan(files);
  }

  /** Reads the manifests of the days with blocks of the span. @throws AppError `bad_config` if one is wrong */
  static async open(
    place: SnapshotPlace,
    chainId: number,
    { from, to }: Span,
    signal: AbortSignal,
  ): Promise<SnapshotFiles> {
    const index = parseIndex(INDEX_NAME, await readSmall(place, INDEX_NAME, JSON_BYTES_MAX, signal), chainId);
    const manifests: DayManifest[] = [];
    for (const indexed of index.days) {
      if (indexed.to_block < from || indexed.from_block > to) continue;
      const path = `${indexed.day}/${MANIFEST_NAME}`;
      const bytes = await readSmall(place, path, JSON_BYTES_MAX, signal);
      const manifest = parseManifest(path, bytes, indexed, chainId);
      const previousDay = manifests.at(-1);
      if (previousDay?.to_block === manifest.from_block - 1 && previousDay.to_hash !== manifest.parent_hash)
        throw fileFault(
          path,
          `parent_hash is ${manifest.parent_hash}`,
          `${previousDay.to_hash}, of ${previousDay.day}`,
        );
      manifests.push(manifest);
    }
    if (manifests.length === 0) {
      const days = index.days.map(({ from_block: first, to_block: last }) => `${first}-${last}`);
      const heldText = days.length === 0 ? 'no blocks' : `the blocks ${days.at(0)} to ${days.at(-1)}`;
      throw new AppError(
        'bad_config',
        `--snapshot: the snapshot has ${heldText}; allowed: blocks that it has`,
      );
    }
    return new SnapshotFiles(place, manifests);
  }

  /** Opens a file whose stream fails at its end unless the bytes are those of the manifest. */
  readonly placeOf = (): Pick<FilePlace, 'stream'> => ({
    stream: async (path, signal) => {
      const body = await this.place.stream(path, signal);
      return Readable.from(checkBytes(path, this.listedFile(path).file, body), { objectMode: false });
    },
  });

  /** The staging of a ParquetSource whose blocks the source proves. */
  openStaging(
    staging: Staging,
    prover: RowProver,
    node: Pick<BlockSource, 'fetchHeader'>,
  ): Pick<Staging, 'load' | 'release' | 'read'> {
    return {
      load: async (file, signal) => {
        await staging.load(file, signal);
        if (file.dataset !== 'blocks') return;
        try {
          await this.checkHeaders(staging, prover, node, file, signal);
        } catch (error) {
          await staging.release(file);
          throw error;
        }
      },
      release: (file) => staging.release(file),
      read: (files, range, pathOf) => staging.read(files, range, pathOf),
    };
  }

  private async checkHeaders(
    staging: Staging,
    prover: RowProver,
    node: Pick<BlockSource, 'fetchHeader'>,
    file: ParquetFile,
    signal: AbortSignal,
  ): Promise<void> {
    const { path, from, to } = file;
    const { manifest } = this.listedFile(path);
    const pathOf = (): string => path;
    const hashes: Buffer[] = [];
    // Lets other work run between headers.
    const slices = createSlices();
    let parent: string | null = from === manifest.from_block ? manifest.parent_hash : null;
    for (let start = from; start <= to; start += HEADERS_AT_ONCE) {
      const end = Math.min(to, start + HEADERS_AT_ONCE - 1);
      for (const row of await staging.readBlocks([file], { from: start, to: end }, pathOf)) {
        const number = from + hashes.length;
        if (row.block !== number) throw fileFault(path, `the row of block ${row.block}`, `block ${number}`);
        const { hash, parentHash } = prover.proveHeader(row, pathOf);
        if (parent !== null && parentHash !== parent)
          throw fileFault(
            path,
            `block ${number}: parent_hash is ${parentHash}`,
            `${parent}, the block before`,
          );
        if (number === manifest.from_block && hash !== manifest.from_hash)
          throw fileFault(
            path,
            `block ${number} has the hash ${hash}`,
            `${manifest.from_hash}, as the manifest says`,
          );
        parent = hash;
        hashes.push(Buffer.from(hash.slice(2), 'hex'));
        await slices.step();
      }
    }
    if (hashes.length !== to - from + 1)
      throw fileFault(path, `the file has ${hashes.length} blocks`, `${to - from + 1}, as the manifest says`);
    const listedHeaders = manifest.headers.find((headers) => headers.to_block === to);
    if (listedHeaders?.to_hash !== parent || listedHeaders.root !== merkleRoot(hashes))
      throw fileFault(path, 'the headers differ from the manifest', 'the Merkle root of the manifest');
    const { hash } = await node.fetchHeader(to, { signal });
    if (hash !== parent)
      throw fileFault(path, `block ${to} has the hash ${parent}`, `${hash}, as the node says`);
  }

  private listedFile(path: string): { readonly manifest: DayManifest; readonly file: SnapshotFile } {
    const listed = this.listedFiles.get(path);
    if (listed === undefined) throw new AppError('internal', `${path}: no manifest lists the file`);
    return listed;
  }
}

async function* checkBytes(path: string, file: SnapshotFile, body: Readable): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of body) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > file.bytes) break;
    hash.update(piece);
    yield piece;
  }
  if (bytes !== file.bytes)
    throw fileFault(
      path,
      `the file has ${bytes > file.bytes ? 'more' : bytes} bytes`,
      `${file.bytes} bytes, as the manifest says`,
    );
  const sha256 = hash.digest('hex');
  if (sha256 !== file.sha256)
    throw fileFault(path, `the SHA-256 is ${sha256}`, `${file.sha256}, as the manifest says`);
}
