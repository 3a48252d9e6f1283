/**
 * The command `export`: writes the final blocks of whole days (UTC) as a snapshot that anyone can check. The database does
 * not store headers and signed transactions, so the node sends the blocks, which must be the stored ones.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { hash, u32 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Config } from '../../config';
import type { ChainBlock, ProofLevel } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { BucketFiles } from '../../ingest/parquet/bucketFiles';
import { HASH_BLOCKS, readRangeHashes } from '../../ingest/repair/rangeHash';
import { fetchAhead } from '../../ingest/session/fetchAhead';
import {
  INDEX_NAME,
  JSON_BYTES_MAX,
  MANIFEST_NAME,
  parseIndex,
  rootOfFiles,
  sha256Of,
  toJson,
  type DayManifest,
  type IndexedDay,
} from '../../ingest/snapshot/manifest';
import { openPlace, readSmall, type SnapshotPlace } from '../../ingest/snapshot/snapshotPlace';
import { SnapshotWriter } from '../../ingest/snapshot/snapshotWriter';
import { findBlockAt } from '../../ingest/store/retention';
import { readStoredState } from '../../ingest/store/storedState';
import type { Logger } from '../../log';
import { createBlockSource, type BlockSource } from '../../node/blocks/blockSource';
import type { RawBlock } from '../../node/proof/blockProof';
import { checkChainId } from '../../node/rpc/checkChainId';
import { createEndpointPool } from '../../node/rpc/endpointPool';
import { showBytes } from '../attach';
import { needNodeUrls } from '../chains';
import type { CommandOutput } from '../data/backup';
import { openStored } from '../data/openStored';

export interface ExportOptions {
  /** First and last day, UTC, such as 2026-01-31. */
  readonly days: { readonly from: string; readonly to: string };
  /** Folder, or s3://bucket/folder. */
  readonly out: string;
}

const DAY_S = 86_400;
const LINE_EVERY_MS = 5_000;

interface Work {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly output: CommandOutput;
  readonly database: Database;
  readonly place: SnapshotPlace;
  readonly source: BlockSource;
  readonly rawOf: (block: ChainBlock) => RawBlock;
  readonly writer: SnapshotWriter;
  /** First and last final block that is stored. */
  readonly stored: { readonly from: number; readonly to: number };
}

interface Day {
  readonly day: string;
  readonly from: number;
  readonly to: number;
  readonly toHash: Hex;
}

const hashRow = rowType({ number: u32, hash });

/** @throws AppError `bad_config`, `node_failed` */
export async function runExport(
  givenConfig: Config,
  log: Logger,
  signal: AbortSignal,
  { days, out }: ExportOptions,
  output: CommandOutput = process.stdout,
): Promise<void> {
  const { database, url, config, close } = await openStored(givenConfig, log, 'export');
  try {
    const { chainId, proof } = config;
    const state = await readStoredState(database, chainId);
    if (state === null) throw new AppError('bad_config', 'nothing to export: no block is stored yet');
    const urls = needNodeUrls(config, 'a node that has these blocks');
    const stored = { from: state.startBlock, to: state.cursor.number };
    const listed: Day[] = [];
    for (const day of listDays(days)) listed.push(...(await findDay(database, chainId, day, stored)));
    const place = openPlace(out, new BucketFiles(config.bucket));
    const neededLevel = proof.mode === 'auto' ? 'full' : proof.mode;
    const pool = createEndpointPool({ urls, chainId, log });
    const writer = await SnapshotWriter.open(url, chainId, { place, needed: neededLevel, signal });
    try {
      await checkChainId(pool, chainId, signal);
      const { source, rawOf } = openSource(pool, log, neededLevel, config);
      const work = { config, log, signal, output, database, place, source, rawOf, writer, stored };
      await exportDays(work, listed);
    } finally {
      await writer.close();
      await pool.close();
    }
  } finally {
    await close();
  }
}

function openSource(
  pool: Parameters<typeof createBlockSource>[0]['pool'],
  log: Logger,
  needed: ProofLevel,
  { proof }: Config,
): Pick<Work, 'source' | 'rawOf'> {
  const raws = new WeakMap<ChainBlock, RawBlock>();
  const source = createBlockSource({
    pool,
    log,
    proof: { ...proof, mode: needed === 'full' ? 'full' : 'auto' },
    onVerified: (block, raw) => raws.set(block, raw),
  });
  const rawOf = (block: ChainBlock): RawBlock => {
    const raw = raws.get(block);
    if (raw === undefined) throw new AppError('internal', `block ${block.number}: the node's answer is lost`);
    return raw;
  };
  return { source, rawOf };
}

