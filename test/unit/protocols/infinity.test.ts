import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import type { Hex } from '../../../src/domain/hex';
import { UNTOLD_BIN } from '../../../src/domain/pools/binMoves';
import { DOUBTS } from '../../../src/domain/pools/doubts';
import { hookDoubt, permissionsOf } from '../../../src/protocols/hooks';
import { infinityBin } from '../../../src/protocols/infinity/infinityBin';
import { infinityCl } from '../../../src/protocols/infinity/infinityCl';
import { binPrice } from '../../../src/protocols/liquidityBook/binPrice';
import { amountsOfLiquidity } from '../../../src/protocols/ticks/tickMath';
import { decode, testGoldenEvents, wordsOf, type EventGolden } from './golden';
import { toLog } from './reference';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [NONE, TOKEN0, TOKEN1, ROUTER, HOOK] = ['0', '3', '4', '5', '6'].map(address) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const KEY = address('2');
const ID: Hex = `0x${'1'.repeat(24)}${'2'.repeat(40)}`;
const hex = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const SALT = hex(7n);
const ONE = 2n ** 96n;
const BIN = 2 ** 23 + 5;
/** token0 in the lower 128 bits. */
const packed = (x: bigint, y: bigint): Hex => hex((y << 128n) | x);
const parametersOf = (step: number, bits = 0n): Hex => hex((BigInt(step) << 16n) | bits);

const PREFIX = 'bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks';
const CL_INITIALIZE = `event Initialize(${PREFIX}, uint24 fee, bytes32 parameters, uint160 sqrtPriceX96, int24 tick)`;
const BIN_INITIALIZE = `event Initialize(${PREFIX}, uint24 fee, bytes32 parameters, uint24 activeId)`;
const CL_SWAP =
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee, uint16 protocolFee)';
const BIN_SWAP =
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 activeId, uint24 fee, uint16 protocolFee)';
const MODIFY =
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)';
const MINT =
  'event Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts, bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol)';
const BURN =
  'event Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts)';
const DONATE =
  'event Donate(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 binId)';

const created = (tickSpacing: number, feePips: number, hooks: Hex | null, hookBits: number | null) => ({
  ...{ pool: KEY, id: ID, hooks, hookBits, token0: TOKEN0, token1: TOKEN1, feePips, tickSpacing },
});
const swapped = (amount0: bigint, amount1: bigint, overridePips: number, after: object) => ({
  ...{ kind: 'swap', sender: ROUTER, recipient: ROUTER, amount0, amount1, after },
  ownFees: { overridePips, pluginPips: 0 },
});
const moved = (...bins: readonly (readonly [number, bigint, bigint])[]) => ({
  bins: bins.map(([id, amount0, amount1]) => ({ id, amount0, amount1 })),
});
/** A swap without changes of bins: what a replay needs, with 0 as the active bin before. */
const untold = (protocolPips: bigint) => moved([UNTOLD_BIN, 1n, protocolPips << 24n]);
const NO_RANGE = { liquidity: null, tickLower: null, tickUpper: null };
const IN_BIN = { sqrtPriceX96: 0n, liquidity: 0n, tick: BIN };

const CL_GOLDEN: readonly EventGolden[] = [
  [
    'pool',
    CL_INITIALIZE,
    [ID, TOKEN0, TOKEN1, NONE, 3_000, parametersOf(60), ONE, 0],
    created(60, 3_000, null, null),
  ],
  [
    'pool whose hook sets the fee before swaps',
    CL_INITIALIZE,
    [ID, TOKEN0, TOKEN1, HOOK, 0x800000, parametersOf(32_767, 1n << 6n), ONE, 0],
    created(32_767, 0, HOOK, 1 << 7),
  ],
  [
    'token0 sold',
    CL_SWAP,
    [ID, ROUTER, -1_000n, 900n, ONE, 5n, -1, 3_499, 500],
    swapped(1_000n, -900n, 3_499, { sqrtPriceX96: ONE, liquidity: 5n, tick: -1 }),
  ],
  [
    'token1 sold',
    CL_SWAP,
    [ID, ROUTER, 900n, -1_000n, ONE, 5n, 3, 100, 0],
    swapped(-900n, 1_000n, 100, { sqrtPriceX96: ONE, liquidity: 5n, tick: 3 }),
  ],
  [
    'liquidity of a pool without a price yet',
    MODIFY,
    [ID, ROUTER, -60, 60, 9n, SALT],
    {
      ...{ kind: 'mint', owner: ROUTER, amount0: 0n, amount1: 0n },
      ...{ liquidity: 9n, tickLower: -60, tickUpper: 60, salt: 7n },
    },
  ],
];

