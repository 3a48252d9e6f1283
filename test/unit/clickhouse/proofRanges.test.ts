/** Ranges of blocks by level of proof, compared with one level per block. */
import type { ProofLevel } from '../../../src/domain/block';
import {
  cutRanges,
  findNewestPart,
  findProvenPart,
  paintRange,
  PROOF_LEVELS,
  type ProofRange,
} from '../../../src/clickhouse/schema/proofRanges';
import { Random } from '../../support/random';
import { SEED } from '../../support/run/seed';

const BLOCKS = 40;

/** The newest unbroken run of blocks with at least this level of proof, found block by block. */
function plainPart(levels: readonly ProofLevel[], start: number, head: number, level: ProofLevel) {
  const isProven = (number: number): boolean =>
    PROOF_LEVELS.indexOf(levels[number]!) >= PROOF_LEVELS.indexOf(level);
  let to = head;
  while (to >= start && !isProven(to)) to -= 1;
  if (to < start) return null;
  let from = to;
  while (from > start && isProven(from - 1)) from -= 1;
  return { level, from, to };
}

test('ranges of blocks give the same proof levels and the same newest proven part as one level per block', () => {
  const seed = SEED;
  const random = new Random(seed);
  for (let round = 0; round < 300; round += 1) {
    const levels = Array.from({ length: BLOCKS }, (): ProofLevel => 'bloom');
    let ranges: readonly ProofRange[] = [];
    for (let row = random.int(0, 8); row > 0; row -= 1) {
      const from = random.int(0, BLOCKS - 1);
      const to = random.int(from, BLOCKS + 5);
      const level = random.pick(PROOF_LEVELS);
      levels.fill(level, from, to + 1);
      ranges = paintRange(ranges, { from, to, level });
    }
    const told = cutRanges(ranges, 0, BLOCKS - 1).flatMap(({ from, to, level }) =>
      Array.from({ length: to - from + 1 }, () => level),
    );
    expect({ seed, round, levels: told }).toEqual({ seed, round, levels });
    const start = random.int(0, BLOCKS - 1);
    const head = random.int(start - 1, BLOCKS - 1);
    for (const level of PROOF_LEVELS)
      expect({ seed, round, part: findProvenPart(ranges, { start, head }, level) }).toEqual({
        seed,
        round,
        part: plainPart(levels, start, head, level),
      });
    const newest = head < start ? null : plainPart(levels, start, head, levels[head]!);
    expect({ seed, round, part: findNewestPart(ranges, { start, head }) }).toEqual({
      seed,
      round,
      part: newest,
    });
  }
});
