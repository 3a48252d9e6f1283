import type { Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_STABLE, POOL_V2, typeInState } from '../../../src/domain/pools/poolShape';
import { camelotV2 } from '../../../src/protocols/camelot/camelotV2';
import type { PoolTerms, SwapEvent } from '../../../src/protocols/protocol';
import { decodeFees } from '../../../src/protocols/registry';
import { testGoldenEvents, wordsOf, type EventGolden } from './golden';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [TOKEN0, TOKEN1, POOL, SENDER, TO] = [
  address('1'),
  address('2'),
  address('3'),
  address('4'),
  address('5'),
];
const NO_RANGE = { liquidity: null, tickLower: null, tickUpper: null };
const SWAP =
  'event Swap(address indexed sender, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to)';
const SET_STABLE = 'event SetStableSwap(bool prevStableSwap, bool stableSwap)';
const FEES = 'event FeePercentUpdated(uint16 token0FeePercent, uint16 token1FeePercent)';
const swapped = (amount0: bigint, amount1: bigint): SwapEvent => ({
  kind: 'swap',
  sender: SENDER,
  recipient: TO,
  amount0,
  amount1,
  after: null,
});

const GOLDEN: readonly EventGolden[] = [
  [
    'pool',
    'event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count)',
    [TOKEN0, TOKEN1, POOL, 1],
    { pool: POOL, token0: TOKEN0, token1: TOKEN1, feePips: null, tickSpacing: 0 },
  ],
  ['token0 sold', SWAP, [SENDER, 100, 0, 0, 99, TO], swapped(100n, -99n)],
  ['token1 sold', SWAP, [SENDER, 0, 50, 49, 0, TO], swapped(-49n, 50n)],
  [
    'reserves',
    'event Sync(uint112 reserve0, uint112 reserve1)',
    [7, 9],
    { kind: 'sync', reserve0: 7n, reserve1: 9n },
  ],
  [
    'mint',
    'event Mint(address indexed sender, uint256 amount0, uint256 amount1)',
    [SENDER, 7, 9],
    { kind: 'mint', owner: SENDER, amount0: 7n, amount1: 9n, ...NO_RANGE },
  ],
  [
    'burn',
    'event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)',
    [SENDER, 7, 9, TO],
    { kind: 'burn', owner: TO, amount0: 7n, amount1: 9n, ...NO_RANGE },
  ],
  ['fees of both directions', FEES, [300, 2_000], { kind: 'fee', fee0Pips: 3_000, fee1Pips: 20_000 }],
  ['to the stable curve', SET_STABLE, [false, true], { kind: 'curve', isStable: true }],
  ['back from the stable curve', SET_STABLE, [true, false], { kind: 'curve', isStable: false }],
];

// Amounts of a swap beyond 255 bits and fees above 2 % are refused too.
testGoldenEvents(camelotV2, GOLDEN, (event) => event === SWAP || event === FEES);

const POOL_FACTS: PoolTerms = {
  poolType: POOL_V2,
  token0: TOKEN0,
  token1: TOKEN1,
  feePips: 3_000,
  tickSpacing: 0,
  scaleDecimals: [6, 18],
};
const word = (value: bigint | number): string => BigInt(value).toString(16).padStart(64, '0');
const answer = (...words: readonly (bigint | number)[]): Hex => `0x${words.map(word).join('')}`;
const RESERVES = [5_000_000n, 10n ** 19n] as const;
const apply = (state: PoolState, golden: string): PoolState => {
  const [, event, values] = GOLDEN.find(([name]) => name === golden)!;
  return camelotV2.applyEvent(state, camelotV2.decodeEvent(wordsOf(event, values) as never)!);
};
const feesOf = (state: PoolState): number[] =>
  [swapped(1n, -1n), swapped(-1n, 1n)].map((swap) => camelotV2.swapFeePips(POOL_FACTS, swap, state, state));

test('the curve of a pool follows its events, with its type and its price', () => {
  const created: PoolState = { ...EMPTY_STATE, reserve0: RESERVES[0], reserve1: RESERVES[1] };
  const stable = apply(apply(created, 'fees of both directions'), 'to the stable curve');
  const back = apply(stable, 'back from the stable curve');
  const types = [created, stable, back].map(({ tick }) => typeInState(POOL_V2, tick));
  expect(types).toEqual([POOL_V2, POOL_STABLE, POOL_V2]);
  const [first, second, third] = [created, stable, back].map((state) =>
    camelotV2.spotPrice(state, POOL_FACTS)!,
  );
  expect([first, third]).toEqual([2e12, 2e12]);
  // y = 2x: 2·(3 + 4) / (1 + 12).
  expect(second! / ((14 / 13) * 1e12)).toBeCloseTo(1, 12);
  expect(camelotV2.spotPrice(stable, { ...POOL_FACTS, scaleDecimals: null })).toBeNull();
  expect([created, stable, back].map(feesOf)).toEqual([
    [3_000, 3_000],
    [3_000, 20_000],
    [3_000, 20_000],
  ]);
  expect(decodeFees(wordsOf(FEES, [300, 2_000]) as never)).toEqual([3_000, 20_000]);
});

test('an older pool has the curve and the fees that the node tells, and no price without its curve', () => {
  const reserves = answer(...RESERVES, 40, 1_999);
  const stable = camelotV2.readState([reserves, answer(1)]);
  expect(typeInState(POOL_V2, stable.tick)).toBe(POOL_STABLE);
  expect(feesOf(stable)).toEqual([400, 19_990]);
  const volatile = apply(stable, 'back from the stable curve');
  expect(feesOf(volatile)).toEqual([400, 19_990]);
  expect(camelotV2.spotPrice(volatile, POOL_FACTS)).toBe(2e12);
  for (const answers of [[reserves, null], [answer(...RESERVES), answer(1)], [null, null], []]) {
    const unknown = apply(camelotV2.readState(answers), 'reserves');
    expect(typeInState(POOL_V2, unknown.tick)).toBe(POOL_STABLE);
    expect(camelotV2.spotPrice(unknown, POOL_FACTS)).toBeNull();
    expect(camelotV2.quote(POOL_FACTS, unknown, 5n, true)).toBeNull();
    expect(camelotV2.spotPrice(apply(unknown, 'back from the stable curve'), POOL_FACTS)).toBe(9 / 7);
  }
});

test('facts and details of a pool are what its contract answers', () => {
  const facts = (reserves: Hex) =>
    camelotV2.readFacts(
      POOL,
      new Map([
        ['token0()', answer(BigInt(TOKEN0))],
        ['token1()', answer(BigInt(TOKEN1))],
        ['getReserves()', reserves],
      ]),
    );
  const found = facts(answer(7, 9, 300, 500))!;
  expect(found).toMatchObject({ pool: POOL, token0: TOKEN0, token1: TOKEN1, feePips: 5_000 });
  // A pair of Uniswap V2 has three words.
  expect(facts(answer(7, 9, 300))).toBeNull();
  const details = camelotV2.readDetails({ ...found, feePips: null }, [answer(10n ** 6n), answer(10n ** 30n)]);
  expect(details).toMatchObject({ feePips: 3_000, scaleDecimals: [6, 30] });
  expect(camelotV2.readDetails(found, [answer(1), null])).toMatchObject({ scaleDecimals: null });
});
