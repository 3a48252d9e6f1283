import type { BlockRef } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { HeadFollower } from '../../../../src/node/head/follower';
import { FakeChain, type FakeBlock } from '../../../support/node/fakeChain';
import { seededRandom } from '../../../support/random';

function refOf({ number, hash, parentHash, timestamp }: FakeBlock): BlockRef {
  return { number, hash: hash as Hex, parentHash: parentHash as Hex, timestamp };
}

function refsOf(chain: FakeChain, from = 0): BlockRef[] {
  return chain.blocks.slice(from).map(refOf);
}

/** A follower at block 0 of a chain, with a chain of `length` further blocks. */
function followed(seed: number, length: number): { chain: FakeChain; follower: HeadFollower } {
  const chain = new FakeChain(seed);
  chain.mineMany(length, 0);
  return { chain, follower: new HeadFollower(refOf(chain.at(0)), refsOf(chain, 1)) };
}

function hashesOf(refs: readonly BlockRef[]): string {
  return refs.map((ref) => ref.hash).join();
}

function last(chain: FakeChain): BlockRef {
  return refOf(chain.head);
}

test('the follower appends consecutive blocks', () => {
  const { chain, follower } = followed(1, 0);
  chain.mineMany(3, 0);
  for (const ref of refsOf(chain, 1)) follower.advance(ref);
  expect(follower.tip).toEqual(last(chain));
  expect(follower.unfinalised).toEqual(refsOf(chain, 1));
});

test.each(Array.from({ length: 64 }, (_, index) => index + 1))(
  'a reorg of depth %i removes exactly its replaced blocks from the follower',
  (depth) => {
    const { chain, follower } = followed(2, 64);
    chain.reorg(depth);
    for (const [index, ref] of refsOf(chain, 65 - depth).entries()) {
      follower.advance(ref);
      expect(follower.unfinalised).toEqual(refsOf(chain, 1).slice(0, 65 - depth + index));
    }
  },
);

test('a new head at equal height replaces the newest block', () => {
  const { chain, follower } = followed(3, 5);
  chain.reorg(1);
  follower.advance(last(chain));
  expect(follower.unfinalised).toEqual(refsOf(chain, 1));
});

test('a lower head with another hash removes the higher blocks from the follower', () => {
  const { chain, follower } = followed(4, 8);
  chain.reorg(4, 1);
  follower.advance(last(chain));
  expect(follower.unfinalised).toEqual(refsOf(chain, 1));
});

test('a header that the follower already knows changes nothing, even below its newest block', () => {
  const { chain, follower } = followed(5, 8);
  for (const number of [0, 1, 5, 8]) follower.advance(refOf(chain.at(number)));
  expect(follower.unfinalised).toEqual(refsOf(chain, 1));
});

test('a head that skips blocks, or has an unknown parent, changes nothing', () => {
  const { chain, follower } = followed(6, 5);
  const before = refsOf(chain, 1);
  chain.mineMany(3, 0);
  follower.advance(last(chain));
  chain.reorg(5);
  follower.advance(refOf(chain.at(5)));
  expect(follower.unfinalised).toEqual(before);
});

test('the follower follows a chain that switches to another branch and back', () => {
  const { chain, follower } = followed(7, 6);
  const branch = chain.blocks.slice(4);
  chain.reorg(3);
  for (const ref of refsOf(chain, 4)) follower.advance(ref);
  expect(follower.tip).toEqual(last(chain));
  chain.restore(4, branch);
  for (const ref of refsOf(chain, 4)) follower.advance(ref);
  expect(follower.unfinalised).toEqual(refsOf(chain, 1));
});

test('a reorg below the last final block is a broken invariant, and the error names both hashes', () => {
  const { chain, follower } = followed(8, 6);
  follower.finalise(4);
  const base = chain.at(4);
  chain.reorg(4);
  for (const number of [4, 5]) {
    const block = refOf(chain.at(number));
    const failure = ((): unknown => {
      try {
        return follower.advance(block);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toMatchObject({ code: 'broken_invariant', retryable: false });
    expect(String(failure)).toContain(base.hash);
    expect(String(failure)).toContain(block.hash);
  }
});

test('a header below the last final block changes nothing', () => {
  const { chain, follower } = followed(9, 6);
  follower.finalise(4);
  const before = refsOf(chain, 5);
  chain.reorg(5);
  follower.advance(refOf(chain.at(2)));
  expect(follower.unfinalised).toEqual(before);
});

test('the final block moves up to the newest block at most and never back', () => {
  const { chain, follower } = followed(10, 6);
  const blocks = refsOf(chain, 1);
  for (const number of [2, 2, 1]) {
    follower.finalise(number);
    expect([follower.base, follower.unfinalised]).toEqual([blocks[1], blocks.slice(2)]);
  }
  follower.finalise(99);
  expect([follower.base, follower.tip]).toEqual([blocks[5], blocks[5]]);
  expect(follower.unfinalised).toEqual([]);
});

test('if the final block stands still, the oldest blocks become final, so that the follower stays small', () => {
  const chain = new FakeChain(12);
  chain.mineMany(60, 0);
  const follower = new HeadFollower(refOf(chain.at(0)), [], 20);
  for (const ref of refsOf(chain, 1)) follower.advance(ref);
  expect(follower.base).toEqual(refOf(chain.at(40)));
  expect(follower.unfinalised).toHaveLength(20);
});

test('a final block with the hash of another branch changes nothing', () => {
  const { chain, follower } = followed(11, 6);
  for (const number of [3, 99]) follower.finalise(number, `0x${'99'.repeat(32)}`);
  expect(follower.base).toEqual(refOf(chain.at(0)));
  follower.finalise(3, refOf(chain.at(3)).hash);
  expect(follower.base).toEqual(refOf(chain.at(3)));
});

test('stored blocks with a hole are a broken invariant', () => {
  const chain = new FakeChain(12);
  chain.mineMany(4, 0);
  const refs = refsOf(chain, 1).filter((ref) => ref.number !== 2);
  expect(() => new HeadFollower(refOf(chain.at(0)), refs)).toThrow(/stored block 3/);
});

test('after any history of reorgs and finality the follower has the blocks of the chain', () => {
  for (let seed = 1; seed <= 25; seed += 1) {
    const random = seededRandom(seed);
    const { chain, follower } = followed(seed, 3);
    for (let step = 0; step < 80; step += 1) {
      const open = chain.head.number - follower.base.number;
      if (random() < 0.3 && open > 0) {
        const depth = 1 + Math.floor(random() * open);
        chain.reorg(depth, 1 + Math.floor(random() * (depth + 2)));
      } else chain.mineMany(1, 0);
      for (const ref of refsOf(chain, follower.base.number)) follower.advance(ref);
      expect([seed, hashesOf(follower.unfinalised)]).toEqual([
        seed,
        hashesOf(refsOf(chain, follower.base.number + 1)),
      ]);
      if (random() < 0.1) follower.finalise(chain.head.number - 5);
    }
  }
});
