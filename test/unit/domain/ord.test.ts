import fc from 'fast-check';

import { blockOfOrd, eventId, lastOrdOfBlock, logIndexOfOrd, ORD_SPAN, toOrd } from '../../../src/domain/ord';

/** The store keeps block numbers in 32 bits. Up to this block, an ord (position in the chain) is exact as a
 * JavaScript number. */
const BLOCK_MAX = 2 ** 32 - 1;
const block = fc.integer({ min: 0, max: BLOCK_MAX });
const logIndex = fc.integer({ min: 0, max: ORD_SPAN - 1 });

describe('an ord gives the position of a log in the chain', () => {
  it('an ord gives back its block and log index at any height', () => {
    const property = fc.property(block, logIndex, (number, index) => {
      const ord = toOrd(number, index);
      expect(Number.isSafeInteger(ord)).toBe(true);
      expect([blockOfOrd(ord), logIndexOfOrd(ord)]).toEqual([number, index]);
      expect(BigInt(ord)).toBe((BigInt(number) << 20n) + BigInt(index));
      expect(eventId(ord)).toBe(`${number}-${index}`);
    });
    fc.assert(property, { numRuns: 2_000 });
    expect(eventId(toOrd(BLOCK_MAX, ORD_SPAN - 1))).toBe('4294967295-1048575');
  });

  it('ords sort events by block, then by log index', () => {
    const property = fc.property(block, logIndex, block, logIndex, (blockA, indexA, blockB, indexB) => {
      const expected = Math.sign(blockA - blockB || indexA - indexB);
      expect(Math.sign(toOrd(blockA, indexA) - toOrd(blockB, indexB))).toBe(expected);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('the ords of the last log of a block and the first log of the next block are consecutive', () => {
    expect(lastOrdOfBlock(17_000_000) + 1).toBe(toOrd(17_000_001, 0));
    expect(lastOrdOfBlock(0)).toBe(ORD_SPAN - 1);
  });
});
