/**
 * Reads the current head: the last final block and the canonical blocks above, as one snapshot. Also reads
 * the row counts that tell the tail loop of changes, and blocks that are no longer canonical.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { array, hash, nullable, u32, u64 } from '../../clickhouse/rows/columns';
import { pick, rowType, tuple, type RowOf } from '../../clickhouse/rows/rowType';
import { headBlocksTable } from '../../clickhouse/schema/tables';
import { foldHead, type HeadFlip, type HeadMove } from '../../domain/head/foldHead';
import type { Hex } from '../../domain/hex';
import type { FreshBlock } from '../activity/eventRows';
import { finalHashRow } from './blockHashes';
import type { HeadSnapshot } from './headSnapshot';

/**
 * Number of attempts to read a snapshot without a gap. After the last attempt, the snapshot ends at the block below
 * the gap.
 */
const READ_ATTEMPTS = 4;
const READ_RETRY_MS = 5;

/**
 * One change of the head (flip) at one height: number, version, hash, parent hash, timestamp, commit (0: a
 * reorg left no block at this height), number of the newest final block, level of proof.
 */
const height = tuple(u32, u64, hash, hash, u32, u64, u32, headBlocksTable.types.proof);
const headRow = rowType({
  seq: u64,
  final_to: u32,
  final_hash: hash,
  final_timestamp: u32,
  start_block: u32,
  logs_from: nullable(u32),
  heights: array(height),
});
export type HeadRow = RowOf<typeof headRow>;
/** The row of read_change_mark.sql. Equal numbers mean that the head is the same. */
const markRow = rowType({ promotion_rows: u64, head_rows: u64 });
const headVersionRow = rowType(pick(headBlocksTable.types, ['number', 'hash', 'parent_hash', 'commit']));
/** The row of count_kept_commits.sql: how many of the given commits still have rows. */
const keptRow = rowType({ kept: u64 });

/** A flip as the ingester publishes it after it has stored the rows. */
export type PublishedFlip = HeadFlip<FreshBlock>;

/** A head as the database stores it, and the snapshot computed from it. */
export interface HeadReading {
  readonly row: HeadRow;
  /** Number of the newest flip; 0 if no flip is above the last final block. */
  readonly version: number;
  readonly snapshot: HeadSnapshot | null;
}

/** The current snapshot; null before the first block. */
export async function readHead(runner: QueryRunner, chainId: number): Promise<HeadSnapshot | null> {
  return (await readHeadRow(runner, chainId))?.snapshot ?? null;
}

/**
 * Reads the head: its row in the database, and the snapshot computed from this row. A gap above the last
 * final block is a race with the writer, so a few retries follow. If the gap stays, the snapshot has the
 * linked and complete blocks below the gap.
 */
export async function readHeadRow(runner: QueryRunner, chainId: number): Promise<HeadReading | null> {
  for (let attempt = 1; ; attempt += 1) {
    const [row] = await runner.run('head/read_head', { chain_id: chainId }, headRow);
    if (row === undefined) return null;
    const { isWhole, ...reading } = toReading(row);
    if (isWhole || attempt === READ_ATTEMPTS) return reading;
    await sleep(READ_RETRY_MS);
  }
}

/**
 * Applies flips to a head. Returns null if a flip is missing in between, or the blocks do not link; the caller must then
 * read the head again.
 */
export function followHead(
  { row, version, snapshot }: HeadReading,
  flips: readonly PublishedFlip[],
): HeadReading | null {
  const moves: HeadMove[] = [{ canonical: snapshot?.blocks ?? [], voided: [] }];
  let newestFlip = { version, finalNumber: 0 };
  for (const flip of flips) {
    if (flip.version <= newestFlip.version) continue;
    if (newestFlip.version === 0 || flip.version !== newestFlip.version + 1) return null;
    moves.push(flip);
    newestFlip = flip;
  }
  if (moves.length === 1) return { row, version, snapshot };
  const { isWhole, ...reading } = readingOf(row, newestFlip, moves);
  return isWhole ? reading : null;
}

/** A value (row counts) that changes with every change of the head and every finished range. The read is
 * cheap, because ClickHouse reads no column. */
