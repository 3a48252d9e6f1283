/**
 * The levels of proof of the stored blocks, as a list of ranges. Pure: the ingester stores each change of a level as
 * a row, and readers compute the ranges from these rows.
 */
import { z } from 'zod';

import type { ProofLevel } from '../../domain/block';
import { wideIntegerShape } from '../rows/rowShapes';

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

export const PROOF_LEVELS: readonly ProofLevel[] = ['bloom', 'headers', 'full'];
/**
 * End of the range with the newest block. It is above every block number, so the range also covers the blocks
 * that are stored later.
 */
export const LAST_BLOCK = 2 ** 32 - 1;
/**
 * Largest number of ranges that are read, the newest first. Blocks of older ranges would count as less proven
 * than they are, which is safe.
 */
export const PROOF_ROWS_MAX = 100_000;

/** Shape of a row of the query head/list_proof_ranges. */
export const proofRowShape = z.object({
  from_block: z.int(),
  to_block: z.int(),
  level: z.enum(['bloom', 'headers', 'full']),
  version: wideIntegerShape,
});

/** The valid ranges of the stored rows, which the query returns newest first. */
export function toProofRanges(rows: readonly z.infer<typeof proofRowShape>[]): readonly ProofRange[] {
  return [...rows]
    .reverse()
    .map(({ from_block: from, to_block: to, level }) => ({ from, to, level }))
    .reduce<readonly ProofRange[]>(paintRange, []);
}

/** Whether `level` proves less than `other`. */
export function isWeaker(level: ProofLevel, other: ProofLevel): boolean {
  return PROOF_LEVELS.indexOf(level) < PROOF_LEVELS.indexOf(other);
}

/** Sets the level of the blocks of `range`. Returns all ranges, ascending and without overlaps. */
export function paintRange(ranges: readonly ProofRange[], range: ProofRange): ProofRange[] {
  const parts = ranges.flatMap((one) => [
    { ...one, to: Math.min(one.to, range.from - 1) },
    { ...one, from: Math.max(one.from, range.to + 1) },
  ]);
  const all = [...parts.filter(({ from, to }) => from <= to), range].sort((a, b) => a.from - b.from);
  const joined: ProofRange[] = [];
  for (const one of all) {
    const last = joined.at(-1);
    if (last !== undefined && last.level === one.level && last.to + 1 === one.from)
      joined[joined.length - 1] = { ...last, to: one.to };
    else joined.push(one);
  }
  return joined;
}

/**
 * The ranges inside `from` to `to`, without gaps. Blocks without a known level have the level `bloom`, which every
 * stored block has at least.
 */
export function cutRanges(ranges: readonly ProofRange[], from: number, to: number): ProofRange[] {
  const unknown: readonly ProofRange[] = [{ from: 0, to: LAST_BLOCK, level: 'bloom' }];
  return ranges
    .reduce(paintRange, unknown)
    .map((one) => ({ ...one, from: Math.max(one.from, from), to: Math.min(one.to, to) }))
    .filter((one) => one.from <= one.to);
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
  const last = stored.findLastIndex(isProven);
  const before = stored.findLastIndex((range, index) => index < last && !isProven(range));
  const [first, end] = [stored[before + 1], stored[last]];
  return first === undefined || end === undefined ? null : { level, from: first.from, to: end.to };
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
