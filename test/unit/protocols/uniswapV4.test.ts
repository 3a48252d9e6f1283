import fc from 'fast-check';
import { Interface } from 'ethers';

import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_V3 } from '../../../src/domain/pools/poolShape';
import { DOUBTS } from '../../../src/domain/pools/doubts';
import { HOOK_PERMISSIONS, hookDoubt, permissionsOf } from '../../../src/protocols/hooks';
import { amountsOfLiquidity, sqrtRatioAtTick } from '../../../src/protocols/ticks/tickMath';
import type { PoolTerms } from '../../../src/protocols/protocol';
import { uniswapV4 } from '../../../src/protocols/uniswapV4/uniswapV4';
import { runsOf } from '../../support/run/runs';
import { decode } from './golden';
import { encode, toLog, type Words } from './reference';
import { oneDigitOff, otherLayout } from './spoiltLogs';

/** IPoolManager.sol of @uniswap/v4-core. */
const ABI = new Interface([
  'event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)',
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
]);
const ID = `0x${'1'.repeat(24)}${'2'.repeat(40)}` as const;
const KEY = `0x${'2'.repeat(40)}` as const;
const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const [TOKEN0, TOKEN1, ROUTER, HOOKS] = [
  address('3'),
  address('4'),
  address('5'),
  `0x${'0'.repeat(36)}2080`,
] as const;
const ONE = 2n ** 96n;
const SALT = `0x${'0'.repeat(64)}`;

const initialize = (fee = 3_000, hooks = address('0') as string): Words =>
  encode(ABI, 'Initialize', [ID, TOKEN0, TOKEN1, fee, 60, hooks, ONE, 0]);
const swap = (amount0: bigint, amount1: bigint, root: bigint, tick: number, fee: number): Words =>
  encode(ABI, 'Swap', [ID, ROUTER, amount0, amount1, root, 1_000_000n, tick, fee]);
const modify = (lower: number, upper: number, change: bigint): Words =>
  encode(ABI, 'ModifyLiquidity', [ID, ROUTER, lower, upper, change, SALT]);
const TERMS: PoolTerms = {
  poolType: POOL_V3,
  token0: TOKEN0,
  token1: TOKEN1,
  feePips: 3_000,
  tickSpacing: 60,
};

/** The state after these logs of the pool. */
function apply(...logs: readonly Words[]): PoolState {
  return logs.reduce<PoolState>(
    (state, words) => uniswapV4.applyEvent(state, uniswapV4.decodeEvent(toLog(words), state)!),
    EMPTY_STATE,
  );
}

test.each([
  ['a fixed fee and no hook', initialize(), { feePips: 3_000, hooks: null }],
  ['a fee that its hook sets', initialize(0x800000, HOOKS), { feePips: 0, hooks: HOOKS }],
])('an Initialize log creates a pool with %s, under the last 20 bytes of its id', (_, words, expected) => {
  const pool = { pool: KEY, id: ID, token0: TOKEN0, token1: TOKEN1, tickSpacing: 60 };
  expect(uniswapV4.decodeCreation(toLog(words))).toEqual({ ...pool, ...expected });
  expect(uniswapV4.poolOf(toLog(words))).toBe(KEY);
  expect(apply(words)).toEqual({ ...EMPTY_STATE, sqrtPriceX96: ONE });
});

test.each([
  ['token0', -1_000n, 900n, 1_000n, -900n],
  ['token1', 900n, -1_000n, -900n, 1_000n],
])(
  'a swap that pays in %s has the signs of the pool and its own fee',
  (_, given0, given1, amount0, amount1) => {
    const event = uniswapV4.decodeEvent(toLog(swap(given0, given1, ONE, 0, 12_345)), EMPTY_STATE);
    expect(event).toMatchObject({ kind: 'swap', sender: ROUTER, recipient: ROUTER, amount0, amount1 });
    if (event?.kind === 'swap') expect(uniswapV4.swapFeePips(TERMS, event)).toBe(12_345);
  },
);