export async function readChangeMark(runner: QueryRunner): Promise<string> {
  const [row] = await runner.run('head/read_change_mark', {}, markRow);
  return row === undefined ? '' : `${row.promotion_rows}.${row.head_rows}`;
}

/** Computes the head from the stored row. `isWhole` is false if a block is missing below another one. */
export function toReading(row: HeadRow): HeadReading & { readonly isWhole: boolean } {
  const moves = row.heights
    .map(([number, version, hash, parentHash, timestamp, commit, finalNumber, proof]) => {
      const block = { number, hash, parentHash, timestamp, commit, proof };
      const isVoid = commit === 0;
      return {
        version,
        finalNumber,
        canonical: isVoid ? [] : [block],
        voided: isVoid ? [number] : [],
      };
    })
    .sort((a, b) => a.version - b.version);
  return readingOf(row, moves.at(-1) ?? { version: 0, finalNumber: row.final_to }, moves);
}

function readingOf(
  row: HeadRow,
  { version, finalNumber }: { readonly version: number; readonly finalNumber: number },
  moves: Iterable<HeadMove>,
): HeadReading & { readonly isWhole: boolean } {
  const { blocks, topNumber } = foldHead({ number: row.final_to, hash: row.final_hash }, moves);
  const newestBlock = blocks.at(-1);
  const number = newestBlock?.number ?? row.final_to;
  const isWhole = number === topNumber;
  if (newestBlock === undefined && row.final_to < row.start_block)
    return { row, version, snapshot: null, isWhole };
  const hash = newestBlock?.hash ?? row.final_hash;
  const snapshot: HeadSnapshot = {
    // The head version includes the start of the block hash: if the database is replaced, the new one may
    // have the same numbers as the old one.
    version: `${row.seq}.${version}.${hash.slice(2, 10)}`,
    startBlock: row.start_block,
    logsFrom: row.logs_from,
    number,
    hash,
    timestamp: newestBlock?.timestamp ?? row.final_timestamp,
    finalTo: row.final_to,
    finalNumber: Math.min(number, Math.max(row.final_to, finalNumber)),
    blocks,
  };
  return { row, version, snapshot, isWhole };
}

/** Hashes of final blocks by number. Blocks that are not stored are missing. At most 10,000 numbers. */
export async function listFinalHashes(
  runner: QueryRunner,
  chainId: number,
  numbers: readonly number[],
): Promise<Map<number, Hex>> {
  if (numbers.length === 0) return new Map();
  const params = { chain_id: chainId, numbers, range: false };
  const rows = await runner.run('head/list_final_hashes', params, finalHashRow);
  return new Map(rows.map(({ number, hash }) => [number, hash]));
}

/** The hash of one block of the snapshot's chain; null above the head, or for a block that is not stored. */
export async function findBlockHash(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  number: number,
): Promise<Hex | null> {
  if (number > head.number) return null;
  if (number > head.finalTo) return head.blocks[number - head.finalTo - 1]?.hash ?? null;
  const hashes = await listFinalHashes(runner, chainId, [number]);
  return hashes.get(number) ?? null;
}

/** A block that is or was canonical. */
export interface KeptBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly commit: number;
}

/** Every block in a range of heights that a stored flip made canonical, newest flip first. */
export async function listKeptBlocks(
  runner: QueryRunner,
  chainId: number,
  fromBlock: number,
  toBlock: number,
): Promise<KeptBlock[]> {
  const params = { chain_id: chainId, from_block: fromBlock, to_block: toBlock };
  const rows = await runner.run('head/list_head_versions', params, headVersionRow);
  return rows.map(({ parent_hash: parentHash, ...block }) => ({ ...block, parentHash }));
}

/** Whether the head tables still have the rows of all these blocks. */
export async function areRowsKept(runner: QueryRunner, blocks: readonly KeptBlock[]): Promise<boolean> {
  if (blocks.length === 0) return true;
  const numbers = blocks.map((block) => block.number);
  const params = {
    from_block: Math.min(...numbers),
    to_block: Math.max(...numbers),
    commits: blocks.map((block) => block.commit),
  };
  const [row] = await runner.run('head/count_kept_commits', params, keptRow);
  return (row?.kept ?? 0) === new Set(params.commits).size;
}