const BIN_GOLDEN: readonly EventGolden[] = [
  [
    'pool',
    BIN_INITIALIZE,
    [ID, TOKEN0, TOKEN1, NONE, 3_000, parametersOf(25), BIN],
    created(25, 3_000, null, null),
  ],
  [
    'pool whose hook takes part in swaps',
    BIN_INITIALIZE,
    [ID, TOKEN0, TOKEN1, HOOK, 0x800000, parametersOf(1, (1n << 6n) | (1n << 10n)), BIN],
    created(1, 0, HOOK, (1 << 7) | (1 << 3)),
  ],
  [
    'token0 sold: the protocol keeps a fifth of the fee',
    BIN_SWAP,
    [ID, ROUTER, -1_000_000n, 900n, BIN, 5_000, 1_000],
    { ...swapped(1_000_000n, -900n, 5_000, IN_BIN), protocolFees: [1_000n, 0n], ...untold(1_000n) },
  ],
  [
    'token1 sold',
    BIN_SWAP,
    [ID, ROUTER, 900n, -1_001n, BIN, 5_000, 0],
    { ...swapped(-900n, 1_001n, 5_000, IN_BIN), protocolFees: [0n, 0n], ...untold(0n) },
  ],
  [
    'deposit: amounts are without the fee of the protocol',
    MINT,
    [ID, ROUTER, [BIN - 1, BIN], SALT, [packed(0n, 7n), packed(5n, 3n)], packed(2n, 0n), packed(1n, 0n)],
    {
      ...{ kind: 'mint', owner: ROUTER, amount0: 5n, amount1: 10n, ...NO_RANGE },
      ...moved([BIN - 1, 0n, 7n], [BIN, 5n, 3n]),
    },
  ],
  [
    'withdrawal',
    BURN,
    [ID, ROUTER, [BIN, BIN + 1], SALT, [packed(5n, 3n), packed(4n, 0n)]],
    {
      ...{ kind: 'burn', owner: ROUTER, amount0: 9n, amount1: 3n, ...NO_RANGE },
      ...moved([BIN, -5n, -3n], [BIN + 1, -4n, 0n]),
    },
  ],
  [
    'donation',
    DONATE,
    [ID, ROUTER, -5n, -4n, BIN],
    { kind: 'flash', owner: ROUTER, recipient: ROUTER, amount0: 5n, amount1: 4n, ...moved([BIN, 5n, 4n]) },
  ],
];

// Fees, steps and ticks out of their ranges are refused too.
testGoldenEvents(infinityCl, CL_GOLDEN, () => true);
testGoldenEvents(infinityBin, BIN_GOLDEN, (event) => /Initialize|Swap|Donate/.test(event));

/** The state of a pool after these logs. */
function apply(
  protocol: typeof infinityCl | typeof infinityBin,
  ...events: readonly (readonly [string, readonly unknown[]])[]
): PoolState {
  return events.reduce<PoolState>((state, [event, values]) => {
    const log = toLog(wordsOf(event, values));
    return protocol.applyEvent(state, protocol.decodeEvent(log, state)!);
  }, EMPTY_STATE);
}

test('a CL pool has its price from its first log on, and the tokens of its positions', () => {
  const state = apply(
    infinityCl,
    [CL_INITIALIZE, [ID, TOKEN0, TOKEN1, NONE, 3_000, parametersOf(60), ONE, 0]],
    [MODIFY, [ID, ROUTER, -60, 60, 1_000_000n, SALT]],
  );
  const { amount0, amount1 } = amountsOfLiquidity(ONE, -60, 60, 1_000_000n);
  expect(state).toMatchObject({ reserve0: amount0 + 1n, reserve1: amount1 + 1n, liquidity: 1_000_000n });
  expect(infinityCl.spotPrice(state, {})).toBe(1);
});

test('a bin pool has the price of its active bin from its first log on, and the tokens of its bins', () => {
  const state = apply(
    infinityBin,
    [BIN_INITIALIZE, [ID, TOKEN0, TOKEN1, NONE, 3_000, parametersOf(25), BIN - 1]],
    [MINT, [ID, ROUTER, [BIN], SALT, [packed(2_000_000n, 5_000n)], SALT, SALT]],
    [BIN_SWAP, [ID, ROUTER, -1_000_000n, 900n, BIN, 5_000, 1_000]],
    [BURN, [ID, ROUTER, [BIN], SALT, [packed(9n, 100n)]]],
    [DONATE, [ID, ROUTER, -10n, 0n, BIN]],
  );
  expect([state.reserve0, state.reserve1]).toEqual([2_999_001n, 4_000n]);
  const terms = { poolType: 7, token0: TOKEN0, token1: TOKEN1, feePips: 0, tickSpacing: 25 } as const;
  expect(infinityBin.spotPrice(state, terms)).toBe(binPrice(BIN, 25));
  expect(infinityBin.spotPrice(state, { ...terms, hooks: HOOK, hookBits: 1 << 3 })).toBeNull();
});

test.each([
  [0, 'before_initialize', 0],
  [2, 'before_add_liquidity', 0],
  [6, 'before_swap', 0],
  [10, 'before_swap_returns_delta', DOUBTS.unfollowed],
  [11, 'after_swap_returns_delta', DOUBTS.unfollowed],
  [13, 'after_remove_liquidity_returns_delta', 0],
])('bit %i of the parameters is the permission %s', (bit, permission, doubt) => {
  const values = [ID, TOKEN0, TOKEN1, HOOK, 3_000, parametersOf(60, 1n << BigInt(bit)), ONE, 0];
  const pool = infinityCl.decodeCreation(toLog(wordsOf(CL_INITIALIZE, values)))!;
  expect([permissionsOf(pool), hookDoubt(pool)]).toEqual([[permission], doubt]);
});

test('values that the managers cannot emit are refused', () => {
  const cl = (fee: number, parameters: Hex) =>
    decode(infinityCl, wordsOf(CL_INITIALIZE, [ID, TOKEN0, TOKEN1, NONE, fee, parameters, ONE, 0]));
  const bin = (fee: number, parameters: Hex) =>
    decode(infinityBin, wordsOf(BIN_INITIALIZE, [ID, TOKEN0, TOKEN1, NONE, fee, parameters, BIN]));
  expect([cl(1_000_001, parametersOf(60)), cl(1, parametersOf(0)), cl(1, parametersOf(32_768))]).toEqual([
    null,
    null,
    null,
  ]);
  expect([bin(100_001, parametersOf(60)), bin(1, parametersOf(0)), bin(1, parametersOf(65_536))]).toEqual([
    null,
    null,
    null,
  ]);
  expect(decode(infinityBin, wordsOf(DONATE, [ID, ROUTER, 5n, 0n, BIN]))).toBeNull();
});
