/** The head from flips, and the difference between two heads, against a tree of blocks that is walked from the tip. */
import { diffHeads } from '../../../src/domain/head/diffHeads';
import { foldHead, type HeadBlock, type HeadMove } from '../../../src/domain/head/foldHead';
import type { Hex } from '../../../src/domain/hex';
import { Random } from '../../support/random';

const hashOf = (id: number): Hex => `0x${id.toString(16).padStart(64, '0')}`;
const ROOT: HeadBlock = { number: 10, hash: hashOf(1), parentHash: hashOf(0), timestamp: 0, commit: 1 };

/** A tree of blocks above the root: each block has a random older block as its parent, mostly the newest. */
function growTree(random: Random): Map<Hex, HeadBlock> {
  const blocks = [ROOT];
  for (let id = 2; id < 30; id += 1) {
    const parent = random.chance(0.7) ? blocks.at(-1)! : random.pick(blocks);
    const ref = { number: parent.number + 1, hash: hashOf(id), parentHash: parent.hash };
    blocks.push({ ...ref, timestamp: 0, commit: id });
  }
  return new Map(blocks.map((block) => [block.hash, block]));
}

/** The blocks from above the root to the tip, found by the parents. */
function branchOf(tree: ReadonlyMap<Hex, HeadBlock>, tip: HeadBlock): HeadBlock[] {
  const branch: HeadBlock[] = [];
  for (let at = tip; at !== ROOT; at = tree.get(at.parentHash)!) branch.unshift(at);
  return branch;
}

/** The flip from one branch to another, as the ingester writes it. */
const flipTo = (from: readonly HeadBlock[], to: readonly HeadBlock[]): HeadMove => ({
  canonical: to.filter((block) => !from.includes(block)),
  voided: from.slice(to.length).map(({ number }) => number),
});

/** The branch with its first blocks promoted to final blocks. */
const chainOf = (branch: readonly HeadBlock[], promoted: number) => ({
  finalTo: ROOT.number + promoted,
  hash: branch.at(-1)?.hash ?? ROOT.hash,
  blocks: branch.slice(promoted),
});

test('flips between random branches fold to the branch of the last flip, and two branches differ from their last common block on', () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = new Random(seed);
    const tree = growTree(random);
    const tips = Array.from({ length: 6 }, () => random.pick([...tree.values()]));
    const branches = [[], ...tips.map((tip) => branchOf(tree, tip))];
    const moves = branches.slice(1).map((branch, index) => flipTo(branches[index]!, branch));
    branches.slice(1).forEach((branch, index) => {
      const { blocks, topNumber } = foldHead(ROOT, moves.slice(0, index + 1));
      expect([seed, blocks, topNumber]).toEqual([seed, branch, branch.at(-1)?.number ?? ROOT.number]);
    });
    const [old, next] = [random.pick(branches), random.pick(branches)];
    const common = old.filter((block) => next.includes(block)).length;
    const promoted = [random.int(0, common), random.int(0, common)] as const;
    const diff = diffHeads(chainOf(old, promoted[0]), chainOf(next, promoted[1]));
    const expected = { fork: ROOT.number + common, gone: old.slice(common), come: next.slice(common) };
    expect([seed, diff]).toEqual([seed, expected]);
  }
});

test('a head ends below a missing block and below a block with another parent, and still knows the highest block', () => {
  const [a, b, c] = [2, 3, 4].map((id, index) => ({
    number: 11 + index,
    hash: hashOf(id),
    parentHash: hashOf(id - 1),
    timestamp: 0,
    commit: id,
  })) as [HeadBlock, HeadBlock, HeadBlock];
  const all = { canonical: [a, b, c], voided: [] };
  const fold = (...moves: HeadMove[]) => foldHead(ROOT, [all, ...moves]);
  expect(fold()).toEqual({ blocks: [a, b, c], topNumber: 13 });
  expect(fold({ canonical: [], voided: [12] })).toEqual({ blocks: [a], topNumber: 13 });
  expect(fold({ canonical: [{ ...b, parentHash: hashOf(9) }], voided: [] })).toEqual({
    blocks: [a],
    topNumber: 13,
  });
});

test('without a common block among the known ones the fork is unknown, and all blocks differ', () => {
  const block = (id: number, number: number): HeadBlock => ({
    number,
    hash: hashOf(id),
    parentHash: hashOf(id - 1),
    timestamp: 0,
    commit: id,
  });
  const old = { finalTo: 10, hash: hashOf(2), blocks: [block(2, 11)] };
  const next = { finalTo: 20, hash: hashOf(22), blocks: [block(22, 21)] };
  expect(diffHeads(old, next)).toEqual({ fork: null, gone: old.blocks, come: next.blocks });
});
