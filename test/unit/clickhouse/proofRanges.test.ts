/** Ranges of blocks by level of proof, compared with one level per block. */
import { PROOF_LEVELS, type ProofLevel } from '../../../src/domain/block';
import {
  cutRanges,
  findNewestPart,
  findProvenPart,
  toProofRanges,
  withHead,
} from '../../../src/clickhouse/schema/proofRanges';
import { ZERO_HASH } from '../../../src/domain/hex';
import { Random } from '../../support/random';
import { SEED } from '../../support/run/seed';

const BLOCKS = 40;
const BLOCK = { hash: ZERO_HASH, parentHash: ZERO_HASH, timestamp: 0, commit: 1 };

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
    const levels: ProofLevel[] = [];
    while (levels.length < BLOCKS)
      levels.push(random.chance(0.7) ? (levels.at(-1) ?? 'bloom') : random.pick(PROOF_LEVELS));
    const finalTo = random.int(-1, BLOCKS - 1);
    const changes = levels.flatMap((level, number) =>
      number <= finalTo && level !== (levels[number - 1] ?? 'bloom') ? [{ from_block: number, level }] : [],
    );
    const head = levels
      .slice(finalTo + 1)
      .map((proof, index) => ({ ...BLOCK, number: finalTo + 1 + index, proof }));
    const ranges = withHead(toProofRanges(changes.reverse(), finalTo), head);
    const told = cutRanges(ranges, 0, BLOCKS - 1).flatMap(({ from, to, level }) =>
      Array.from({ length: to - from + 1 }, () => level),
    );
    expect({ seed, round, levels: told }).toEqual({ seed, round, levels });
    const start = random.int(0, BLOCKS - 1);
    const top = random.int(start - 1, BLOCKS - 1);
    for (const level of PROOF_LEVELS)
      expect({ seed, round, part: findProvenPart(ranges, { start, head: top }, level) }).toEqual({
        seed,
        round,
        part: plainPart(levels, start, top, level),
      });
    const newest = top < start ? null : plainPart(levels, start, top, levels[top]!);
    expect({ seed, round, part: findNewestPart(ranges, { start, head: top }) }).toEqual({
      seed,
      round,
      part: newest,
    });
  }
});
