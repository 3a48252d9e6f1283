/** Known ways to fake a price, block by block. Each test name states the attack and the required result. */
import { TRUSTED_MIN, type UsdPrice } from '../../../src/pricing/confidence';
import type { Hex } from '../../../src/domain/hex';
import type { LegStep } from '../../../src/pricing/holds';
import type { MarketBlock } from '../../../src/pricing/priceBlock';
import { Pricer } from '../../../src/pricing/pricer';
import { ANCHORS, DAI, NATIVE, token, USDC, v2, v3, type TestPool } from '../../support/worlds/pools';

const REM = token(50);
const SECONDS = 10;
const MAKERS = [token(90), token(91)];
type Seen = UsdPrice | null;

/** One event of a block. The first move of a pool creates the pool. */
interface Move {
  readonly pool: TestPool;
  readonly traded?: number;
  readonly cause?: LegStep['cause'];
}
type Script = Readonly<Record<number, readonly Move[]>>;

/** An honest pool: two makers trade in the block after its creation. */
const honest = (pool: TestPool): Script => ({ 40: [{ pool }], 41: [{ pool, traded: 1e-9 }] });
/** From this block on, routes use pools that were created in block 40. */
const GROWN = 160;

/** Returns the price of a token at the end of each block from 32 to `last`; null: no price. */
function follow(of: Hex, last: number, ...scripts: readonly Script[]): Map<number, Seen> {
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const made = new Set<string>();
  const prices = new Map<number, Seen>();
  for (let number = 32; number <= last; number += 1) {
    const moves = scripts.flatMap((script) => script[number] ?? []);
    const legs = moves.filter(({ pool }) => !made.has(pool.leg.key)).map(({ pool }) => pool.leg);
    for (const { key } of legs) made.add(key);
    const block: MarketBlock = {
      number,
      timestamp: 1_000_000 + number * SECONDS,
      legs: legs.map((leg) => ({ leg, older: false })),
      moves: moves.map(({ pool: { leg, state }, cause = 'swap' }) => ({
        key: leg.key,
        steps: [{ state, cause }],
      })),
      traded: moves.flatMap(({ pool: { leg }, traded = 0 }) =>
        traded > 0 ? [{ key: leg.key, amount: traded, makers: MAKERS }] : [],
      ),
    };
    pricer.apply(block, false);
    prices.set(number, pricer.priceOf(of));
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
  // Someone swaps 30 times the remaining reserves into the drained pool, so its price rises (1 + 30)² = 961 times.
  const pushed = v2(1, REM, 1e-15 / 31, DAI, 155e-15);
  const prices = follow(REM, 260, honest(full), {
    201: [{ pool: drained, cause: 'other' }],
    202: [{ pool: pushed, traded: 150e-15 }],
  });
  expect(prices.get(200)).toMatchObject({ usd: 5, confidence: 0.86 });
  expect(trustedBlocks(prices, 201)).toEqual([]);
  expect(prices.get(201)!.confidence).toBe(0.01);
});

test('a pool that loses half of its depth loses confidence in the same block, and regains it when the depth returns', () => {
  const full = v2(1, REM, 12_000, DAI, 60_000);
  const half = v2(1, REM, 6_000, DAI, 30_000);
  const prices = follow(REM, 220, honest(full), { 201: [{ pool: half }], 210: [{ pool: full }] });
  expect(prices.get(200)!.confidence).toBe(0.86);
  // The confidence by depth is 30,000 / (30,000 + 10,000).
  expect(prices.get(201)!.confidence).toBe(0.75);
  expect(prices.get(210)!.confidence).toBe(0.86);
});

test('when a pool loses its depth, the pools that kept their depth set the price', () => {
  const prices = follow(
    REM,
    222,
    honest(v2(1, REM, 12_000, DAI, 60_000)),
    honest(v2(2, REM, 2_000, DAI, 10_000)),
    {
      201: [{ pool: v2(1, REM, 12e-9, DAI, 60e-9), cause: 'other' }],
      202: [{ pool: v2(1, REM, 1e-9, DAI, 720e-9), traded: 660e-9 }],
    },
  );
  expect(prices.get(202)!.usd).toBeCloseTo(5, 6);
  expect(prices.get(202)!.confidence).toBe(0.5);
});

