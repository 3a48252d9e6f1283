/**
 * Tests the pricer block by block: tokens priced in the block of their first pool, tokens priced from the
 * next epoch on, and the effect of a price push.
 */
import type { MarketBlock } from '../../../src/pricing/priceBlock';
import { Pricer } from '../../../src/pricing/pricer';
import { ANCHORS, DAI, NATIVE, token, v2, type TestPool } from '../../support/worlds/pools';

const T = token(50);
const CONFIG = { anchors: ANCHORS, wrappedNative: NATIVE };
const SECONDS = 10;
const MAKERS = [token(90), token(91)];

interface Part {
  readonly made?: readonly TestPool[];
  readonly moved?: readonly TestPool[];
  readonly traded?: readonly (readonly [TestPool, number])[];
}

/** Runs the pricer from block 32 on, with ten seconds per block. `parts` contains the events by block. */
function blocks(count: number, parts: Readonly<Record<number, Part>>): MarketBlock[] {
  return Array.from({ length: count }, (_, i) => {
    const number = 32 + i;
    const { made = [], moved = [], traded = [] } = parts[number] ?? {};
    return {
      number,
      timestamp: 1_000_000 + number * SECONDS,
      legs: made.map(({ leg }) => ({ leg, older: false })),
      moves: [...made, ...moved].map(({ leg, state }) => ({
        key: leg.key,
        steps: [{ state, cause: 'swap' }],
      })),
      traded: traded.map(([{ leg }, amount]) => ({ key: leg.key, amount, makers: MAKERS })),
    };
  });
}

const usdAt = (count: number, parts: Readonly<Record<number, Part>>, of = T): number | undefined => {
  const pricer = new Pricer(CONFIG);
  for (const block of blocks(count, parts)) pricer.apply(block, false);
  return pricer.priceOf(of)?.usd;
};

const POOL = v2(1, T, 1e6, DAI, 1e6);

test('a token is priced in the block of its first pool, with confidence 0.4 until the pool is 100 blocks old', () => {
  const pricer = new Pricer(CONFIG);
  const all = blocks(150, { 35: { made: [POOL], traded: [[POOL, 1]] } });
  const trust = all.map((block) => {
    pricer.apply(block, false);
    return pricer.priceOf(T)?.confidence;
  });
  expect(trust[2]).toBeUndefined();
  expect(pricer.routeOf(T)).toMatchObject({ recent: false, hops: 1 });
  expect([trust[3], trust[31]]).toEqual([0.4, 0.4]);
  // The pool is 100 blocks old at block 135, so the routes from block 160 on use it. The formula gives 10^6 / (10^6 +
  // 10^4) = 0.990. Derived prices are limited to 0.989.
  expect([trust[127], trust[128], trust[149]]).toEqual([0.4, 0.989, 0.989]);
});

test('on a chain with fast blocks, a pool must be 1,000 s old for a trusted price', () => {
  const pricer = new Pricer({ ...CONFIG, blockSeconds: 4 });
  const trust = blocks(350, { 35: { made: [POOL], traded: [[POOL, 1]] } }).map((block) => {
    pricer.apply(block, false);
    return pricer.priceOf(T)?.confidence;
  });
  // The pool is 250 blocks old at block 285, so the routes from block 288 on use it.
  expect([trust[255], trust[256]]).toEqual([0.4, 0.989]);
});

test('a new pool also prices the tokens that depend on it within the same epoch', () => {
  const second = v2(2, NATIVE, 2e6, T, 1e6);
  const parts = { 35: { made: [second] }, 37: { made: [POOL] } };
  expect(usdAt(5, parts, NATIVE)).toBeUndefined();
  expect(usdAt(6, parts, NATIVE)).toBe(0.5);
});

test('a price follows its pool in the same block, but after a jump without volume it follows the mean', () => {
  const step = v2(1, T, 1e6, DAI, 1.1e6);
  const jump = v2(1, T, 1e6, DAI, 3e6);
  expect(usdAt(39, { 35: { made: [POOL] }, 70: { moved: [step] } })).toBe(1.1);
  const held = usdAt(39, { 35: { made: [POOL] }, 70: { moved: [jump] } })!;
  expect(held).toBeCloseTo(1, 12);
  // The 2 % depth of a pool of a million is 9,950 DAI.
  const part = (amount: number) => ({ moved: [jump], traded: [[jump, amount]] as const });
  expect(usdAt(39, { 35: { made: [POOL] }, 70: part(9_900) })).toBeCloseTo(1, 12);
  expect(usdAt(39, { 35: { made: [POOL] }, 70: part(10_000) })).toBe(3);
});

test('a later trade in the pool releases a price that was held to its mean, in the same block', () => {
  const jump = v2(1, T, 1e6, DAI, 3e6);
  const pricer = new Pricer(CONFIG);
  const all = blocks(41, {
    35: { made: [POOL] },
    70: { moved: [jump] },
    72: { traded: [[jump, 10_000]] },
  });
  const changes = all.map((block) => pricer.apply(block, false).hops);
  expect(changes[40]!.map(({ token: of, after }) => [of, after.price])).toEqual([[T, 3]]);
});

test('a price held to its mean is computed again when an epoch begins, without a new event', () => {
  const jump = v2(1, T, 1e6, DAI, 3e6);
  const pricer = new Pricer(CONFIG);
  const all = blocks(70, { 35: { made: [POOL] }, 70: { moved: [jump] } });
  const changes = all.map((block) => pricer.apply(block, false).hops);
  const changed = changes.flatMap((hops, i) => hops.filter(({ token: of }) => of === T).map(() => 32 + i));
  // The price changed in the block of the first pool and in the first block of the epoch after the push. The push
  // itself changed no price.
  expect(changed).toEqual([35, 96]);
  // At the end of the epoch, the pool had had three times the price for 250 seconds.
  expect(pricer.priceOf(T)!.usd).toBeCloseTo(3 ** (1 - Math.exp(-250 / 1_800)), 12);
});

test('a push that reverts within the epoch leaves the stored and the current price equal', () => {
  const peak = v2(1, T, 1e6, DAI, 1e9);
  const pricer = new Pricer(CONFIG);
  const all = blocks(66, {
    35: { made: [POOL] },
    65: { moved: [peak], traded: [[peak, 1e6]] },
    95: { moved: [POOL] },
  });
  const stored = new Map<string, number>();
  for (const block of all)
    for (const { token: of, after } of pricer.apply(block, false).hops) stored.set(of, after.price);
  expect(pricer.priceOf(T)!.usd).toBe(stored.get(T));
});

test('a token whose pools are empty loses its price in the next epoch', () => {
  const empty: TestPool = { ...POOL, state: { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 } };
  const pricer = new Pricer(CONFIG);
  const all = blocks(66, { 35: { made: [POOL] }, 70: { moved: [empty] } });
  for (const block of all) pricer.apply(block, false);
  expect(pricer.priceOf(T)).toBeNull();
  expect(pricer.routeOf(T)).toMatchObject({ hops: 0, confidence: 0, pools: [] });
});

test('liquidity that is added and removed within two blocks changes neither route nor price', () => {
  const other = v2(2, T, 1e3, DAI, 1.001e3);
  const flood = v2(2, T, 1e9, DAI, 1.04e9);
  const parts = { 35: { made: [POOL, other] }, 94: { moved: [flood] }, 95: { moved: [other] } };
  const quiet = { 35: { made: [POOL, other] } };
  expect(usdAt(70, parts)).toBeCloseTo(usdAt(70, quiet)!, 12);
});
