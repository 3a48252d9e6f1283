/** Walks of tick maps, compared with the amounts of every single position before and after the move of the price. */
import { isTickRange, TickMap, TICKS_MAX, type TickState } from '../../../src/protocols/ticks/tickMap';
import {
  amountsOfLiquidity,
  sqrtRatioAtTick,
  TICK_MAX,
  TICK_MIN,
} from '../../../src/protocols/ticks/tickMath';
import { Random } from '../../support/random';

const Q96 = 2 ** 96;
const SEEDS = 200;
const PLENTY = 10n ** 60n;

interface Position {
  readonly lower: number;
  readonly upper: number;
  readonly liquidity: bigint;
}

const mapOf = (positions: readonly Position[]): TickMap => {
  const map = new TickMap();
  for (const { lower, upper, liquidity } of positions) map.addRange(lower, upper, liquidity);
  return map;
};

/** State of a pool with these positions. `root` is its square-root price (sqrtPriceX96). */
function stateAt(positions: readonly Position[], tick: number, root = sqrtRatioAtTick(tick)): TickState {
  const active = positions.filter(({ lower, upper }) => lower <= tick && tick < upper);
  const liquidity = active.reduce((sum, position) => sum + position.liquidity, 0n);
  return { sqrt_price_x96: root, tick, liquidity, reserve0: PLENTY, reserve1: PLENTY };
}

/** Tokens that leave all positions while the price moves to `part` of itself (SqrtPriceMath.sol). */
function paid(positions: readonly Position[], root: bigint, part: number): { paid0: number; paid1: number } {
  const end = BigInt(Math.round(Math.sqrt(part) * 1e15)) * root;
  let [paid0, paid1] = [0n, 0n];
  for (const { lower, upper, liquidity } of positions) {
    const before = amountsOfLiquidity(root, lower, upper, liquidity);
    const after = amountsOfLiquidity(end / 10n ** 15n, lower, upper, liquidity);
    paid0 += before.amount0 - after.amount0;
    paid1 += before.amount1 - after.amount1;
  }
  return { paid0: Number(paid0), paid1: Number(paid1) };
}

function randomPositions(random: Random, spacing: number, centre: number): Position[] {
  return Array.from({ length: random.int(0, 40) }, () => {
    const lower = centre + random.int(-9_000 / spacing, 9_000 / spacing) * spacing;
    const width = random.chance(0.5) ? 1 : random.int(1, Math.floor(12_000 / spacing));
    return { lower, upper: lower + width * spacing, liquidity: 10n ** 20n + random.big(100) };
  });
}

const near = (found: number, wanted: number): boolean =>
  Math.abs(found - wanted) <= 1e-9 * Math.abs(wanted) + 1e6;

test('a walk pays out what leaves all positions while the price moves, in random pools', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new Random(seed);
    const spacing = random.pick([1, 10, 60, 200]);
    const centre = random.int(-1_000, 1_000) * 200;
    const positions = randomPositions(random, spacing, centre);
    const tick = centre + random.int(-3_000, 3_000);
    const low = sqrtRatioAtTick(tick);
    const root = low + ((sqrtRatioAtTick(tick + 1) - low) * BigInt(random.int(0, 99))) / 100n;
    const state = stateAt(positions, tick, root);
    const walked = mapOf(positions).walk(state)!;
    const price = Number(root) / Q96;
    const up = (paid(positions, root, 1.02).paid0 * price) / (1 - 1 / Math.sqrt(1.02));
    const down = paid(positions, root, 0.98).paid1 / price / (1 - Math.sqrt(0.98));
    const wanted = {
      liquidity: Math.min(up, down),
      near0: paid(positions, root, 1.5).paid0,
      near1: paid(positions, root, 0.5).paid1,
    };
    // The amounts of each position are rounded by up to one raw unit. At extreme prices one raw unit is much
    // liquidity, so an absolute error is allowed.
    const same =
      Math.abs(walked.liquidity - wanted.liquidity) <= 1e-9 * wanted.liquidity + 1e12 &&
      near(walked.near0, wanted.near0) &&
      near(walked.near1, wanted.near1);
    expect({ seed, same, walked, wanted }).toMatchObject({ same: true });
  }
});

test('a position over all prices pays out 18.35 % of its token0 until the price is 1.5 times as high, and 29.29 % of its token1 until the price is half', () => {
  const positions = [{ lower: TICK_MIN, upper: TICK_MAX, liquidity: 10n ** 24n }];
  const walked = mapOf(positions).walk(stateAt(positions, 0))!;
  expect(walked.liquidity / 1e24).toBeCloseTo(1, 12);
  expect(walked.near0 / 1e24).toBeCloseTo(1 - 1 / Math.sqrt(1.5), 12);
  expect(walked.near1 / 1e24).toBeCloseTo(1 - Math.sqrt(0.5), 12);
});

test('a pool that pays out only one of its tokens near the price counts as having no liquidity', () => {
  const offer = [{ lower: 60, upper: 120, liquidity: 10n ** 24n }];
  expect(mapOf(offer).walk(stateAt(offer, 0))).toMatchObject({ liquidity: 0, near1: 0 });
  const bid = [{ lower: -120, upper: -60, liquidity: 10n ** 24n }];
  expect(mapOf(bid).walk(stateAt(bid, 0))).toMatchObject({ liquidity: 0, near0: 0 });
});

