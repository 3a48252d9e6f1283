/** Compares published costs with trades on a constant product pool, done step by step. */
import { manipulationCost, type CostHop, type CostPool } from '../../../src/pricing/cost/manipulationCost';

const SIDE = 1e6;
const pool = (changes: Partial<CostPool> = {}): CostPool => {
  const sideUsd = changes.sideUsd ?? SIDE;
  const known = { sideUsd, depthUsd: sideUsd * (Math.sqrt(1.02) - 1) };
  return {
    ...known,
    share: 1,
    log: 0,
    fee: 0,
    isRanged: false,
    concentration: 1,
    isVault: false,
    ...changes,
  };
};
const hopOf = (pools: readonly CostPool[]): CostHop => ({
  pools,
  dormant: null,
  otherFeeMax: 0,
  feeMax: Math.max(...pools.map(({ fee }) => fee)),
  hasOthers: pools.length > 1,
  hasUnused: false,
});
const upOf = (...hops: readonly (readonly CostPool[])[]) => manipulationCost(hops.map(hopOf)).up;

/**
 * Loss of an attacker who moves a pool with reserves x = y = side to the price r, and sells back at the fair price 1.
 */
const lostAt = (r: number, side = SIDE): number => {
  const [x, y] = [side / Math.sqrt(r), side * Math.sqrt(r)];
  return y - side - (side - x);
};

test('moving a constant product pool costs as much as arbitrage gains by trading it back', () => {
  const { up, down } = manipulationCost([hopOf([pool()])]);
  expect(up.p2).toBeCloseTo(lostAt(1.02), 0);
  expect(up.p10 / lostAt(1.1)).toBeCloseTo(1, 2);
  expect(up.p50 / lostAt(1.5)).toBeCloseTo(1, 2);
  expect(down.p2).toBeCloseTo(lostAt(0.98), 0);
  expect(down.p50 / lostAt(0.5)).toBeCloseTo(1, 2);
});

test('costs have three significant digits', () => {
  expect(upOf([pool({ sideUsd: 123_456_789 })]).p2).toBe(12_100);
  expect(upOf([pool({ sideUsd: 12 })]).p2).toBe(0.00118);
});

test('two equal pools of a hop cost their sum for a small move, and half of the sum for a large move', () => {
  const half = { share: 0.5 };
  const two = upOf([pool(half), pool(half)]);
  expect(two.p2 / upOf([pool()]).p2).toBeCloseTo(2, 1);
  // One moved pool is enough for a large move, because the other pool then leaves the hop.
  expect(two.p50 / upOf([pool()]).p50).toBeCloseTo(1, 1);
});

test('moving the price of an open pool costs the same beside a deeper vault pool, because the hop then excludes the vault pool', () => {
  const open = pool({ share: 0.2 });
  const vault = pool({ sideUsd: 4 * SIDE, share: 0.8, isVault: true });
  expect(upOf([open, vault]).p10 / lostAt(1.1)).toBeCloseTo(1, 1);
  // If the deeper pool is not a vault pool, the attacker must move it too, or supply as much depth.
  expect(upOf([open, { ...vault, isVault: false }]).p10 / lostAt(1.1)).toBeGreaterThan(2);
});

test('a hop of vault pools costs about a tenth if an unused open pool could join it and exclude them', () => {
  const hop = hopOf([pool({ isVault: true })]);
  const costOf = (hasUnused: boolean) => manipulationCost([{ ...hop, hasUnused }]).up;
  expect(costOf(true).p10 / costOf(false).p10).toBeCloseTo(0.1, 2);
  expect(costOf(false).p10 / lostAt(1.1)).toBeCloseTo(1, 1);
});

test('an open pool with less than a tenth of the depth needs more depth to exclude a vault pool', () => {
  const vault = pool({ sideUsd: 1000 * SIDE, share: 0.999, isVault: true });
  expect(upOf([pool({ share: 0.001 }), vault]).p10 / lostAt(1.1)).toBeGreaterThan(50);
});

