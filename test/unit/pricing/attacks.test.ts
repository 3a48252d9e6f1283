/** Known ways to fake a price, block by block. Each test name states the attack and the required result. */
import { TRUSTED_MIN, type UsdPrice } from '../../../src/pricing/confidence';
import { Pricer, type MarketBlock } from '../../../src/pricing/pricer';
import { ANCHORS, DAI, NATIVE, token, v2, v3, type TestPool } from '../../support/worlds/pools';

const REM = token(50);
const SECONDS = 10;

/** The events of one block. The first move of a pool creates it. */
type Script = Readonly<Record<number, readonly { readonly pool: TestPool; readonly traded?: number }[]>>;

/** The price of a token at the end of each block from 32 to `last`; null if there is no price. */
function follow(of: string, last: number, script: Script): Map<number, UsdPrice | null> {
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const made = new Set<string>();
  const prices = new Map<number, UsdPrice | null>();
  for (let number = 32; number <= last; number += 1) {
    const moves = script[number] ?? [];
    const legs = moves.filter(({ pool }) => !made.has(pool.leg.key)).map(({ pool }) => pool.leg);
    for (const { key } of legs) made.add(key);
    const block: MarketBlock = {
      number,
      timestamp: 1_000_000 + number * SECONDS,
      legs: legs.map((leg) => ({ leg, older: false })),
      moves: moves.map(({ pool: { leg, state } }) => ({ key: leg.key, state })),
      traded: moves.flatMap(({ pool: { leg }, traded = 0 }) =>
        traded > 0 ? [{ key: leg.key, amount: traded }] : [],
      ),
    };
    pricer.apply(block, false);
    prices.set(number, pricer.priceOf(of as typeof REM));
  }
  return prices;
}

const trustedBlocks = (prices: ReadonlyMap<number, UsdPrice | null>, from: number): number[] =>
  [...prices].flatMap(([block, price]) =>
    block >= from && price !== null && price.confidence >= TRUSTED_MIN ? [block] : [],
  );

test('a drained pool loses the confidence of its price in the same block', () => {
  const full = v2(1, REM, 12_000, DAI, 60_000);
  const drained = v2(1, REM, 1e-15, DAI, 5e-15);
  // Someone swaps 30 times the remaining reserves, so the price rises 961-fold.
  const pushed = v2(1, REM, 1e-15 / 31, DAI, 155e-15);
  const prices = follow(REM, 200, {
    40: [{ pool: full }],
    101: [{ pool: drained }],
    102: [{ pool: pushed, traded: 150e-15 }],
  });
  expect(prices.get(100)).toMatchObject({ usd: 5, confidence: 0.86 });
  expect(trustedBlocks(prices, 101)).toEqual([]);
  expect(prices.get(101)!.confidence).toBe(0.01);
});

test('a pool that loses half of its depth loses confidence in the same block, and regains it when the depth returns', () => {
  const full = v2(1, REM, 12_000, DAI, 60_000);
  const half = v2(1, REM, 6_000, DAI, 30_000);
  const prices = follow(REM, 240, {
    40: [{ pool: full }],
    101: [{ pool: half }],
    110: [{ pool: full }],
  });
  expect(prices.get(100)!.confidence).toBe(0.86);
  // 30,000 / (30,000 + 10,000)
  expect(prices.get(101)!.confidence).toBe(0.75);
  expect(prices.get(110)!.confidence).toBe(0.86);
});

test('a pool that lost its depth gives the price to the pools that kept theirs', () => {
  const script: Script = {
    40: [{ pool: v2(1, REM, 12_000, DAI, 60_000) }, { pool: v2(2, REM, 2_000, DAI, 10_000) }],
    101: [{ pool: v2(1, REM, 12e-9, DAI, 60e-9) }],
    102: [{ pool: v2(1, REM, 1e-9, DAI, 720e-9), traded: 660e-9 }],
  };
  const prices = follow(REM, 127, script);
  expect(prices.get(102)!.usd).toBeCloseTo(5, 6);
  expect(prices.get(102)!.confidence).toBe(0.5);
});

test('a concentrated pool that holds only the known token has no depth', () => {
  const honest = v2(1, REM, 350_000, DAI, 350_000);
  // A bid of 14,000 DAI at half the price: the pool holds no REM.
  const bid = v3(2, REM, DAI, { price: 0.5, liquidity: 1e9, balanceA: 0, balanceB: 14_000 });
  const prices = follow(REM, 200, { 40: [{ pool: honest }, { pool: bid }] });
  for (const [block, price] of prices) if (block >= 64) expect([block, price!.usd]).toEqual([block, 1]);
});

test('dust pools near the price change neither price nor confidence', () => {
  const honest = { pool: v2(1, REM, 350_000, DAI, 350_000) };
  const dust = [2, 3].map((n) => ({ pool: v2(n, REM, 60 / 1.048, DAI, 60) }));
  const clean = follow(REM, 130, { 40: [honest] }).get(130)!;
  for (const count of [1, 2]) {
    const dusted = follow(REM, 130, { 40: [honest, ...dust.slice(0, count)] }).get(130)!;
    expect(Math.abs(dusted.usd / clean.usd - 1)).toBeLessThan(1e-4);
    expect(dusted.confidence).toBe(clean.confidence);
  }
});
