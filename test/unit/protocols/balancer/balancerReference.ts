/**
 * The slow reference decoder of Balancer logs: event signatures, decoded by ethers. As in reference.ts, a log
 * is well-formed if its decoded values encode to the same bytes. The rules of the vault must hold too.
 */
import { Interface } from 'ethers';
import fc from 'fast-check';

import type { Hex } from '../../../../src/domain/hex';
import type { BalancerEvent } from '../../../../src/protocols/balancerV2/decodeBalancerEvent';
import { encode, toLog, type Words } from '../reference';

export const BALANCER = new Interface([
  'event PoolRegistered(bytes32 indexed poolId, address indexed poolAddress, uint8 specialization)',
  'event TokensRegistered(bytes32 indexed poolId, address[] tokens, address[] assetManagers)',
  'event Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)',
  'event PoolBalanceChanged(bytes32 indexed poolId, address indexed liquidityProvider, address[] tokens, int256[] deltas, uint256[] protocolFeeAmounts)',
  'event PoolBalanceManaged(bytes32 indexed poolId, address indexed assetManager, address indexed token, int256 cashDelta, int256 managedDelta)',
  'event AmpUpdateStarted(uint256 startValue, uint256 endValue, uint256 startTime, uint256 endTime)',
  'event AmpUpdateStopped(uint256 currentValue)',
  'event SwapFeePercentageChanged(uint256 swapFeePercentage)',
  'event TokenRateCacheUpdated(uint256 indexed tokenIndex, uint256 rate)',
  'event TokenRateCacheUpdated(address indexed token, uint256 rate)',
  'event PriceRateCacheUpdated(address indexed token, uint256 rate)',
]);

export const BALANCER_EVENTS = [
  'PoolRegistered',
  'TokensRegistered',
  'Swap',
  'PoolBalanceChanged',
  'PoolBalanceManaged',
  'AmpUpdateStarted',
  'AmpUpdateStopped',
  'SwapFeePercentageChanged',
  'TokenRateCacheUpdated(uint256,uint256)',
  'TokenRateCacheUpdated(address,uint256)',
  'PriceRateCacheUpdated',
];

/** The id of a pool starts with the address of its contract. */
const poolOf = (poolId: string): Hex => poolId.slice(0, 42) as Hex;

const hexOf = (digits: number): fc.Arbitrary<string> =>
  fc
    .bigInt({ min: 0n, max: (1n << BigInt(4 * digits)) - 1n })
    .map((value) => `0x${value.toString(16).padStart(digits, '0')}`);
export const anyAddress = hexOf(40);
export const anyPoolId = hexOf(64);
const uint256 = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
  fc.bigInt({ min: 0n, max: 1n << 112n }),
  fc.constantFrom(0n, (1n << 255n) - 1n, 1n << 255n, (1n << 256n) - 1n),
);
const int256 = uint256.map((value) => BigInt.asIntN(256, value));

/** Lists of equal length. In rare cases the length is 0, too large, or different between the lists. */
function lists(...elements: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown[][]> {
  const length = fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 1, max: 8 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 49, 50, 51) },
  );
  return fc.tuple(length, fc.nat({ max: 19 })).chain(([count, odd]) =>
    fc.tuple(
      ...elements.map((element, index) => {
        const own = odd === index ? count + 1 : count;
        return fc.array(element, { minLength: own, maxLength: own });
      }),
    ),
  );
}

const values: Readonly<Record<string, fc.Arbitrary<readonly unknown[]>>> = {
  PoolRegistered: fc
    .tuple(anyPoolId, anyAddress, fc.nat({ max: 9 }), fc.nat({ max: 255 }))
    .map(([id, stranger, chance, how]) => [id, chance === 0 ? stranger : poolOf(id), how]),
  TokensRegistered: fc.tuple(anyPoolId, lists(anyAddress, anyAddress)).map(([id, both]) => [id, ...both]),
  Swap: fc.tuple(anyPoolId, anyAddress, anyAddress, uint256, uint256),
  PoolBalanceChanged: fc
    .tuple(anyPoolId, anyAddress, lists(anyAddress, int256, uint256))
    .map(([id, provider, all]) => [id, provider, ...all]),
  PoolBalanceManaged: fc.tuple(anyPoolId, anyAddress, anyAddress, int256, int256),
  AmpUpdateStarted: fc.tuple(uint256, uint256, uint256, uint256),
  AmpUpdateStopped: fc.tuple(uint256),
  SwapFeePercentageChanged: fc.tuple(uint256),
  'TokenRateCacheUpdated(uint256,uint256)': fc.tuple(uint256, uint256),
  'TokenRateCacheUpdated(address,uint256)': fc.tuple(anyAddress, uint256),
  PriceRateCacheUpdated: fc.tuple(anyAddress, uint256),
};

