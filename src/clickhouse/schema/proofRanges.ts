/**
 * The levels of proof of the stored blocks, as a list of ranges. Pure: each finished range of final blocks and each head
 * block has a level in the database, and readers join neighbours of the same level.
 */
import { u32 } from '../rows/columns';
import { rowType, type RowOf } from '../rows/rowType';
import { headBlocksTable } from './tables';
import { isWeaker, type ProofLevel } from '../../domain/block';
import type { HeadBlock } from '../../domain/head/foldHead';

/** The blocks from `from` to `to`, both included, were stored at this level. */
export interface ProofRange {
  readonly from: number;
  readonly to: number;
  readonly level: ProofLevel;
}

/** A part of the stored chain in which every block has this level or a stronger one. */
export interface ProvenPart {
  readonly level: ProofLevel;
  readonly from: number;
  readonly to: number;
}

/**
 * Largest number of changes of the level that are read, the newest first. Blocks before them count as not
 * proven.
 */
export const PROOF_ROWS_MAX = 100_000;

/** Row of the query head/list_proof_changes. */
export const proofRow = rowType({ from_block: u32, level: headBlocksTable.types.proof });

/** The ranges of all blocks up to the final block `to`, from rows newest first. */
export function toProofRanges(rows: readonly RowOf<typeof proofRow>[], to: number): readonly ProofRange[] {
  const oldestFirst = [...rows].reverse();
  // If not all changes were read, the level of the blocks before them is unknown.
  const level = rows.length < PROOF_ROWS_MAX ? 'bloom' : 'none';
  const earlierBlocks: ProofRange = { from: 0, to: (oldestFirst[0]?.from_block ?? to + 1) - 1, level };
  const changes = oldestFirst.map(({ from_block: from, level }, index) => ({
    from,
    to: (oldestFirst[index + 1]?.from_block ?? to + 1) - 1,
    level,
  }));
  return [earlierBlocks, ...changes];
}

/** The ranges with the blocks of the head above them. */
export function withHead(ranges: readonly ProofRange[], head: readonly HeadBlock[]): readonly ProofRange[] {
  return head.reduce(
    (all, { number, proof = 'bloom' }) => addRange(all, { from: number, to: number, level: proof }),
    ranges,
  );
}

/** Adds the blocks that follow the last range. */
export function addRange(ranges: readonly ProofRange[], range: ProofRange): readonly ProofRange[] {
  const lastRange = ranges.at(-1);
  return lastRange?.level === range.level
    ? [...ranges.slice(0, -1), { ...lastRange, to: range.to }]
    : [...ranges, range];
}

/** The parts of the ranges inside `from` to `to`. */
export function cutRanges(ranges: readonly ProofRange[], from: number, to: number): ProofRange[] {
  return ranges
    .map((range) => ({ ...range, from: Math.max(range.from, from), to: Math.min(range.to, to) }))
    .filter((range) => range.from <= range.to);
}

/**
 * The newest consecutive blocks, from `start` to `head`, that all have `level` or a stronger one. Null if no
 * block has.
 */
export function findProvenPart(
  ranges: readonly ProofRange[],
  { start, head }: { readonly start: number; readonly head: number },
  level: ProofLevel,
): ProvenPart | null {
  const stored = cutRanges(ranges, start, head);
  const isProven = (range: ProofRange): boolean => !isWeaker(range.level, level);
  const lastIndex = stored.findLastIndex(isProven);
  const indexBefore = stored.findLastIndex((range, index) => index < lastIndex && !isProven(range));
  const [firstRange, lastRange] = [stored[indexBefore + 1], stored[lastIndex]];
  return firstRange === undefined || lastRange === undefined
    ? null
    : { level, from: firstRange.from, to: lastRange.to };
}

/**
 * The consecutive blocks up to the newest stored block that all have its level or a stronger one. Null if no
 * block is stored.
 */
export function findNewestPart(
  ranges: readonly ProofRange[],
  stored: { readonly start: number; readonly head: number },
): ProvenPart | null {
  const newest = cutRanges(ranges, stored.start, stored.head).at(-1);
  return newest === undefined ? null : findProvenPart(ranges, stored, newest.level);
}
