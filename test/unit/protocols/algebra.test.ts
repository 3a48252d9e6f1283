import type { Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_V3 } from '../../../src/domain/pools/poolShape';
import { algebra } from '../../../src/protocols/algebra/algebra';
import type { PoolEvent, PoolTerms, SwapEvent } from '../../../src/protocols/protocol';
import { decodeFees } from '../../../src/protocols/registry';
import { testGoldenEvents, wordsOf, type EventGolden } from './golden';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [TOKEN0, TOKEN1, POOL, OWNER, TO] = [
  address('1'),
  address('2'),
  address('3'),
  address('4'),
  address('5'),
];
const CREATED = { pool: POOL, token0: TOKEN0, token1: TOKEN1, feePips: 100, tickSpacing: 60 };
const SWAP =
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price, uint128 liquidity, int24 tick';
const BURN =
  'event Burn(address indexed owner, int24 indexed bottomTick, int24 indexed topTick, uint128 liquidityAmount, uint256 amount0, uint256 amount1';
const RANGE = { owner: OWNER, tickLower: -120, tickUpper: 60 };
const FEE = 'event Fee(uint16 fee)';
const TWO_FEES = 'event Fee(uint16 feeZto, uint16 feeOtz)';

const swapped = (amount0: bigint, amount1: bigint): SwapEvent => ({
  kind: 'swap',
  sender: OWNER,
  recipient: TO,
  amount0,
  amount1,
  after: { sqrtPriceX96: 77n, liquidity: 88n, tick: -9 },
});

const GOLDEN: readonly EventGolden[] = [
  [
    'pool',
    'event Pool(address indexed token0, address indexed token1, address pool)',
    [TOKEN0, TOKEN1, POOL],
    CREATED,
  ],
  [
    'custom pool',
    'event CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool)',
    [OWNER, TOKEN0, TOKEN1, POOL],
    CREATED,
  ],
  [
    'first price',
    'event Initialize(uint160 price, int24 tick)',
    [79n, -5],
    { kind: 'initialize', sqrtPriceX96: 79n, tick: -5 },
  ],
  ['token0 sold', `${SWAP})`, [OWNER, TO, 6n, -5n, 77n, 88n, -9], swapped(6n, -5n)],
  ['token1 sold', `${SWAP})`, [OWNER, TO, -5n, 6n, 77n, 88n, -9], swapped(-5n, 6n)],
  [
    '1.2.0: token0 sold, fee overridden',
    `${SWAP}, uint24 overrideFee, uint24 pluginFee)`,
    [OWNER, TO, 6n, -5n, 77n, 88n, -9, 700, 30],
    { ...swapped(6n, -5n), ownFees: { overridePips: 700, pluginPips: 30 } },
  ],
  [
    '1.2.0: token1 sold, fee of the pool',
    `${SWAP}, uint24 overrideFee, uint24 pluginFee)`,
    [OWNER, TO, -5n, 6n, 77n, 88n, -9, 0, 0],
    { ...swapped(-5n, 6n), ownFees: { overridePips: 0, pluginPips: 0 } },
  ],
  [
    '1.2.2: fees of the next swap',
    'event SwapFee(address indexed sender, uint24 overrideFee, uint24 pluginFee)',
    [OWNER, 700, 30],
    { kind: 'swap_fee', overridePips: 700, pluginPips: 30 },
  ],
  [
    'mint',
    'event Mint(address sender, address indexed owner, int24 indexed bottomTick, int24 indexed topTick, uint128 liquidityAmount, uint256 amount0, uint256 amount1)',
    [TO, OWNER, -120, 60, 9n, 7n, 8n],
    { kind: 'mint', ...RANGE, liquidity: 9n, amount0: 7n, amount1: 8n },
  ],
  [
    'burn',
    `${BURN})`,
    [OWNER, -120, 60, 9n, 7n, 8n],
    { kind: 'burn', ...RANGE, liquidity: 9n, amount0: 7n, amount1: 8n },
  ],
  [
    '1.2.0: burn',
    `${BURN}, uint24 pluginFee)`,
    [OWNER, -120, 60, 9n, 7n, 8n, 50],
    { kind: 'burn', ...RANGE, liquidity: 9n, amount0: 7n, amount1: 8n },
  ],
  [
    'collect',
    'event Collect(address indexed owner, address recipient, int24 indexed bottomTick, int24 indexed topTick, uint128 amount0, uint128 amount1)',
    [OWNER, TO, -120, 60, 7n, 8n],
    { kind: 'collect', ...RANGE, recipient: TO, amount0: 7n, amount1: 8n },
  ],
  [
    'flash',
    'event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)',
    [OWNER, TO, 100n, 200n, 1n, 2n],
    { kind: 'flash', owner: OWNER, recipient: TO, amount0: 1n, amount1: 2n },
  ],
  ['fee', FEE, [65_535], { kind: 'fee', fee0Pips: 65_535, fee1Pips: 65_535 }],
  ['fees of both directions', TWO_FEES, [100, 3_000], { kind: 'fee', fee0Pips: 100, fee1Pips: 3_000 }],
];

