import fc from 'fast-check';

import type { Hex } from '../../../src/domain/hex';
import { curveLiquidity } from '../../../src/protocols/curve/curveDepth';
import {
  curveAt,
  curvePrice,
  exchangeTokens,
  getDy,
  toXp,
  virtualPrice,
  type CurvePool,
} from '../../../src/protocols/curve/curvePool';
import { withCurvePool } from '../../../src/protocols/curve/curveParams';
import { curveStable } from '../../../src/protocols/curve/curveStable';
import { explainCurveEvent } from '../../../src/protocols/curve/curveState';
import { emptyManyTokenState } from '../../../src/protocols/manyTokenPool';
import { getD, solveBalance } from '../../../src/protocols/curve/stableMath';
import { runsOf } from '../../support/run/runs';

const E18 = 10n ** 18n;
const E30 = 10n ** 30n;
const POOL: CurvePool = {
  kind: 'ng',
  isKilled: false,
  ramp: { fromAmp: 20_000n, toAmp: 20_000n, fromTime: 0n, toTime: 0n },
  fee: 4_000_000n,
  adminFee: 5_000_000_000n,
  offpeg: 20_000_000_000n,
  supply: E18,
  rates: [E30, E30],
  asksRates: false,
  base: null,
  asksBalances: false,
  lentUnits: [],
  balances: [50_980n, 75_958n],
};
const rampOf = (amp: bigint): CurvePool['ramp'] => ({ ...POOL.ramp, fromAmp: amp, toAmp: amp });

/** curve/stable-ng/pool_simulator_test.go of KyberNetwork/kyberswap-dex-lib: answers of get_dy on Arbitrum. */
const USDT_USDC = POOL;
const CRVUSD_USDC: CurvePool = {
  ...POOL,
  ramp: rampOf(100_000n),
  fee: 1_000_000n,
  offpeg: 50_000_000_000n,
  rates: [E18, E30],
  balances: [8994725349517509957774712n, 1568153728639n],
};
/** curve/plain/pool_simulator_test.go: pools of the factory of 2021. */
const THREE_EUR: CurvePool = {
  ...POOL,
  kind: 'factory',
  ramp: rampOf(1_000n),
  offpeg: 0n,
  rates: [E18, E18, E30],
  balances: [103902458912250371998101n, 96026429950922739854657n, 90684626303n],
};
const ETH_OETH: CurvePool = {
  ...THREE_EUR,
  kind: 'pair',
  ramp: rampOf(40_000n),
  rates: [E18, E18],
  balances: [8189776041162322264444n, 9661706603857954240258n],
};
const EUR_BALANCES: CurvePool = {
  ...THREE_EUR,
  ramp: rampOf(20_000n),
  rates: [E18, E30, 10n ** 34n],
  balances: [549022857960890312641141n, 1075362632212n, 46720010n],
};
/** The second rate moves. */
const CRVUSD_SDAI: CurvePool = {
  ...ETH_OETH,
  ramp: rampOf(150_000n),
  fee: 1_000_000n,
  rates: [E18, 1057419823498475822n],
  balances: [207488005116042557636229n, 47921035344869338429831n],
};
/** curve/stable-meta-ng/pool_simulator_test.go: meta pools of StableSwap-NG with their base pools. */
const PYUSD_USDC: CurvePool = {
  ...CRVUSD_USDC,
  ramp: rampOf(15_000n),
  supply: 37260809758180318203561662n,
  rates: [E30, E30],
  balances: [20645714947000n, 16619279610257n],
};
const MKUSD_META: CurvePool = {
  ...POOL,
  ramp: rampOf(15_000n),
  rates: [E18, 1000073197173325044n],
  balances: [1400402037639032709376918n, 389831262966377525851519n],
};
const THREE_POOL: CurvePool = {
  ...POOL,
  kind: 'registry',
  ramp: rampOf(2_000n),
  fee: 1_000_000n,
  offpeg: 0n,
  supply: 177637651221630809031052488n,
  rates: [E18, E30, E30],
  balances: [74882317978601283428112533n, 76066551886323n, 32115318520985n],
};
/** source/curve/meta/pool_simulator_test.go: a meta pool on 3pool, with 3pool at the same time. */
const THREE_POOL_2022: CurvePool = {
  ...THREE_POOL,
  supply: 352290453972395231054279357n,
  balances: [93649867132724477811796755n, 92440712316473n, 175421309630243n],
};
const UST_META: CurvePool = {
  ...THREE_EUR,
  ramp: rampOf(25_000n),
  rates: [E18, virtualPrice(THREE_POOL_2022, 1_660_000_000)!],
  balances: [4763102571534863472313821n, 15272752439110430673281n],
};
/** source/curve/base/pool_simulator_test.go: a contract whose swaps round as Pancake's port. A is 1,500. */
const FIRST: CurvePool = {
  ...POOL,
  kind: 'pancake',
  ramp: rampOf(1_500n),
  fee: 3_000_000n,
  offpeg: 0n,
  balances: [101940884n, 107546110n],
};
/** source/curve/compound/pool_simulator_test.go: the pool of cDAI and cUSDC, with the interest up to block 17,484,284. */
const COMPOUND: CurvePool = {
  ...FIRST,
  kind: 'fixed',
  ramp: rampOf(4_500n),
  fee: 4_000_000n,
  asksRates: true,
  lentUnits: [1n, 10n ** 12n],
  rates: [222715619618370815307976005n, 228878995112471n * 10n ** 12n],
  balances: [6821027635846033n, 21272421810258792n],
};

