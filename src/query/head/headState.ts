/**
 * Reads the current head: the last final block and the canonical blocks above, as one snapshot. Also reads
 * the row counts that tell the tail loop of changes, and blocks that are no longer canonical. The ingester
 * resumes by the same rules (ingest/store/storedState).
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import type { FreshBlock } from '../activity/freshEvents';
import type { HeadBlock, HeadSnapshot } from './headSnapshot';

/**
 * Number of attempts to read a snapshot without a gap. After the last attempt, the snapshot ends at the block below
 * the gap.
 */
const READ_ATTEMPTS = 4;
const READ_RETRY_MS = 5;

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value));
/**
 * One change of the head (flip) at one height: number, version, hash, parent hash, timestamp, commit (0: a
 * reorg left no block at this height), number of the newest final block.
 */
const heightShape = z.tuple([z.number(), z.string(), hex, hex, z.number(), z.string(), z.number()]);
const headShape = z.object({
  seq: z.string(),
  final_to: z.number(),
  final_hash: hex,
  final_timestamp: z.number(),
  start_block: z.number(),
  logs_from: z.number().nullable(),
  heights: z.array(heightShape),
});
export type HeadRow = z.infer<typeof headShape>;
const countShape = z.union([z.string(), z.number()]);
const markShape = z.object({ promotion_rows: countShape, head_rows: countShape });
const headVersionShape = z.object({ number: z.number(), hash: hex, parent_hash: hex, commit: z.string() });
const keptShape = z.object({ kept: countShape });

/** A change of the head (flip). The ingester publishes this message after it has stored the rows. */
export interface HeadNews {
  /** Number of the flip: one above the previous flip of the session. A new session starts from the clock,
   * above all earlier versions. */
  readonly version: number;
  /** Blocks that became canonical. */
  readonly canonical: readonly HeadBlock[];
  /** Heights above the new head that no longer have a block. */
  readonly voided: readonly number[];
  readonly finalNumber: number;
  /** Canonical blocks whose rows the ingester stored together with this flip. */
  readonly fresh: readonly FreshBlock[];
}

/** A head as the database stores it, and the snapshot computed from it. */
export interface HeadReading {
  readonly row: HeadRow;
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
    const [row] = await runner.run('head/read_head', { chain_id: chainId }, headShape);
    if (row === undefined) return null;
    const { snapshot, whole } = toSnapshot(row);
    if (whole || attempt === READ_ATTEMPTS) return { row, snapshot };
    await sleep(READ_RETRY_MS);
  }
}

/**
 * Applies changes of the head to a stored head. Returns null if a change is missing in between; the caller must then
 * read the head again.
 */
export function followHead({ row, snapshot }: HeadReading, flips: readonly HeadNews[]): HeadReading | null {
  const heights = [...row.heights];
  let newest = heights.reduce((most, [, version]) => Math.max(most, Number(version)), 0);
  let followed = snapshot;
  for (const { version, canonical, voided, finalNumber } of flips) {
    if (version <= newest) continue;
    if (newest === 0 || version !== newest + 1) return null;
    for (const { number, hash, parentHash, timestamp, commit } of canonical)
      heights.push([number, String(version), hash, parentHash, timestamp, String(commit), finalNumber]);
    for (const number of voided)
      heights.push([number, String(version), ZERO_HASH, ZERO_HASH, 0, '0', finalNumber]);
    newest = version;
    const after = toSnapshot({ ...row, heights });
    if (!after.whole) return null;
    followed = after.snapshot;
  }
  return { row: { ...row, heights }, snapshot: followed };
}

/** A value (row counts) that changes with every change of the head and every finished range. The read is
 * cheap, because ClickHouse reads no column. */
export async function readChangeMark(runner: QueryRunner): Promise<string> {
  const [row] = await runner.run('head/read_change_mark', {}, markShape);
  return row === undefined ? '' : `${row.promotion_rows}.${row.head_rows}`;
}

/** The newest flip of each height above the last final block, ascending. Heights without a block are left out. */
function foldHeights(row: HeadRow): { canonical: HeadBlock[]; version: bigint; finalNumber: number } {
  const newest = new Map<number, { version: bigint; block: HeadBlock | null }>();
  let top = { version: 0n, finalNumber: row.final_to };
  for (const [number, versionText, hash, parentHash, timestamp, commitText, finalNumber] of row.heights) {
    const version = BigInt(versionText);
    if (version > top.version) top = { version, finalNumber };
    const known = newest.get(number);
    if (known !== undefined && known.version >= version) continue;
    const commit = Number(commitText);
    newest.set(number, {
      version,
      block: commit === 0 ? null : { number, hash, parentHash, timestamp, commit },
    });
  }
  const canonical = [...newest.values()].flatMap(({ block }) => (block === null ? [] : [block]));
  return { ...top, canonical: canonical.sort((a, b) => a.number - b.number) };
}

/** Computes the snapshot from the stored row. `whole` is true if the canonical heights have no gap, and each
 * block links to its parent. */
export function toSnapshot(row: HeadRow): { snapshot: HeadSnapshot | null; whole: boolean } {
  const { canonical, version, finalNumber } = foldHeights(row);
  const blocks: HeadBlock[] = [];
  for (const block of canonical) {
    const below = blocks.at(-1)?.hash ?? row.final_hash;
    const linked = below === block.parentHash || (blocks.length === 0 && below === ZERO_HASH);
    if (block.number !== row.final_to + 1 + blocks.length || !linked) break;
    blocks.push(block);
  }
  const whole = canonical.length === blocks.length;
  const top = blocks.at(-1);
  if (top === undefined && row.final_to < row.start_block) return { snapshot: null, whole };
  const number = top?.number ?? row.final_to;
  const hash = top?.hash ?? row.final_hash;
  const snapshot: HeadSnapshot = {
    // The head version includes the start of the block hash: if the database is replaced, the new one may
    // have the same numbers as the old one.
    version: `${row.seq}.${version}.${hash.slice(2, 10)}`,
    startBlock: row.start_block,
    logsFrom: row.logs_from,
    number,
    hash,
    timestamp: top?.timestamp ?? row.final_timestamp,
    finalTo: row.final_to,
    finalNumber: Math.min(number, Math.max(row.final_to, finalNumber)),
    blocks,
  };
  return { snapshot, whole };
}

/** Hashes of final blocks by number. Blocks that are not stored are missing. At most 10,000 numbers. */
export async function listFinalHashes(
  runner: QueryRunner,
  chainId: number,
  numbers: readonly number[],
): Promise<Map<number, Hex>> {
  if (numbers.length === 0) return new Map();
  return new Map(
    await runner.read('head/list_final_hashes', { chain_id: chainId, numbers, range: false }, readHash),
  );
}

function readHash(row: RowReader): [number, Hex] {
  return [row.u32(), row.hex0x(32)];
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
  const rows = await runner.run('head/list_head_versions', params, headVersionShape);
  return rows.map((row) => ({
    number: row.number,
    hash: row.hash,
    parentHash: row.parent_hash,
    commit: Number(row.commit),
  }));
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
  const [row] = await runner.run('head/count_kept_commits', params, keptShape);
  return Number(row?.kept ?? 0) === new Set(params.commits).size;
}
