import type { Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_BINS } from '../../../src/domain/pools/poolShape';
import { liquidityBook } from '../../../src/protocols/liquidityBook/liquidityBook';
import type { PoolTerms } from '../../../src/protocols/protocol';
import { testGoldenEvents, wordsOf, type EventGolden } from './golden';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
/** The address of tokenX is above that of tokenY. */
const [TOKEN_X, TOKEN_Y, POOL, SENDER, TO] = [
  address('2'),
  address('1'),
  address('3'),
  address('4'),
  address('5'),
];
const hex = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
/** tokenX in the lower 128 bits. */
const packed = (x: bigint, y: bigint): Hex => hex((y << 128n) | x);
const ID = 2 ** 23 + 5;
const SWAP =
  'event Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)';
const FLASH =
  'event FlashLoan(address indexed sender, address indexed receiver, uint24 activeId, bytes32 amounts, bytes32 totalFees, bytes32 protocolFees)';
const BINS = '(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)';
const NO_RANGE = { liquidity: null, tickLower: null, tickUpper: null };
const moved = (id: number, amount0: bigint, amount1: bigint) => ({ id, amount0, amount1 });
/** `amount0` and `amount1` without the protocol's part are what the bin got. */
const swapped = (amount0: bigint, amount1: bigint, overridePips: number, protocolFees: [bigint, bigint]) => ({
  kind: 'swap',
  sender: SENDER,
  recipient: TO,
  amount0,
  amount1,
  after: { sqrtPriceX96: 0n, liquidity: 0n, tick: ID },
  ownFees: { overridePips, pluginPips: 0 },
  protocolFees,
  bins: [moved(ID, amount0 - protocolFees[0], amount1 - protocolFees[1])],
});

const GOLDEN: readonly EventGolden[] = [
  [
    'pool',
    'event LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address pair, uint256 pid)',
    [TOKEN_X, TOKEN_Y, 25, POOL, 7],
    { pool: POOL, token0: TOKEN_X, token1: TOKEN_Y, feePips: null, tickSpacing: 25 },
  ],
  [
    'tokenX sold',
    SWAP,
    [SENDER, TO, ID, packed(9_990n, 0n), packed(0n, 9_800n), 10_000, packed(100n, 0n), packed(10n, 0n)],
    swapped(10_000n, -9_800n, 10_000, [10n, 0n]),
  ],
  [
    'tokenY sold',
    SWAP,
    [SENDER, TO, ID, packed(0n, 4_999n), packed(5_100n, 0n), 0, packed(0n, 10n), packed(0n, 1n)],
    swapped(-5_100n, 5_000n, 2_000, [0n, 1n]),
  ],
  [
    'deposit',
    `event DepositedToBins${BINS}`,
    [SENDER, TO, [ID - 1, ID, ID + 1], [packed(0n, 7n), packed(5n, 3n), packed(11n, 0n)]],
    {
      ...{ kind: 'mint', owner: TO, amount0: 16n, amount1: 10n, ...NO_RANGE },
      bins: [moved(ID - 1, 0n, 7n), moved(ID, 5n, 3n), moved(ID + 1, 11n, 0n)],
    },
  ],
  [
    'withdrawal',
    `event WithdrawnFromBins${BINS}`,
    [SENDER, TO, [ID], [packed(5n, 3n)]],
    { kind: 'burn', owner: TO, amount0: 5n, amount1: 3n, ...NO_RANGE, bins: [moved(ID, -5n, -3n)] },
  ],
  [
    'flash loan',
    FLASH,
    [SENDER, TO, ID, packed(900n, 800n), packed(9n, 8n), packed(2n, 8n)],
    { kind: 'flash', owner: SENDER, recipient: TO, amount0: 7n, amount1: 0n, bins: [moved(ID, 7n, 0n)] },
  ],
];

// Bin steps above 24 bits, and fees above the amounts that they are part of, are refused too.
testGoldenEvents(liquidityBook, GOLDEN, (event) => /LBPairCreated|Swap|Flash/.test(event));

const TERMS: PoolTerms = {
  poolType: POOL_BINS,
  token0: TOKEN_X,
  token1: TOKEN_Y,
  feePips: 2_000,
  tickSpacing: 25,
  scaleDecimals: null,
};
const priceAt = (tick: number, tickSpacing = 25) =>
  liquidityBook.spotPrice({ ...EMPTY_STATE, tick }, { ...TERMS, tickSpacing });

test('deposits of more bins than a Balancer pool has tokens are read', () => {
  const ids = Array.from({ length: 300 }, (_, index) => ID + index);
  const event = liquidityBook.decodeEvent(
    wordsOf(`event DepositedToBins${BINS}`, [SENDER, TO, ids, ids.map(() => packed(2n, 1n))]) as never,
  );
  expect(event).toMatchObject({ amount0: 600n, amount1: 300n });
});

test('the reserves follow the events, without what the pool keeps for the protocol', () => {
  let state: PoolState = EMPTY_STATE;
  const seen = GOLDEN.slice(1).map(([name, event, values]) => {
    if (name === 'deposit') return null;
    state = liquidityBook.applyEvent(state, liquidityBook.decodeEvent(wordsOf(event, values) as never)!);
    return null;
  });
  expect(seen).toHaveLength(5);
  // tokenX: 9,990 − 5,100 − 5 + 7; tokenY: 0 (it cannot fall below) + 4,999 − 3.
  expect(state).toMatchObject({ reserve0: 4_892n, reserve1: 4_996n, tick: ID });
});

test('the price is the power of the bin step, at both ends and in the middle', () => {
  expect(priceAt(0)).toBeNull();
  expect(priceAt(2 ** 23)).toBe(1);
  expect(priceAt(2 ** 23 + 1)).toBeCloseTo(1.0025, 15);
  expect(priceAt(2 ** 23 - 4)! * 1.0025 ** 4).toBeCloseTo(1, 14);
  for (const [step, exponent] of [
    [1, 500_000],
    [1, -500_000],
    [10, -50_000],
    [100, 5_000],
  ] as const) {
    const exact = Math.exp(exponent * Math.log1p(step / 10_000));
    expect(priceAt(2 ** 23 + exponent, step)! / exact).toBeCloseTo(1, 11);
  }
  // The contract has no price here.
  expect(priceAt(2 ** 23 + 2 ** 20)).toBeNull();
  expect(priceAt(1, 100)).toBeNull();
});

test('facts, details and states are what the contract answers', () => {
  const answers = new Map<string, Hex>([
    ['getTokenX()', hex(BigInt(TOKEN_X))],
    ['getTokenY()', hex(BigInt(TOKEN_Y))],
    ['getBinStep()', hex(25n)],
  ]);
  const facts = liquidityBook.readFacts(POOL, answers)!;
  expect(facts).toMatchObject({ token0: TOKEN_X, token1: TOKEN_Y, tickSpacing: 25 });
  expect(liquidityBook.readFacts(POOL, new Map())).toBeNull();
  // A base factor of 8,000 and a bin step of 25: 0.2 %.
  expect(liquidityBook.readDetails(facts, [hex(8_000n)])).toMatchObject({ feePips: 2_000 });
  expect(liquidityBook.readDetails(facts, [null])).toMatchObject({ feePips: null });
  const reserves: Hex = `${hex(7n)}${hex(9n).slice(2)}`;
  const found = liquidityBook.readState([reserves, hex(BigInt(ID))]);
  expect(found).toEqual({ ...EMPTY_STATE, reserve0: 7n, reserve1: 9n, tick: ID });
  expect(liquidityBook.readState([reserves, null])).toBeNull();
});