test.each([
  [USDT_USDC, 0, 1, 5000000n, 75900n],
  [USDT_USDC, 0, 1, 50000001n, 75897n],
  [USDT_USDC, 0, 1, 500000012n, 75897n],
  [USDT_USDC, 1, 0, 500000012n, 50939n],
  [USDT_USDC, 1, 0, 50000001n, 50939n],
  [USDT_USDC, 1, 0, 5000000n, 50940n],
  [CRVUSD_USDC, 0, 1, 50000000000000000n, 49719n],
  [CRVUSD_USDC, 0, 1, 500000000000000001n, 497190n],
  [CRVUSD_USDC, 0, 1, 5000000000000000012n, 4971903n],
  [CRVUSD_USDC, 1, 0, 5000001n, 5026592848229394394n],
  [CRVUSD_USDC, 1, 0, 500000n, 502659192342457080n],
  [CRVUSD_USDC, 1, 0, 5000n, 5026591932391690n],
  [THREE_EUR, 0, 1, 500000000000000n, 496315310333753n],
  [THREE_EUR, 0, 1, 5000000000000000000n, 4963131024216305126n],
  [THREE_EUR, 0, 2, 5000000000000000000n, 4936384n],
  [THREE_EUR, 2, 1, 500045n, 502552896527853049n],
  [ETH_OETH, 0, 1, 500000000000000n, 500008393783392n],
  [ETH_OETH, 1, 0, 5000000000000000000n, 4995909662946962499n],
  [EUR_BALANCES, 0, 2, 5000000000000000000n, 499n],
  [EUR_BALANCES, 2, 1, 1020n, 10248489n],
  [CRVUSD_SDAI, 0, 1, 50000000000000123n, 47184327843196292n],
  [CRVUSD_SDAI, 1, 0, 50000000000000123n, 52973097809547429n],
  [MKUSD_META, 0, 1, 50000000000000000000n, 49183731951271033406n],
  [MKUSD_META, 1, 0, 50000000000000000000n, 50781231606587338678n],
  [UST_META, 0, 1, 1_000n, 31n],
  [UST_META, 1, 0, 2n, 61n],
])('the quote of a pool is the recorded answer of its contract (%#)', (pool, i, j, amount, out) => {
  expect(getDy(pool, i, j, amount, 1_709_285_278)).toBe(out);
});

test.each([
  [0, 1, 5000n, 4998n],
  [0, 1, 50000n, 49986n],
  [1, 0, 50000n, 49983n],
  [1, 0, 51000n, 50982n],
])('a swap of the first contract pays the recorded amount (%#)', (i, j, amount, out) => {
  expect(exchangeTokens(FIRST, i, j, amount, 0)?.amountOut).toBe(out);
});

test('the quote of lent tokens is the recorded get_dy_underlying of a pool of cTokens', () => {
  const lent = { ...COMPOUND, rates: [E18, E18], balances: toXp(COMPOUND, COMPOUND.balances) };
  expect(getDy(lent, 1, 0, 10n ** 12n, 0)).toBe(999157177347n);
  expect(getDy(lent, 0, 1, 10n ** 14n, 0)! / 10n ** 12n).toBe(100n);
});

