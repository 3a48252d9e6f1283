import fc from 'fast-check';

import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import { findPricePoints, priceOfToken, type PathChange } from '../../../../src/query/bars/pathPoints';
import type { Hop } from '../../../../src/query/prices/priceByHops';

const NAMES = ['A', 'B', 'C', 'D'];
const TIME = 1_700_000_000;

const hopOf = (nextToken: string, price: number): Hop => ({ nextToken, price, confidence: 0, cap: 0 });

/** A token's hop leads to a later token or to USD, so no path is a loop. A price of 0 is no price. */
const hopArbitrary = fc.tuple(fc.nat(3), fc.nat(4), fc.constantFrom(0, 0.5, 2, 3));

/** Up to four changes in each of a few blocks. */
const blocksArbitrary = fc.array(fc.array(hopArbitrary, { maxLength: 4 }), { minLength: 1, maxLength: 12 });

/** The price of a token by its hops, or null. */
function priceOf(hops: ReadonlyMap<string, Hop>, token: string): number | null {
  const hop = hops.get(token);
  if (hop === undefined || hop.price === 0) return null;
  if (hop.nextToken === ZERO_ADDRESS) return hop.price;
  const next = priceOf(hops, hop.nextToken);
  return next === null ? null : hop.price * next;
}

test('a price point is each block whose price differs from the price one block before, in USD and in a native token', async () => {
  await fc.assert(
    fc.asyncProperty(blocksArbitrary, fc.boolean(), fc.boolean(), async (blocks, native, isFirst) => {
      const hops = new Map<string, Hop>();
      const changes: PathChange[] = [];
      const wanted: { ord: number; price: number }[] = [];
      const now = (): number | null => {
        const [usd, nativeUsd] = [priceOf(hops, 'A'), native ? priceOf(hops, 'C') : 1];
        return usd === null || nativeUsd === null ? null : usd / nativeUsd;
      };
      let before = now();
      blocks.forEach((block, number) => {
        for (const [from, distance, price] of new Map(block.map((hop) => [hop[0], hop])).values()) {
          const hop = hopOf(NAMES[from + 1 + distance] ?? ZERO_ADDRESS, price);
          const token = NAMES[from]!;
          const previous = hops.get(token) ?? hopOf(ZERO_ADDRESS, 0);
          changes.push({ token, ord: number, timestamp: TIME + number, hop, previous });
          hops.set(token, hop);
        }
        const price = now();
        if (price !== null && price !== before) wanted.push({ ord: number, price });
        before = price;
      });
      const points = await findPricePoints({
        changes,
        hops: new Map(),
        priceOf: priceOfToken('A', native ? 'C' : null),
        firstBlock: isFirst ? { ord: 0, timestamp: TIME } : null,
      });
      expect(points).toEqual(wanted.map((point) => ({ ...point, timestamp: TIME + point.ord })));
    }),
  );
});

test('a price that the token has in its first block is a point, also without a change of a hop', async () => {
  const anchor = (): Map<string, Hop> => new Map([['A', hopOf(ZERO_ADDRESS, 1)]]);
  const range = { changes: [], priceOf: priceOfToken('A', null) };
  expect(
    await findPricePoints({ ...range, hops: anchor(), firstBlock: { ord: 7, timestamp: TIME } }),
  ).toEqual([{ ord: 7, timestamp: TIME, price: 1 }]);
  expect(await findPricePoints({ ...range, hops: anchor(), firstBlock: null })).toEqual([]);
});

test('the wrapped native token is worth one native coin, even without a USD price', () => {
  expect(priceOfToken('A', 'A')(new Map())).toBe(1);
  expect(priceOfToken('A', 'B')(new Map([['A', hopOf(ZERO_ADDRESS, 1)]]))).toBeNull();
});
