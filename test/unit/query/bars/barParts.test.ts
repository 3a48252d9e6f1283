import fc from 'fast-check';

import {
  addHeadParts,
  foldParts,
  mergeParts,
  partOfSwap,
  type BarPart,
  type HeadSwap,
} from '../../../../src/query/bars/barParts';

const SECONDS = 60;

const swapArbitrary = fc.record({
  gap: fc.nat(40),
  price: fc.oneof(fc.constant(0), fc.double({ min: 1e-30, max: 1e30, noNaN: true })),
  volume0: fc.bigInt(0n, 1n << 255n),
  volume1: fc.bigInt(0n, 1n << 112n),
  volumeUsd: fc.bigInt(1n, 10n ** 24n),
  tracked: fc.boolean(),
  isBuy: fc.boolean(),
});

/** A run of swaps with rising positions (`ord`). Several swaps may share a second. */
const swapsArbitrary = fc.array(swapArbitrary, { maxLength: 40 }).map((swaps) => {
  let timestamp = 1_700_000_000;
  return swaps.map(({ gap, ...swap }, index): HeadSwap => {
    timestamp += gap;
    return { ...swap, timestamp, ord: 1_000 + index * 3 };
  });
});

/** The bar of some swaps, computed in the plainest way. */
function barOf(swaps: readonly HeadSwap[], bucket: number): BarPart {
  const priced = swaps.filter(({ price }) => price > 0);
  const tracked = swaps.filter((swap) => swap.tracked);
  return {
    bucket,
    openOrd: priced[0]?.ord ?? 0,
    open: priced[0]?.price ?? 0,
    closeOrd: priced.at(-1)?.ord ?? 0,
    close: priced.at(-1)?.price ?? 0,
    high: priced.length === 0 ? 0 : Math.max(...priced.map(({ price }) => price)),
    low: priced.length === 0 ? 0 : Math.min(...priced.map(({ price }) => price)),
    volume0: swaps.reduce((sum, swap) => sum + swap.volume0, 0n),
    volume1: swaps.reduce((sum, swap) => sum + swap.volume1, 0n),
    volumeUsd: tracked.reduce((sum, swap) => sum + swap.volumeUsd, 0n),
    trades: swaps.length,
    untracked: swaps.length - tracked.length,
    buys: swaps.filter(({ isBuy }) => isBuy).length,
    lastOrd: swaps.at(-1)?.ord ?? 0,
  };
}

const bucketOf = (swap: HeadSwap): number => swap.timestamp - (swap.timestamp % SECONDS);

function barsOf(swaps: readonly HeadSwap[]): BarPart[] {
  const buckets = [...new Set(swaps.map(bucketOf))];
  return buckets.map((bucket) =>
    barOf(
      swaps.filter((swap) => bucketOf(swap) === bucket),
      bucket,
    ),
  );
}

/**
 * Bars in order of time. A bar without prices gets 0 for the positions of its open and close, which mean nothing
 * then.
 */
function comparable(bars: Iterable<BarPart>): unknown[] {
  return [...bars]
    .sort((a, b) => a.bucket - b.bucket)
    .map((bar) => (bar.open === 0 ? { ...bar, openOrd: 0, closeOrd: 0 } : bar));
}

test('merging bar parts in any order, with some head blocks already promoted, gives the bars of all swaps', () => {
  fc.assert(
    fc.property(swapsArbitrary, fc.nat(40), fc.nat(40), fc.infiniteStream(fc.nat(5)), (swaps, a, b, deal) => {
      const promoted = Math.max(a, b);
      const headFrom = Math.min(a, b);
      const heaps: HeadSwap[][] = [[], [], []];
      for (const swap of swaps.slice(0, promoted)) heaps[(deal.next().value ?? 0) % 3]?.push(swap);
      const bars = foldParts(heaps.flatMap(barsOf));
      const headParts = swaps.slice(headFrom).map((swap) => partOfSwap(swap, SECONDS));
      addHeadParts(bars, headParts, { from: 0, to: 4e9 });
      expect(comparable(bars.values())).toEqual(comparable(barsOf(swaps)));
    }),
    { numRuns: 500 },
  );
});

test('merging two bar parts does not depend on their order', () => {
  fc.assert(
    fc.property(swapsArbitrary, fc.nat(40), (swaps, cut) => {
      fc.pre(swaps.length > 1);
      const at = 1 + (cut % (swaps.length - 1));
      const [left, right] = [barOf(swaps.slice(0, at), 0), barOf(swaps.slice(at), 0)];
      expect(comparable([mergeParts(left, right)])).toEqual(comparable([mergeParts(right, left)]));
    }),
  );
});

test('head swaps outside the requested range add no bars', () => {
  const swap = {
    ord: 5,
    timestamp: 120,
    price: 1,
    volume0: 1n,
    volume1: 1n,
    volumeUsd: 0n,
    tracked: false,
    isBuy: true,
  };
  const bars = new Map<number, BarPart>();
  const headParts = [swap, { ...swap, ord: 6, timestamp: 180 }].map((each) => partOfSwap(each, 60));
  addHeadParts(bars, headParts, { from: 180, to: 240 });
  expect([...bars.keys()]).toEqual([180]);
});