test.each([
  [PYUSD_USDC, MKUSD_META.rates[1]],
  [THREE_POOL, 1030506792713195533n],
])('the virtual price of a base pool is the recorded rate of its meta pool (%#)', (pool, price) => {
  expect(virtualPrice(pool, 1_710_405_854)).toBe(price);
});

test('A moves linearly between the two times of a ramp, and rests before and after', () => {
  const ramp = { fromAmp: 1_000n, toAmp: 2_000n, fromTime: 0n, toTime: 2_000n };
  const pool = { ...FIRST, ramp };
  expect([0, 1, 1_000, 2_000, 9_000].map((time) => curveAt(pool, time).amp)).toEqual([
    1_000n,
    1_000n,
    1_500n,
    2_000n,
    2_000n,
  ]);
  const falling = { ...FIRST, ramp: { ...ramp, fromAmp: 2_000n, toAmp: 1_000n } };
  expect(curveAt(falling, 999).amp).toBe(1_501n);
  expect(exchangeTokens(pool, 0, 1, 510_000n, 1_000)?.amountOut).toBe(509_863n);
});

test.each([
  // The recorded pool on Polygon whose D oscillates, so that each trade reverts.
  {
    ...POOL,
    rates: [E18, E30, E18, E30],
    balances: [5014519632205647151932n, 1436700n, 247681126439187553n, 2666751n],
  },
  // A product of the recorded state is above 2^256.
  { ...FIRST, rates: [E18, E18, E18], balances: [10n ** 17n, 10n ** 17n, 10n ** 36n] },
  { ...POOL, balances: [0n, 5n] },
  { ...POOL, isKilled: true },
  { ...POOL, ramp: rampOf(0n) },
])('a pool whose contract cannot trade has no price (%#)', (pool) => {
  expect(curvePrice(pool, 0, 1, 0)).toBeNull();
  if (!pool.isKilled) expect(getDy(pool, 0, 1, 10n ** 6n, 0)).toBeNull();
});

it('prices a pool of two coins whose rounding may be that of another contract, which finds D', () => {
  const pool: CurvePool = {
    ...ETH_OETH,
    ramp: rampOf(155_700n),
    rates: [10n ** 28n, E18],
    balances: [40_765_435_995_470n, 28_000_000_006_537_845n],
  };
  const dOf = (each: CurvePool): bigint | null =>
    getD([407_654_359_954_700_000_000_000n, 28_000_000_006_537_845n], curveAt(each, 0));
  expect(dOf(pool)).toBeNull();
  expect(dOf({ ...pool, kind: 'factory' })).not.toBeNull();
  const price = curvePrice(pool, 0, 1, 0);
  expect(price).not.toBeNull();
  expect(price).toBe(curvePrice({ ...pool, kind: 'factory' }, 0, 1, 0));
});

/** The price from a D that is found by halving, with 200 bits more than the contract has. */
function slowPrice({ balances, rates, ramp }: CurvePool, i: number, j: number): number {
  const n = BigInt(balances.length);
  const xp = balances.map((balance, index) => ((balance * rates[index]!) / E18) << 200n);
  const sum = xp.reduce((total, x) => total + x, 0n);
  const product = xp.reduce((all, x) => all * x, n ** n);
  const ann = ramp.toAmp * n;
  const kOf = (d: bigint): bigint => (100n * d ** (n + 1n)) / product;
  let [low, high] = [0n, sum];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (kOf(middle) + (ann - 100n) * middle > ann * sum) high = middle;
    else low = middle;
  }
  const k = kOf(low);
  const [xi, xj] = [xp[i]!, xp[j]!];
  const price = ((((ann * xi + k) * xj) << 200n) * rates[i]!) / ((ann * xj + k) * xi * rates[j]!);
  return Number(price) / 2 ** 200;
}

const pools = fc
  .record({
    balances: fc.array(fc.bigInt({ min: 1n, max: 10n ** 12n }), { minLength: 2, maxLength: 8 }),
    amp: fc.bigInt({ min: 100n, max: 10n ** 6n }),
  })
  .map(({ balances, amp }) => ({
    ...POOL,
    ramp: rampOf(amp),
    rates: balances.map(() => 10n ** 24n),
    balances: balances.map((each) => each * 10n ** 6n),
  }));