/** Random logs that the ABI allows, with any values. */
export function balancerLogsOf(event: string): fc.Arbitrary<Words> {
  return values[event]!.map((each) => encode(BALANCER, event, each));
}

/** The log as ethers reads it; null if the encoding is not Solidity's or the vault's rules do not hold. */
export function referenceBalancer(words: Words): BalancerEvent | null {
  const parsed = parseCanonical(words);
  if (parsed === null) return null;
  const { name, args } = parsed;
  if (name === 'SwapFeePercentageChanged') {
    return { kind: 'swap_fee_changed', pool: toLog(words).address, swapFee: args[0] as bigint };
  }
  if (name.startsWith('AmpUpdate')) {
    const [first, last = first, from = 0n, to = 0n] = args as bigint[];
    return { kind: 'amp_changed', pool: toLog(words).address, ramp: [first!, last!, from, to] };
  }
  if (name.endsWith('RateCacheUpdated')) {
    const [token, rate] = args as [unknown, bigint];
    const isIndex = typeof token === 'bigint';
    return { kind: 'rate_changed', pool: toLog(words).address, token: BigInt(String(token)), isIndex, rate };
  }
  const poolId = args[0] as Hex;
  const of = { poolId, pool: poolOf(poolId) };
  switch (name) {
    case 'PoolRegistered':
      if (lower(args[1]) !== of.pool) return null;
      return { kind: 'pool_registered', ...of, specialization: Number(args[2]) };
    case 'TokensRegistered': {
      const [tokens, assetManagers] = [lowerAll(args[1]), lowerAll(args[2])];
      if (!areRegular(tokens, assetManagers)) return null;
      return { kind: 'tokens_registered', ...of, tokens, assetManagers };
    }
    case 'Swap': {
      const [amountIn, amountOut] = [args[3] as bigint, args[4] as bigint];
      if (amountIn >= 1n << 255n || amountOut >= 1n << 255n) return null;
      return { kind: 'swap', ...of, tokenIn: lower(args[1]), tokenOut: lower(args[2]), amountIn, amountOut };
    }
    case 'PoolBalanceChanged': {
      const tokens = lowerAll(args[2]);
      const [deltas, protocolFees] = [args[3] as bigint[], args[4] as bigint[]];
      if (!areRegular(tokens, deltas, protocolFees)) return null;
      return { kind: 'balance_changed', ...of, provider: lower(args[1]), tokens, deltas, protocolFees };
    }
    default: {
      const deltas = { cashDelta: args[3] as bigint, managedDelta: args[4] as bigint };
      const [assetManager, token] = [lower(args[1]), lower(args[2])];
      return { kind: 'balance_managed', ...of, assetManager, token, ...deltas };
    }
  }
}

function areRegular(first: readonly unknown[], ...others: readonly (readonly unknown[])[]): boolean {
  return first.length > 0 && first.length <= 50 && others.every(({ length }) => length === first.length);
}

function lower(address: unknown): Hex {
  return String(address).toLowerCase() as Hex;
}

function lowerAll(addresses: unknown): Hex[] {
  return (addresses as readonly string[]).map(lower);
}

function parseCanonical({ topics, data }: Words): { name: string; args: unknown[] } | null {
  try {
    const parsed = BALANCER.parseLog({ topics: [...topics], data });
    if (parsed === null) return null;
    const args: unknown[] = parsed.args.toArray(true);
    const again = encode(BALANCER, parsed.signature, args);
    return again.data === data && again.topics.join() === topics.join() ? { name: parsed.name, args } : null;
  } catch {
    return null;
  }
}