test('balances are the tokens of positions: what is added is rounded up, what is removed down, and fees do not count', () => {
  const added = apply(initialize(), modify(-60, 60, 1_000_000n));
  const { amount0, amount1 } = amountsOfLiquidity(ONE, -60, 60, 1_000_000n);
  expect([added.reserve0, added.reserve1]).toEqual([amount0 + 1n, amount1 + 1n]);
  expect(added.liquidity).toBe(1_000_000n);
  const logs = [initialize(), modify(-60, 60, 1_000_000n)];
  const removed = apply(...logs, modify(-60, 60, -1_000_000n));
  expect(removed).toEqual({ ...EMPTY_STATE, reserve0: 1n, reserve1: 1n, sqrtPriceX96: ONE });
  const sold = apply(...logs, swap(-1_000n, 900n, ONE - 2n ** 86n, -20, 100_000));
  expect([sold.reserve0 - added.reserve0, sold.reserve1 - added.reserve1]).toEqual([900n, -900n]);
  expect(apply(...logs, modify(-60, 60, 0n))).toEqual(added);
});

test('a position outside of the price holds one token', () => {
  const [lower, upper] = [sqrtRatioAtTick(60), sqrtRatioAtTick(120)];
  const above = apply(initialize(), modify(60, 120, 10n ** 18n));
  expect(above.reserve0).toBe(amountsOfLiquidity(lower, 60, 120, 10n ** 18n).amount0 + 1n);
  expect([above.reserve1, above.liquidity]).toEqual([0n, 0n]);
  const below = apply(initialize(), modify(-120, -60, 10n ** 18n));
  expect(below.reserve0).toBe(0n);
  expect(below.reserve1).toBe(amountsOfLiquidity(upper, -120, -60, 10n ** 18n).amount1 + 1n);
});

test('the last 14 bits of the address of a hook are its permissions', () => {
  expect(permissionsOf({})).toEqual([]);
  expect(permissionsOf({ hooks: HOOKS })).toEqual(['before_initialize', 'before_swap']);
  expect(permissionsOf({ hooks: address('f') })).toEqual(HOOK_PERMISSIONS);
});

test('a pool has no price if its hook takes part in the amounts of swaps', () => {
  const state = apply(initialize());
  for (const [ending, doubt] of [
    ['0080', 0],
    ['00c0', 0],
    ['0003', 0],
    ['0008', DOUBTS.unfollowed],
    ['0004', DOUBTS.unfollowed],
  ] as const) {
    const hooks = `${address('0').slice(0, 38)}${ending}` as `0x${string}`;
    expect([ending, hookDoubt({ hooks })]).toEqual([ending, doubt]);
    expect(uniswapV4.spotPrice(state, { hooks })).toBe(doubt === 0 ? 1 : null);
  }
  expect(uniswapV4.spotPrice(state, {})).toBe(1);
});

test('a log with a wrong digit is refused or well-formed, and one of another layout is refused', () => {
  for (const words of [initialize(), swap(-5n, 4n, ONE, 0, 3_000), modify(-60, 60, 5n)]) {
    fc.assert(
      fc.property(oneDigitOff(fc.constant(words)), (log) => {
        if (decode(uniswapV4, log) === null) return;
        const parsed = ABI.parseLog(log)!;
        expect(encode(ABI, parsed.name, [...parsed.args])).toEqual(log);
      }),
      { numRuns: runsOf(100) },
    );
    const layouts = fc.property(otherLayout(fc.constant(words)), (log) =>
      expect(decode(uniswapV4, log)).toBeNull(),
    );
    fc.assert(layouts, { numRuns: runsOf(50) });
  }
});

test('values that the contract cannot emit are refused', () => {
  const wrong = [
    initialize(1_000_001),
    swap(-5n, 4n, ONE, 0, 1_000_001),
    modify(60, 60, 5n),
    modify(-60, 60, 2n ** 128n),
  ];
  expect(wrong.map((words) => decode(uniswapV4, words))).toEqual([null, null, null, null]);
});