test('the price has a relative error below 1e-12', () => {
  fc.assert(
    fc.property(pools, (pool) => {
      const price = curvePrice(pool, 0, 1, 0);
      fc.pre(price !== null);
      expect(Math.abs(price! / slowPrice(pool, 0, 1) - 1)).toBeLessThan(1e-12);
    }),
    { numRuns: runsOf(500) },
  );
});

test('the liquidity is at most the depth of the pool until its price moves by 2 %, in both directions', () => {
  const units = fc.array(fc.integer({ min: 10, max: 10_000 }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(units, fc.integer({ min: 2, max: 5_000 }), (whole, amp) => {
      const balances = whole.map((each) => BigInt(each) * E18);
      const pool = { ...POOL, ramp: rampOf(BigInt(amp) * 100n), rates: whole.map(() => E18), balances };
      const curve = curveAt(pool, 0);
      const d = getD(balances, curve)!;
      const liquidity = curveLiquidity(pool, 0, 1, 0);
      let closest = 0;
      for (const [into, out] of [
        [0, 1],
        [1, 0],
      ] as const) {
        const price = curvePrice(pool, into, out, 0)!;
        const paid = liquidity * Math.sqrt(price) * (1 - Math.sqrt(0.98));
        const after = balances.map((each, index) => (index === out ? each - BigInt(Math.floor(paid)) : each));
        after[into] = solveBalance(
          after.filter((_each, index) => index !== into),
          curve,
          d,
        )!;
        const left = curvePrice({ ...pool, balances: after }, into, out, 0)! / price;
        expect(left).toBeGreaterThan(0.98 - 1e-6);
        closest = closest === 0 ? left : Math.min(closest, left);
      }
      expect(closest).toBeLessThan(0.98 + 1e-6);
    }),
    { numRuns: runsOf(300) },
  );
});

const OWNER: Hex = `0x${'4'.repeat(40)}`;

test('an event that the state does not explain is told, and balances never fall below 0', () => {
  const sold = { kind: 'exchange', owner: OWNER, soldId: 0, boughtId: 1, sold: 5_000n } as const;
  expect(explainCurveEvent(FIRST, { ...sold, bought: 4_998n }, 0, null)).toMatchObject({
    isExplained: true,
    feePips: 300,
  });
  const { pool, isExplained } = explainCurveEvent(FIRST, { ...sold, bought: 10n ** 30n }, 0, null);
  expect([pool.balances[1], isExplained]).toEqual([0n, false]);
  expect(explainCurveEvent(FIRST, { kind: 'donate' }, 0, null).isExplained).toBe(false);
});

test('a moving rate counts only with an answer of the node, which a restart keeps', () => {
  const empty = {
    ...emptyManyTokenState(`0x${'1'.padStart(64, '0')}`),
    tokens: [OWNER, `0x${'5'.repeat(40)}`] as const,
  };
  const known = withCurvePool(empty, { ...CRVUSD_SDAI, asksRates: true }, OWNER);
  const answer = (...rates: bigint[]): Hex =>
    `0x${rates.map((rate) => rate.toString(16).padStart(64, '0')).join('')}`;
  const rated = curveStable.restoreState(curveStable.withRates(known, [answer(E18, 2n * E18)]));
  expect(curveStable.spotPrice(rated, 0, 1, 0)).toBe(
    curvePrice({ ...CRVUSD_SDAI, rates: [E18, 2n * E18] }, 0, 1, 0),
  );
  for (const missing of [null, answer(E18), answer(E18, 0n)]) {
    const unknown = curveStable.withRates(known, [missing]);
    expect(curveStable.spotPrice(unknown, 0, 1, 0)).toBeNull();
    expect(curveStable.lacksBooks(unknown)).toBe(true);
  }
  // A cToken and a yToken, each with one of both functions.
  const lending = curveStable.restoreState(withCurvePool(empty, COMPOUND, OWNER));
  const both = curveStable.withRates(lending, [answer(3n * E18), null, null, answer(2n * E18)]);
  expect(curveStable.spotPrice(both, 0, 1, 0)).toBe(
    curvePrice({ ...COMPOUND, rates: [3n * E18, 2n * E30] }, 0, 1, 0),
  );
  const half = curveStable.withRates(lending, [answer(3n * E18), null, null, null]);
  expect(curveStable.lacksBooks(half)).toBe(true);
});
