import { Interface } from 'ethers';
import fc from 'fast-check';

import type { Hex } from '../../../src/domain/hex';
import { decodeCurveEvent } from '../../../src/protocols/curve/curveEvents';
import { curveLiquidity } from '../../../src/protocols/curve/curveDepth';
import {
  curveAt,
  curvePrice,
  exchangeTokens,
  getDy,
  type CurvePool,
} from '../../../src/protocols/curve/curvePool';
import { applyCurveEvent } from '../../../src/protocols/curve/curveState';
import { getD, solveBalance } from '../../../src/protocols/curve/stableMath';
import { encode } from './reference';
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
/** curve/plain/pool_simulator_test.go: a pool without a dynamic fee. */
const THREE_EUR: CurvePool = {
  ...POOL,
  ramp: rampOf(1_000n),
  offpeg: 0n,
  rates: [E18, E18, E30],
  balances: [103902458912250371998101n, 96026429950922739854657n, 90684626303n],
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

const ABI = new Interface([
  'event TokenExchange(address indexed buyer, uint256 soldId, uint256 sold, uint256 boughtId, uint256 bought)',
  'event AddLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply)',
  'event RemoveLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 supply)',
  'event RemoveLiquidityOne(address indexed provider, uint256 index, uint256 shares, uint256 amount)',
  'event NewFee(uint256 fee, uint256 adminFee)',
  'event RampA(uint256 oldA, uint256 newA, uint256 start, uint256 end)',
  'event StopRampA(uint256 A, uint256 time)',
  'event DonateAdminFees()',
  'event Kill()',
]);
const ABI_NG = new Interface([
  'event TokenExchange(address indexed buyer, int128 soldId, uint256 sold, int128 boughtId, uint256 bought)',
  'event AddLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply)',
  'event RemoveLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 supply)',
  'event RemoveLiquidityOne(address indexed provider, int128 id, uint256 shares, uint256 amount, uint256 supply)',
  'event RemoveLiquidityImbalance(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply)',
  'event ApplyNewFee(uint256 fee, uint256 offpeg)',
]);
const OWNER = `0x${'4'.repeat(40)}`;
const owned = { owner: OWNER };

test.each([
  [
    ABI,
    'TokenExchange',
    [OWNER, 1, 5, 0, 4],
    { kind: 'exchange', soldId: 1, sold: 5n, boughtId: 0, bought: 4n, ...owned },
  ],
  [
    ABI_NG,
    'TokenExchange',
    [OWNER, 0, 5, 7, 4],
    { kind: 'exchange', soldId: 0, sold: 5n, boughtId: 7, bought: 4n, ...owned },
  ],
  [ABI_NG, 'TokenExchange', [OWNER, 0, 5, -1, 4], null],
  [ABI, 'TokenExchange', [OWNER, 0, 5, 0, 4], null],
  [
    ABI,
    'AddLiquidity',
    [OWNER, [5, 6], [1, 2], 11, 9],
    { kind: 'add', amounts: [5n, 6n], fees: [1n, 2n], invariant: 11n, supply: 9n, ...owned },
  ],
  [
    ABI_NG,
    'AddLiquidity',
    [OWNER, [5, 6], [], 11, 9],
    { kind: 'add', amounts: [5n, 6n], fees: [], invariant: 11n, supply: 9n, ...owned },
  ],
  [ABI_NG, 'AddLiquidity', [OWNER, [5, 6], [1], 11, 9], null],
  [
    ABI,
    'RemoveLiquidity',
    [OWNER, [5, 6, 7], [0, 0, 0], 9],
    { kind: 'remove', amounts: [5n, 6n, 7n], fees: [0n, 0n, 0n], invariant: 0n, supply: 9n, ...owned },
  ],
  [
    ABI_NG,
    'RemoveLiquidity',
    [OWNER, [5, 6], [], 9],
    { kind: 'remove', amounts: [5n, 6n], fees: [], invariant: 0n, supply: 9n, ...owned },
  ],
  [
    ABI_NG,
    'RemoveLiquidityImbalance',
    [OWNER, [5, 6], [1, 2], 11, 9],
    { kind: 'imbalance', amounts: [5n, 6n], fees: [1n, 2n], invariant: 11n, supply: 9n, ...owned },
  ],
  [
    ABI,
    'RemoveLiquidityOne',
    [OWNER, 2, 5, 4],
    { kind: 'remove_one', coin: 2, shares: 5n, amount: 4n, ...owned },
  ],
  [
    ABI_NG,
    'RemoveLiquidityOne',
    [OWNER, 2, 5, 4, 9],
    { kind: 'remove_one', coin: 2, shares: 5n, amount: 4n, ...owned },
  ],
  [ABI, 'NewFee', [3, 4], { kind: 'fees', fee: 3n, adminFee: 4n }],
  [ABI_NG, 'ApplyNewFee', [3, 4], { kind: 'fees', fee: 3n, offpeg: 4n }],
  [ABI, 'RampA', [1, 2, 3, 4], { kind: 'ramp', fromAmp: 1n, toAmp: 2n, fromTime: 3n, toTime: 4n }],
  [ABI, 'StopRampA', [1, 2], { kind: 'ramp', fromAmp: 1n, toAmp: 1n, fromTime: 2n, toTime: 2n }],
  [ABI, 'DonateAdminFees', [], { kind: 'donate' }],
  [ABI, 'Kill', [], { kind: 'kill', isKilled: true }],
] as const)('a log is decoded as its ABI says (%#)', (abi, name, values, decoded) => {
  const { topics, data } = encode(abi, name, values);
  const log = { topics: topics as Hex[], data: data as Hex };
  expect(decodeCurveEvent(log)).toEqual(decoded);
  expect(decodeCurveEvent({ ...log, data: `${log.data}00` as Hex })).toBeNull();
  expect(decodeCurveEvent({ ...log, topics: [...log.topics, log.topics[0]!] })).toBeNull();
});

test('an event that the state does not explain is told, and balances never fall below 0', () => {
  const sold = { kind: 'exchange', owner: OWNER as Hex, soldId: 0, boughtId: 1, sold: 5_000n } as const;
  expect(applyCurveEvent(FIRST, { ...sold, bought: 4_998n }, 0)).toMatchObject({
    isExplained: true,
    feePips: 300,
  });
  const { pool, isExplained } = applyCurveEvent(FIRST, { ...sold, bought: 10n ** 30n }, 0);
  expect([pool.balances[1], isExplained]).toEqual([0n, false]);
  expect(applyCurveEvent(FIRST, { kind: 'donate' }, 0).isExplained).toBe(false);
});