test('a pool with three blocks of liquidity before an epoch gives a price below medium confidence in the epoch', () => {
  // Block 223 is the last one of its epoch. From block 223 to 225 the pool holds 228,645 DAI at 100 times the honest
  // price.
  const script: Script = {
    40: [{ pool: v2(1, REM, 1e-6, DAI, 5e-4), traded: 1e-9 }],
    223: [{ pool: v2(1, REM, 457, DAI, 228_645), cause: 'other' }],
    226: [{ pool: v2(1, REM, 1e-6, DAI, 5e-4), cause: 'other' }],
  };
  expect(trustedBlocks(follow(REM, 300, script), 200)).toEqual([]);
  // Beside an honest pool, the pool with three blocks of liquidity does not change the price.
  const beside = follow(REM, 300, honest(v2(2, REM, 10_000, DAI, 50_000)), script);
  for (let block = GROWN; block <= 300; block += 1) expect(beside.get(block)!.usd).toBeCloseTo(5, 6);
});

test('a donation moves the price only as fast as the mean of 30 minutes', () => {
  const calm = v2(1, REM, 12_000, DAI, 60_000);
  const donated = v2(1, REM, 12_000, DAI, 360_000);
  const prices = follow(REM, 260, honest(calm), { 201: [{ pool: donated, cause: 'other' }] });
  expect(prices.get(201)!.usd).toBeCloseTo(5, 9);
  expect(prices.get(223)!.usd).toBeCloseTo(5, 9);
  // At the start of the epoch of block 224 the pool has had six times the price for 220 seconds.
  expect(prices.get(224)!.usd).toBeCloseTo(5 * 6 ** (1 - Math.exp(-220 / 1800)), 6);
});

test('a donation inside a swap moves the price as slowly as a donation without a swap', () => {
  const donated = v2(1, REM, 11_999.999, DAI, 360_000);
  const prices = follow(REM, 210, honest(v2(1, REM, 12_000, DAI, 60_000)), {
    201: [{ pool: donated, cause: 'reserve_swap', traded: 300_000 }],
  });
  expect(prices.get(201)!.usd).toBeCloseTo(5, 2);
});

test('after swaps took a donation out again, the price is as without the donation', () => {
  const calm = v2(1, REM, 12_000, DAI, 60_000);
  const back = v2(1, REM, 12_000 * Math.sqrt(6), DAI, 60_000 * Math.sqrt(6));
  const risen = v2(1, REM, 12_000 * Math.sqrt(6 / 1.1), DAI, 60_000 * Math.sqrt(6 * 1.1));
  const prices = follow(REM, 212, honest(calm), {
    201: [{ pool: v2(1, REM, 12_000, DAI, 360_000), cause: 'other' }],
    202: [{ pool: back, cause: 'reserve_swap', traded: 150_000 }],
    210: [{ pool: risen, cause: 'reserve_swap', traded: 10_000 }],
  });
  expect(prices.get(202)!.usd).toBeCloseTo(5, 9);
  // A later rise of 10 % by a swap moves the price in the same block.
  expect(prices.get(210)!.usd).toBeCloseTo(5.5, 9);
});

test('an anchor that lost its role is never valued above 1.02 USD', () => {
  const pools = [honest(v2(1, USDC, 1e6, DAI, 9e5)), honest(v2(2, USDC, 1e6, DAI, 9e5))];
  const pushed = v2(1, USDC, 1e5, DAI, 9e5);
  const prices = follow(USDC, 210, ...pools, {
    200: [{ pool: pushed, traded: 1e6 }],
    201: [{ pool: v2(2, USDC, 1e5, DAI, 9e5), traded: 1e6 }],
  });
  expect(prices.get(199)!.usd).toBeCloseTo(0.9, 9);
  for (let block = 200; block <= 210; block += 1) expect(prices.get(block)!.usd).toBeLessThanOrEqual(1.02);
  expect(prices.get(201)!.usd).toBe(1.02);
});

test('a concentrated pool that holds only the known token has no depth', () => {
  // A bid of 14,000 DAI at half the price: the pool holds no REM.
  const bid = v3(2, REM, DAI, { price: 0.5, liquidity: 1e9, balanceA: 0, balanceB: 14_000 });
  const prices = follow(REM, 260, honest(v2(1, REM, 350_000, DAI, 350_000)), honest(bid));
  for (let block = 64; block <= 260; block += 1) expect([block, prices.get(block)!.usd]).toEqual([block, 1]);
});

test('dust pools near the price change neither price nor confidence', () => {
  const deep = honest(v2(1, REM, 350_000, DAI, 350_000));
  const dust = [2, 3].map((n) => honest(v2(n, REM, 60 / 1.048, DAI, 60)));
  const clean = follow(REM, 230, deep).get(230)!;
  for (const count of [1, 2]) {
    const dusted = follow(REM, 230, deep, ...dust.slice(0, count)).get(230)!;
    expect(Math.abs(dusted.usd / clean.usd - 1)).toBeLessThan(1e-4);
    expect(dusted.confidence).toBe(clean.confidence);
  }
});