// The contracts refuse a plugin's fee of 100 % or more.
testGoldenEvents(algebra, GOLDEN, (event) => event.includes('uint24'));

test('the fees of an event are those of each direction', () => {
  expect(decodeFees(wordsOf(TWO_FEES, [100, 3_000]) as never)).toEqual([100, 3_000]);
});

const POOL_FACTS: PoolTerms = {
  poolType: POOL_V3,
  token0: TOKEN0,
  token1: TOKEN1,
  feePips: 100,
  tickSpacing: 60,
  scaleDecimals: null,
};
const apply = (...events: readonly PoolEvent[]): PoolState =>
  events.reduce<PoolState>((state, event) => algebra.applyEvent(state, event), EMPTY_STATE);
const feeOf = (swap: SwapEvent, ...before: readonly PoolEvent[]): number =>
  algebra.swapFeePips(POOL_FACTS, swap, apply(...before));
const fees = (fee0Pips: number, fee1Pips: number): PoolEvent => ({ kind: 'fee', fee0Pips, fee1Pips });

describe('fees of Algebra', () => {
  const selling0 = swapped(6n, -5n);
  const selling1 = swapped(-5n, 6n);

  test('a pool without a Fee event charges its first fee', () => {
    expect([feeOf(selling0), feeOf(selling1)]).toEqual([100, 100]);
  });

  test('the fee is that of the last Fee event, in the direction of the swap', () => {
    const changes = [fees(500, 500), fees(700, 3_000)];
    expect([feeOf(selling0, ...changes), feeOf(selling1, ...changes)]).toEqual([700, 3_000]);
    expect(feeOf(selling1, ...changes, selling0)).toBe(3_000);
  });

  test('a plugin replaces the fee of one swap, and adds its own fee', () => {
    const changed = fees(500, 500);
    const own = (overridePips: number, pluginPips: number) => ({ overridePips, pluginPips });
    expect(feeOf({ ...selling0, ownFees: own(0, 30) }, changed)).toBe(530);
    expect(feeOf({ ...selling0, ownFees: own(900, 30) }, changed)).toBe(930);
    const announced: PoolEvent = { kind: 'swap_fee', ...own(900, 30) };
    expect(feeOf(selling0, changed, announced)).toBe(930);
    expect(feeOf(selling0, changed, announced, selling1)).toBe(500);
  });

  test('events leave the balances to the Transfers of the tokens', () => {
    const state = { ...EMPTY_STATE, reserve0: 100n, reserve1: 200n };
    for (const [, event, values] of GOLDEN) {
      const decoded = algebra.decodeEvent({ ...wordsOf(event, values) } as never);
      if (decoded !== null)
        expect(algebra.applyEvent(state, decoded)).toMatchObject({ reserve0: 100n, reserve1: 200n });
    }
  });
});
