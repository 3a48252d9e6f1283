import { Interface } from 'ethers';
import fc from 'fast-check';

import type { Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_STABLE, POOL_V2 } from '../../../src/domain/pools/poolShape';
import { getProtocol } from '../../../src/protocols/registry';
import type { PoolTerms, Protocol, SwapEvent } from '../../../src/protocols/protocol';
import { slipstream } from '../../../src/protocols/solidly/slipstream';
import { solidly } from '../../../src/protocols/solidly/solidly';
import { decode } from './golden';
import { encode, type Words } from './reference';
import { oneDigitOff, otherLayout } from './spoiltLogs';
import { runsOf } from '../../support/run/runs';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [TOKEN0, TOKEN1, POOL, SENDER, TO] = ['1', '2', '3', '4', '5'].map(address) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const NO_RANGE = { liquidity: null, tickLower: null, tickUpper: null };
const CREATED = { pool: POOL, token0: TOKEN0, token1: TOKEN1, feePips: null, tickSpacing: 0 };
const PAIR_CREATED =
  'event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256)';
const POOL_CREATED =
  'event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256)';
const SWAP_1 =
  'event Swap(address indexed sender, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to)';
const SWAP_2 =
  'event Swap(address indexed sender, address indexed to, uint256 in0, uint256 in1, uint256 out0, uint256 out1)';
const swapped = (amount0: bigint, amount1: bigint): SwapEvent => ({
  kind: 'swap',
  sender: SENDER,
  recipient: TO,
  amount0,
  amount1,
  after: null,
});

interface Golden {
  readonly name: string;
  readonly protocol: Protocol;
  readonly event: string;
  readonly values: readonly unknown[];
  readonly decoded: unknown;
}

const MINTED = { kind: 'mint', owner: SENDER, amount0: 7n, amount1: 9n, ...NO_RANGE };
const BURNED = { kind: 'burn', owner: TO, amount0: 7n, amount1: 9n, ...NO_RANGE };

const GOLDEN: readonly Golden[] = [
  [
    solidly,
    'first: stable pool',
    PAIR_CREATED,
    [TOKEN0, TOKEN1, true, POOL, 1],
    { ...CREATED, poolType: POOL_STABLE },
  ],
  [
    solidly,
    'first: volatile pool',
    PAIR_CREATED,
    [TOKEN0, TOKEN1, false, POOL, 2],
    { ...CREATED, poolType: POOL_V2 },
  ],
  [
    solidly,
    'second: stable pool',
    POOL_CREATED,
    [TOKEN0, TOKEN1, true, POOL, 3],
    { ...CREATED, poolType: POOL_STABLE },
  ],
  [
    solidly,
    'second: volatile pool',
    POOL_CREATED,
    [TOKEN0, TOKEN1, false, POOL, 4],
    { ...CREATED, poolType: POOL_V2 },
  ],
  [solidly, 'first: token0 sold', SWAP_1, [SENDER, 100, 0, 0, 99, TO], swapped(100n, -99n)],
  [solidly, 'first: token1 sold', SWAP_1, [SENDER, 0, 50, 49, 0, TO], swapped(-49n, 50n)],
  [solidly, 'second: token0 sold', SWAP_2, [SENDER, TO, 100, 0, 0, 99], swapped(100n, -99n)],
  [solidly, 'second: token1 sold', SWAP_2, [SENDER, TO, 0, 50, 49, 0], swapped(-49n, 50n)],
  [solidly, 'second: flash swap', SWAP_2, [SENDER, TO, 103, 0, 100, 1], swapped(3n, -1n)],
  [
    solidly,
    'reserves above 112 bits',
    'event Sync(uint256 reserve0, uint256 reserve1)',
    [1n << 200n, 5n],
    { kind: 'sync', reserve0: 1n << 200n, reserve1: 5n },
  ],
  [
    solidly,
    'mint',
    'event Mint(address indexed sender, uint256 amount0, uint256 amount1)',
    [SENDER, 7, 9],
    MINTED,
  ],
  [
    solidly,
    'first: burn',
    'event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)',
    [SENDER, 7, 9, TO],
    BURNED,
  ],
  [
    solidly,
    'second: burn',
    'event Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1)',
    [SENDER, TO, 7, 9],
    BURNED,
  ],
  [
    slipstream,
    'pool by tick spacing',
    'event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)',
    [TOKEN0, TOKEN1, 200, POOL],
    { ...CREATED, tickSpacing: 200 },
  ],
  [
    slipstream,
    'fees of staked positions',
    'event CollectFees(address indexed recipient, uint128 amount0, uint128 amount1)',
    [TO, 7, 9],
    { kind: 'collect_protocol', owner: TO, recipient: TO, amount0: 7n, amount1: 9n },
  ],
  [
    slipstream,
    'token1 sold',
    'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price, uint128 liquidity, int24 tick)',
    [SENDER, TO, -5, 6, 77n, 88n, -9],
    { ...swapped(-5n, 6n), after: { sqrtPriceX96: 77n, liquidity: 88n, tick: -9 } },
  ],
].map(
  ([protocol, name, event, values, decoded]) =>
    ({ name, protocol, event, values, decoded }) as unknown as Golden,
);

const wordsOf = ({ event, values }: Golden) => {
  const abi = new Interface([event]);
  return encode(abi, abi.fragments[0]!.format('sighash'), values);
};