test('bids below half of the price, and offers above one and a half times the price, back no depth', () => {
  // Tick 4,055 is 1.5 times the price at tick 0, and tick −6,932 is half of this price.
  const far = [
    { lower: 4_056, upper: 5_000, liquidity: 10n ** 24n },
    { lower: -8_000, upper: -6_932, liquidity: 10n ** 24n },
  ];
  expect(mapOf(far).walk(stateAt(far, 0))).toEqual({ liquidity: 0, near0: 0, near1: 0 });
  const inside = [
    { lower: 4_050, upper: 5_000, liquidity: 10n ** 24n },
    { lower: -8_000, upper: -6_930, liquidity: 10n ** 24n },
  ];
  const walked = mapOf(inside).walk(stateAt(inside, 0))!;
  expect(walked.near0).toBeGreaterThan(0);
  expect(walked.near1).toBeGreaterThan(0);
});

test('a walk finds no liquidity beyond the end of a huge position that ends exactly at the price', () => {
  const huge = 10n ** 37n + 1n;
  const positions = [
    { lower: 0, upper: 60, liquidity: huge },
    { lower: -9_000, upper: -8_000, liquidity: 10n ** 20n },
  ];
  const walked = mapOf(positions).walk(stateAt(positions, 0))!;
  expect(walked).toMatchObject({ liquidity: 0, near1: 0 });
  // The price stands just below the end of the position, so the pool has no token0 left.
  const offers = [{ lower: -60, upper: 0, liquidity: huge }];
  const state = stateAt(offers, -1, sqrtRatioAtTick(0) - 1n);
  expect(mapOf(offers).walk(state)!.near0).toBeLessThan(1e37 / Q96 + 1);
});

test('a pool pays out at most what it holds', () => {
  const positions = [{ lower: -600, upper: 600, liquidity: 10n ** 24n }];
  const state = { ...stateAt(positions, 0), reserve0: 5n, reserve1: 7n };
  expect(mapOf(positions).walk(state)).toMatchObject({ near0: 5, near1: 7 });
});

test('a pool without a price cannot be walked', () => {
  const state = { sqrt_price_x96: 0n, tick: 0, liquidity: 0n, reserve0: 0n, reserve1: 0n };
  expect(new TickMap().walk(state)).toBeNull();
});

test('burns undo mints exactly, in any order', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = new Random(seed);
    const kept = randomPositions(random, 10, 0);
    const gone = randomPositions(random, 10, 0);
    const map = new TickMap();
    // Burns that are added before their mints, as when a reorg undoes blocks, leave no trace either.
    for (const { lower, upper, liquidity } of gone) map.addRange(lower, upper, -liquidity);
    for (const { lower, upper, liquidity } of kept) map.addRange(lower, upper, liquidity);
    for (const { lower, upper, liquidity } of gone) map.addRange(lower, upper, liquidity);
    const state = stateAt(kept, random.int(-2_000, 2_000));
    expect({ seed, walked: map.walk(state) }).toEqual({ seed, walked: mapOf(kept).walk(state) });
    expect(map.size).toBe(mapOf(kept).size);
  }
});

test('a walk crosses a bounded number of ticks, and gives the amounts paid out up to the last tick', () => {
  const positions = Array.from({ length: 3_000 }, (_, i) => ({
    lower: i,
    upper: i + 1,
    liquidity: 10n ** 24n + BigInt(i),
  }));
  const walked = mapOf(positions).walk(stateAt(positions, 0))!;
  const reached = positions.slice(0, TICKS_MAX + 1);
  const { paid0 } = paid(reached, sqrtRatioAtTick(0), 1.5);
  expect(Math.abs(walked.near0 / paid0 - 1)).toBeLessThan(1e-6);
});

test('hostile numbers give finite depths', () => {
  const extremes = [1n, 2n, 4_295_128_739n, 1n << 96n, (1n << 160n) - 1n];
  for (const root of extremes) {
    for (const tick of [TICK_MIN, -1, 0, TICK_MAX, 8_388_607, -8_388_608]) {
      for (const liquidity of [0n, (1n << 128n) - 1n]) {
        const map = new TickMap();
        for (let i = 0; i < 20; i += 1) {
          map.addRange(TICK_MIN, TICK_MAX, (1n << 128n) - 1n);
          map.addRange(-i - 1, i, i % 2 === 0 ? (1n << 128n) - 1n : -(1n << 128n));
        }
        const reserve = (1n << 256n) - 1n;
        const state = { sqrt_price_x96: root, tick, liquidity, reserve0: reserve, reserve1: reserve };
        const walked = map.walk(state)!;
        for (const value of [walked.liquidity, walked.near0, walked.near1]) {
          expect(Number.isFinite(value)).toBe(true);
          expect(value).toBeGreaterThanOrEqual(0);
        }
      }
    }
  }
});

test('only ranges that a position can have are accepted', () => {
  expect(isTickRange(-60, 60)).toBe(true);
  expect(isTickRange(TICK_MIN, TICK_MAX)).toBe(true);
  for (const [lower, upper] of [
    [60, 60],
    [60, -60],
    [TICK_MIN - 1, 0],
    [0, TICK_MAX + 1],
    [null, 0],
    [0, null],
  ] as const)
    expect(isTickRange(lower, upper)).toBe(false);
});