function listDays({ from, to }: ExportOptions['days']): string[] {
  const days: string[] = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY_S * 1_000)
    days.push(new Date(time).toISOString().slice(0, 10));
  return days;
}

/** The stored blocks of a day; none if the chain has none. @throws AppError `bad_config` if later ones may follow */
async function findDay(
  database: Database,
  chainId: number,
  day: string,
  stored: Work['stored'],
): Promise<Day[]> {
  const start = Date.parse(day) / 1_000;
  const [first, next] = [
    await findBlockAt(database, chainId, start),
    await findBlockAt(database, chainId, start + DAY_S),
  ];
  if (first === null || next === null || next > stored.to)
    throw new AppError(
      'bad_config',
      `--days: ${day} is not complete: the last final block that is stored is ${stored.to}; allowed: earlier days`,
    );
  const [from, to] = [Math.max(first, stored.from), next - 1];
  if (from > to) return [];
  const [row] = await selectNamed(
    database,
    'head/list_final_hashes',
    { chain_id: chainId, numbers: [to] },
    hashRow,
  );
  if (row === undefined) throw new AppError('internal', `block ${to} is not stored`);
  return [{ day, from, to, toHash: row.hash }];
}

async function exportDays(work: Work, days: readonly Day[]): Promise<void> {
  const { place, config, output, signal } = work;
  const { chainId } = config;
  const index = new Map((await readIndex(work)).map((listedDay) => [listedDay.day, listedDay]));
  for (const newDay of days) {
    const { day, from, to, toHash } = newDay;
    const listedBefore = index.get(day);
    if (listedBefore?.from_block === from && listedBefore.to_hash === toHash) {
      output.write(`${day}: exported already\n`);
      continue;
    }
    const manifest = await exportDay(work, newDay);
    const bytes = toJson(manifest);
    await place.write(`${day}/${MANIFEST_NAME}`, bytes, signal);
    index.set(day, { day, from_block: from, to_block: to, to_hash: toHash, manifest: sha256Of(bytes) });
    const sorted = [...index.values()].toSorted((a, b) => a.from_block - b.from_block);
    await place.write(INDEX_NAME, toJson({ version: 1, chain_id: chainId, days: sorted }), signal);
    const size = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    output.write(
      `${day}: blocks ${from}-${to}, ${manifest.files.length} files, ${showBytes(size)}, level ${manifest.level}, ` +
        `root ${manifest.files_root}\n`,
    );
  }
}

/** The days that the place has already. A place without an index has none. */
async function readIndex({ place, config, signal }: Work): Promise<readonly IndexedDay[]> {
  let bytes: Buffer;
  try {
    bytes = await readSmall(place, INDEX_NAME, JSON_BYTES_MAX, signal);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_config') return [];
    throw error;
  }
  return parseIndex(INDEX_NAME, bytes, config.chainId).days;
}

async function exportDay(work: Work, { day, from, to, toHash }: Day): Promise<DayManifest> {
  const { source, rawOf, writer, log, signal, database, config, stored } = work;
  const { chainId } = config;
  let [first, last]: [ChainBlock | null, ChainBlock | null] = [null, null];
  let shownAt = performance.now();
  writer.begin(day);
  for await (const blocks of fetchAhead(source, from, to, { signal })) {
    await writer.add(blocks.map((block) => ({ block, raw: rawOf(block) })));
    first ??= blocks[0] ?? null;
    last = blocks.at(-1) ?? last;
    if (performance.now() - shownAt < LINE_EVERY_MS) continue;
    shownAt = performance.now();
    log.info({ day, block: last?.number, to }, 'exporting blocks');
  }
  if (first === null || last?.hash !== toHash)
    throw new AppError(
      'node_failed',
      `block ${to} is stored with the hash ${toHash}, but the node sends ${last?.hash ?? 'none'}`,
    );
  const written = await writer.end(to);
  const since = Math.max(0, from - HASH_BLOCKS + 1);
  const hashes = [...(await readRangeHashes(database, chainId, since, to)).values()];
  return {
    version: 1,
    chain_id: chainId,
    day,
    from_block: from,
    from_hash: first.hash,
    parent_hash: first.parentHash,
    to_block: to,
    to_hash: toHash,
    level: written.level,
    headers: written.headers,
    start_block: stored.from,
    range_hashes: hashes
      .filter((range) => range.from + HASH_BLOCKS - 1 <= to)
      .map((range) => ({ from_block: range.from, hash: range.hash })),
    files: written.files,
    files_root: rootOfFiles(written.files),
  };
}
