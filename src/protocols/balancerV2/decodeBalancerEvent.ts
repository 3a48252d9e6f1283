/**
 * Decodes the logs of Balancer V2 and its forks (PHUX). One vault holds all pools and emits all events except the fee
 * event, and names the pool by id. The caller checks that the emitter is the configured vault or a known pool. Events
 * as in IVault.sol and BasePool.sol (balancer/balancer-v2-monorepo).
 */
import type { ChainLog } from '../../domain/block';
import { isHash, type Hex } from '../../domain/hex';
import { readArrays, toAddresses, toSigned } from '../abiArrays';
import { addressOfTopic, intAt, isAddressTopic, loadData, uintAt } from '../words';

/** Topic of PoolRegistered(bytes32 indexed poolId, address indexed poolAddress, uint8 specialization). */
export const POOL_REGISTERED: Hex = '0x3c13bc30b8e878c53fd2a36b679409c073afd75950be43d8858768e956fbc20e';
/** Topic of TokensRegistered(bytes32 indexed poolId, address[] tokens, address[] assetManagers). */
const TOKENS_REGISTERED: Hex = '0xf5847d3f2197b16cdcd2098ec95d0905cd1abdaf415f07bb7cef2bba8ac5dec4';
/** Topic of Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn,
 * amountOut). */
const SWAP: Hex = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b';
/** Topic of PoolBalanceChanged(bytes32 indexed poolId, address indexed, address[] tokens, int256[] deltas,
 * uint256[] fees). */
const POOL_BALANCE_CHANGED: Hex = '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78';
/** Topic of PoolBalanceManaged(bytes32 indexed poolId, address indexed, address indexed token, int256 cash,
 * int256 managed). */
const POOL_BALANCE_MANAGED: Hex = '0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a';
/** Topic of SwapFeePercentageChanged(uint256 swapFeePercentage). */
export const SWAP_FEE_CHANGED: Hex = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc';

/** topic0 of the events that the vault emits. Only `POOL_REGISTERED` creates a pool. */
export const VAULT_TOPICS: ReadonlySet<Hex> = new Set([
  POOL_REGISTERED,
  TOKENS_REGISTERED,
  SWAP,
  POOL_BALANCE_CHANGED,
  POOL_BALANCE_MANAGED,
]);
/** Topic of AmpUpdateStarted(uint256 startValue, uint256 endValue, uint256 startTime, uint256 endTime). */
const AMP_UPDATE_STARTED: Hex = '0x1835882ee7a34ac194f717a35e09bb1d24c82a3b9d854ab6c9749525b714cdf2';
/** Topic of AmpUpdateStopped(uint256 currentValue). */
const AMP_UPDATE_STOPPED: Hex = '0xa0d01593e47e69d07e0ccd87bece09411e07dd1ed40ca8f2e7af2976542a0233';

/** Topics of the changes of an amplification. */
export const AMP_TOPICS: readonly Hex[] = [AMP_UPDATE_STARTED, AMP_UPDATE_STOPPED];
/** Topic of TokenRateCacheUpdated(uint256 indexed tokenIndex, uint256 rate) (ComposableStablePoolRates.sol). */
const RATE_OF_INDEX: Hex = '0xb77a83204ca282e08dc3a65b0a1ca32ea4e6875c38ef0bf5bf75e52a67354fac';
/** Topic of TokenRateCacheUpdated(address indexed token, uint256 rate) (StablePhantomPool.sol). */
const RATE_OF_TOKEN: Hex = '0xcfed57d90913b5ee1895919dcccaff83a9f7a842d912ef137272e5fc6123aa86';
/** Topic of PriceRateCacheUpdated(address indexed token, uint256 rate) (MetaStablePool.sol). */
const PRICE_RATE_OF_TOKEN: Hex = '0xc1a224b14823b63c7711127f125fbf592434682f38881ebb61408747a303affc';

/** topic0 of the events that a pool's own contract emits. */
export const POOL_TOPICS: ReadonlySet<Hex> = new Set([
  SWAP_FEE_CHANGED,
  ...AMP_TOPICS,
  RATE_OF_INDEX,
  RATE_OF_TOKEN,
  PRICE_RATE_OF_TOKEN,
]);

const INT256_MAX = (1n << 255n) - 1n;
const UINT8_MAX = 255n;
const ADDRESS_END = 42;

/**
 * The pool of an event. A contract may register several pool ids; the standard pool contracts register only
 * one.
 */
interface OfPool {
  readonly poolId: Hex;
  /** Address of the pool's contract: the first 20 bytes of the id. */
  readonly pool: Hex;
}

interface PoolRegistered extends OfPool {
  readonly kind: 'pool_registered';
  /** How the vault stores the balances: 0 general, 1 minimal swap info, 2 two tokens. */
  readonly specialization: number;
}