describe('golden logs of Solidly and Slipstream', () => {
  test.each(GOLDEN)('$protocol.name: $name', (golden) => {
    expect(decode(golden.protocol, wordsOf(golden))).toEqual(golden.decoded);
    expect(getProtocol(golden.protocol.name)).toBe(golden.protocol);
  });

  it('a spoilt log is refused, or read as ethers reads it', () => {
    for (const golden of GOLDEN) {
      const words = fc.constant(wordsOf(golden));
      const abi = new Interface([golden.event]);
      const isWhole = (log: Words): boolean => {
        try {
          const parsed = abi.parseLog({ ...log, topics: [...log.topics] });
          const again = parsed === null ? null : encode(abi, parsed.signature, [...parsed.args]);
          return again?.data === log.data && again.topics.join() === log.topics.join();
        } catch {
          return false;
        }
      };
      fc.assert(
        fc.property(oneDigitOff(words), (log) => {
          const read = decode(golden.protocol, log);
          // Amounts of a swap beyond 255 bits are refused too.
          if (read !== null || !golden.event.startsWith('event Swap'))
            expect(read !== null).toBe(isWhole(log));
        }),
        { numRuns: runsOf(60) },
      );
      const layouts = fc.property(otherLayout(words), (log) =>
        expect(decode(golden.protocol, log)).toBeNull(),
      );
      fc.assert(layouts, { numRuns: runsOf(30) });
    }
  });
});

describe('quotes, prices and fees', () => {
  const withReserves = (reserve0: bigint, reserve1: bigint): PoolState => ({
    ...EMPTY_STATE,
    reserve0,
    reserve1,
  });
  const poolOf = (poolType: PoolTerms['poolType'], feePips: number, decimals: [number, number] | null) => ({
    poolType,
    token0: TOKEN0,
    token1: TOKEN1,
    tickSpacing: 0,
    feePips,
    scaleDecimals: decimals,
  });

  /** KyberNetwork/kyberswap-dex-lib, pkg/liquidity-source/velodrome-v2/pool_simulator_test.go, of pools on Optimism. */
  test.each([
    [
      POOL_V2,
      10_000,
      [6, 18],
      2458244583526n,
      48437610421475879640774762n,
      true,
      33762029n,
      658590483453928603087n,
    ],
    [
      POOL_V2,
      10_000,
      [6, 18],
      2458244583526n,
      48437697487082485250805965n,
      false,
      4843761042147587964077n,
      243341685n,
    ],
    [
      POOL_STABLE,
      500,
      [18, 18],
      165363502891169888414n,
      70707320014274856246n,
      false,
      7070085324939016n,
      8040168956751976n,
    ],
    [
      POOL_STABLE,
      500,
      [18, 18],
      165363502891169888414n,
      70707320014274856246n,
      true,
      7070085324939016n,
      6210478971090850n,
    ],
  ] as const)(
    'a recorded quote of pool type %i',
    (type, fee, [d0, d1], reserve0, reserve1, isToken0In, amountIn, out) => {
      expect(
        solidly.quote(poolOf(type, fee, [d0, d1]), withReserves(reserve0, reserve1), amountIn, isToken0In),
      ).toBe(out);
    },
  );

  it('a stable pool has a price at any reserves above zero, and none without its decimals', () => {
    const price = (reserve0: bigint, reserve1: bigint, decimals: [number, number] | null = [6, 18]) =>
      solidly.spotPrice(withReserves(reserve0, reserve1), poolOf(POOL_STABLE, 500, decimals));
    expect(price(5n * 10n ** 6n, 5n * 10n ** 18n)).toBe(1e12);
    // y = 2x: 2·(3 + 4) / (1 + 12).
    expect(price(5n * 10n ** 6n, 10n ** 19n)).toBeCloseTo((14 / 13) * 1e12, -1);
    expect(price(0n, 10n ** 18n)).toBeNull();
    expect(price(10n ** 6n, 10n ** 18n, null)).toBeNull();
  });

  it('a swap has the fee that left the reserves, and the fee of the pool if they do not tell', () => {
    const fee = (before: PoolState | null, after: PoolState): number =>
      solidly.swapFeePips(poolOf(POOL_V2, 3_000, null), swapped(1_000_000n, -900_000n), before, after);
    const before = withReserves(10_000_000n, 10_000_000n);
    expect(fee(before, withReserves(10_999_500n, 9_100_000n))).toBe(500);
    expect(fee(before, withReserves(11_000_000n, 9_100_000n))).toBe(0);
    expect(fee(null, withReserves(10_999_500n, 9_100_000n))).toBe(3_000);
    expect(fee(EMPTY_STATE, withReserves(10_999_500n, 9_100_000n))).toBe(3_000);
    expect(fee(before, withReserves(12_000_000n, 9_100_000n))).toBe(3_000);
  });

  it('the details of a pool are its decimals and its fee, as either generation answers', () => {
    const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
    const metadata: Hex = `${word(10n ** 6n)}${word(10n ** 30n).slice(2)}`;
    const read = (answers: (Hex | null)[]) => solidly.readDetails(CREATED, answers);
    expect(read([metadata, word(30n), null])).toMatchObject({ feePips: 3_000, scaleDecimals: [6, 30] });
    expect(read([metadata, null, word(2n)])).toMatchObject({ feePips: 200 });
    expect(read([null, null, word(5_000n)])).toMatchObject({ feePips: null, scaleDecimals: null });
    expect(read([`${word(3n)}${word(10n).slice(2)}`, null, null])).toMatchObject({ scaleDecimals: null });
  });
});