test('a pool of the route without depth returns with as much depth as the attacker offers at a false price', () => {
  const hop = hopOf([pool()]);
  const { up } = manipulationCost([{ ...hop, dormant: { isRanged: true } }]);
  const { depthUsd } = pool();
  // Others trade against all the depth that the attacker offers at 1.5 times the true price. The attacker pays 1.5 for
  // what is worth 1, and loses 1 − 1 / 1.5 of the depth, a third.
  expect(up.p50 / (depthUsd * (1 - 1 / 1.5))).toBeCloseTo(1, 1);
  expect(up.p2).toBe(manipulationCost([hop]).up.p2);
});

test('the attacker splits the move between hops, so two equal hops cost half as much as one', () => {
  expect(upOf([pool()], [pool()]).p2 / upOf([pool()]).p2).toBeCloseTo(0.5, 2);
  expect(upOf([pool()], [pool({ sideUsd: 1e12 })]).p2 / upOf([pool()]).p2).toBeCloseTo(1, 2);
});

test('a hop whose deepest pool has a limited weight costs less to move', () => {
  const pools = [
    pool({ sideUsd: 9e5, share: 0.6 }),
    pool({ sideUsd: 5e4, share: 0.2 }),
    pool({ sideUsd: 5e4, share: 0.2 }),
  ];
  // The cheapest move of these pools costs as much as a move of one pool with 1 / Σ(share² / side) = 1 / (0.36/9e5 +
  // 2 · 0.04/5e4) = 500,000 USD on each side. If the weights followed the depth, it would be 1,000,000 USD.
  expect(upOf(pools).p2).toBeCloseTo(lostAt(1.02, 5e5), 0);
});

test('the price moves at no cost when weight shifts to a more favourable pool of another hop', () => {
  const deep = { share: 0.999, sideUsd: 1e9 };
  const off = pool({ share: 0.001, sideUsd: 1e6, log: 0.009, fee: 0.02 });
  const [with_, without] = [upOf([pool()], [pool(deep), off]), upOf([pool()])];
  // The fair price is at most the price of the deep pool. The other pool has a fee of 2 %, so arbitrage leaves its
  // ln(price) up to 0.02 above the fair price. If the attacker shifts weight to this pool, the price of the hop moves
  // by 2 % at no cost.
  expect(with_.p2).toBe(0);
  expect(with_.p50).toBeGreaterThan(0.8 * without.p50);
});

test('a move of a concentrated pool costs its liquidity up to 2 %, and beyond 2 % the depth that the attacker must offer', () => {
  const ranged = upOf([pool({ isRanged: true })]);
  expect(ranged.p2).toBe(upOf([pool()]).p2);
  // Beyond 2 %, the attacker must offer the least depth of a trusted price: 10,000 USD on the known side have a depth
  // of 99.5 USD. Others buy this depth from the attacker at a price that is wrong by 50 %.
  expect(ranged.p50).toBeCloseTo(lostAt(1.02) + 99.5 * (1 - 1 / 1.5), 0);
});

test('a pool whose narrow range holds less than its liquidity implies costs less to move', () => {
  const narrow = pool({ isRanged: true, depthUsd: 1_000 });
  // The range pays out 1,000 USD, while its liquidity equals 1,000,000 USD on each side. It ends after a move of 2 ·
  // 1,000 / 1,000,000 = 0.2 %, which costs 1,000² / 1,000,000 = 1 USD. Moving on from there to 2 % costs nothing.
  expect(upOf([narrow]).p2).toBe(1);
});

test('costs of extreme pools are finite', () => {
  for (const sideUsd of [Infinity, 1e300, 1e-300, 0])
    for (const isRanged of [true, false])
      for (const pools of [[pool({ sideUsd, isRanged })], [pool({ sideUsd, isRanged }), pool()]]) {
        const { up, down } = manipulationCost([hopOf(pools)]);
        for (const usd of [...Object.values(up), ...Object.values(down)])
          expect(usd >= 0 && Number.isFinite(usd)).toBe(true);
      }
});