interface TokensRegistered extends OfPool {
  readonly kind: 'tokens_registered';
  /** Tokens in the order of the pool. Its weights have the same order. */
  readonly tokens: readonly Hex[];
  readonly assetManagers: readonly Hex[];
}

/** A swap. Amounts are raw units: into the pool and out of it. Each fits into a signed 32-byte word. */
export interface VaultSwap extends OfPool {
  readonly kind: 'swap';
  readonly tokenIn: Hex;
  readonly tokenOut: Hex;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** A join or an exit that the vault reports as a swap. */
interface ShareMove {
  readonly kind: 'mint' | 'burn';
  /** The token that went into the pool, or out of it. */
  readonly token: Hex;
  /** Raw amount of this token. */
  readonly amount: bigint;
}

/**
 * Composable pools register their own share (BPT, the contract of the pool) as a token. A swap of another token for the
 * share is a join, and a swap of the share for another token is an exit: the vault mints and burns shares with no trade
 * (ComposableStablePool.sol, _swapWithBpt). Null for a swap of two other tokens.
 */
export function shareMoveOf({ pool, tokenIn, tokenOut, amountIn, amountOut }: VaultSwap): ShareMove | null {
  if ((tokenIn === pool) === (tokenOut === pool)) return null;
  return tokenOut === pool
    ? { kind: 'mint', token: tokenIn, amount: amountIn }
    : { kind: 'burn', token: tokenOut, amount: amountOut };
}

/**
 * A join (tokens go in, deltas ≥ 0) or an exit (tokens go out, deltas ≤ 0). Amounts of the provider and
 * protocol fees are separate. In both cases the pool's balance changes by delta − fee (PoolBalances.sol,
 * _processJoinPoolTransfers and _processExitPoolTransfers).
 */
export interface BalanceChanged extends OfPool {
  readonly kind: 'balance_changed';
  readonly provider: Hex;
  readonly tokens: readonly Hex[];
  readonly deltas: readonly bigint[];
  readonly protocolFees: readonly bigint[];
}

/**
 * Tokens move between the vault and their asset manager. The manager may also report a gain or loss. The pool's total
 * balance changes by the sum of both deltas.
 */
interface BalanceManaged extends OfPool {
  readonly kind: 'balance_managed';
  readonly assetManager: Hex;
  readonly token: Hex;
  readonly cashDelta: bigint;
  readonly managedDelta: bigint;
}

interface SwapFeeChanged {
  readonly kind: 'swap_fee_changed';
  /** The contract that emitted the log. */
  readonly pool: Hex;
  /** 1e18 = 100 %. */
  readonly swapFee: bigint;
}

/** The amplification of a stable pool moves from one value to another. Both are equal if it stays. */
interface AmpChanged {
  readonly kind: 'amp_changed';
  /** The contract that emitted the log. */
  readonly pool: Hex;
  /** First and last amplification (1,000 means 1), first and last time in unix seconds. Both times are 0 if it stays. */
  readonly ramp: readonly [fromAmp: bigint, toAmp: bigint, fromTime: bigint, toTime: bigint];
}

/** The pool asked a rate provider. It computes with this rate from here on. */
interface RateChanged {
  readonly kind: 'rate_changed';
  /** The contract that emitted the log. */
  readonly pool: Hex;
  /** The index of the token in the pool, or its address. */
  readonly token: bigint;
  readonly isIndex: boolean;
  /** 1e18 means 1. */
  readonly rate: bigint;
}

export type BalancerEvent =
  | PoolRegistered
  | TokensRegistered
  | VaultSwap
  | BalanceChanged
  | BalanceManaged
  | SwapFeeChanged
  | AmpChanged
  | RateChanged;

/** Decodes a log; null for an unknown topic or a malformed layout. Never throws. */
export function decodeBalancerEvent(log: ChainLog): BalancerEvent | null {
  switch (log.topics[0]) {
    case SWAP:
      return decodeSwap(log);
    case POOL_BALANCE_CHANGED:
      return decodeBalanceChanged(log);
    case POOL_REGISTERED:
      return decodePoolRegistered(log);
    case TOKENS_REGISTERED:
      return decodeTokensRegistered(log);
    case POOL_BALANCE_MANAGED:
      return decodeBalanceManaged(log);
    case SWAP_FEE_CHANGED:
      return decodeSwapFeeChanged(log);
    case AMP_UPDATE_STARTED:
    case AMP_UPDATE_STOPPED:
      return decodeAmpChanged(log);
    case RATE_OF_INDEX:
    case RATE_OF_TOKEN:
    case PRICE_RATE_OF_TOKEN:
      return decodeRateChanged(log);
    default:
      return null;
  }
}

/** The pool's contract: the first 20 bytes of its id (PoolRegistry.sol, _toPoolId). */
export function poolOfId(poolId: Hex): Hex {
  return `0x${poolId.slice(2, ADDRESS_END)}`;
}

function decodePoolRegistered({ topics, data }: ChainLog): PoolRegistered | null {
  const [, poolId, pool] = topics;
  if (topics.length !== 3 || !loadData(data, 1)) return null;
  if (!isHash(poolId) || !isAddressTopic(pool)) return null;
  const specialization = uintAt(0);
  if (specialization > UINT8_MAX || addressOfTopic(pool) !== poolOfId(poolId)) return null;
  return {
    kind: 'pool_registered',
    poolId,
    pool: poolOfId(poolId),
    specialization: Number(specialization),
  };
}

function decodeTokensRegistered({ topics, data }: ChainLog): TokensRegistered | null {
  const poolId = topics[1];
  if (topics.length !== 2 || !isHash(poolId)) return null;
  const [tokenWords = [], managerWords = []] = readArrays(data, 2) ?? [];
  const tokens = toAddresses(tokenWords);
  const assetManagers = toAddresses(managerWords);
  if (tokens === null || assetManagers === null) return null;
  if (tokens.length === 0 || tokens.length !== assetManagers.length) return null;
  return { kind: 'tokens_registered', poolId, pool: poolOfId(poolId), tokens, assetManagers };
}

function decodeSwap({ topics, data }: ChainLog): VaultSwap | null {
  const [, poolId, tokenIn, tokenOut] = topics;
  if (topics.length !== 4 || !loadData(data, 2)) return null;
  if (!isHash(poolId) || !isAddressTopic(tokenIn) || !isAddressTopic(tokenOut)) return null;
  const amountIn = uintAt(0);
  const amountOut = uintAt(1);
  // The vault keeps balances below 2^112. An amount that does not fit into a signed word is therefore not from a real
  // swap.
  if (amountIn > INT256_MAX || amountOut > INT256_MAX) return null;
  return {
    kind: 'swap',
    poolId,
    pool: poolOfId(poolId),
    tokenIn: addressOfTopic(tokenIn),
    tokenOut: addressOfTopic(tokenOut),
    amountIn,
    amountOut,
  };
}

function decodeBalanceChanged({ topics, data }: ChainLog): BalanceChanged | null {
  const [, poolId, provider] = topics;
  if (topics.length !== 3 || !isHash(poolId) || !isAddressTopic(provider)) return null;
  const [tokenWords = [], deltas = [], protocolFees = []] = readArrays(data, 3) ?? [];
  const tokens = toAddresses(tokenWords);
  if (tokens === null || tokens.length === 0) return null;
  if (deltas.length !== tokens.length || protocolFees.length !== tokens.length) return null;
  return {
    kind: 'balance_changed',
    poolId,
    pool: poolOfId(poolId),
    provider: addressOfTopic(provider),
    tokens,
    deltas: deltas.map(toSigned),
    protocolFees,
  };
}

function decodeBalanceManaged({ topics, data }: ChainLog): BalanceManaged | null {
  const [, poolId, assetManager, token] = topics;
  if (topics.length !== 4 || !loadData(data, 2)) return null;
  if (!isHash(poolId) || !isAddressTopic(assetManager) || !isAddressTopic(token)) return null;
  return {
    kind: 'balance_managed',
    poolId,
    pool: poolOfId(poolId),
    assetManager: addressOfTopic(assetManager),
    token: addressOfTopic(token),
    cashDelta: intAt(0),
    managedDelta: intAt(1),
  };
}

function decodeSwapFeeChanged({ address, topics, data }: ChainLog): SwapFeeChanged | null {
  if (topics.length !== 1 || !loadData(data, 1)) return null;
  return { kind: 'swap_fee_changed', pool: address, swapFee: uintAt(0) };
}

function decodeAmpChanged({ address, topics, data }: ChainLog): AmpChanged | null {
  const isStart = topics[0] === AMP_UPDATE_STARTED;
  if (topics.length !== 1 || !loadData(data, isStart ? 4 : 1)) return null;
  const ramp = isStart
    ? ([uintAt(0), uintAt(1), uintAt(2), uintAt(3)] as const)
    : ([uintAt(0), uintAt(0), 0n, 0n] as const);
  return { kind: 'amp_changed', pool: address, ramp };
}

function decodeRateChanged({ address, topics, data }: ChainLog): RateChanged | null {
  const [kind, token] = topics;
  const isIndex = kind === RATE_OF_INDEX;
  if (topics.length !== 2 || !isHash(token) || !loadData(data, 1)) return null;
  if (!isIndex && !isAddressTopic(token)) return null;
  return { kind: 'rate_changed', pool: address, token: BigInt(token), isIndex, rate: uintAt(0) };
}
