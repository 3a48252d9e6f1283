/**
 * Uniswap V4 (Uniswap/v4-core): one contract, the PoolManager, holds all pools, emits their events and names each pool by
 * an id of 32 bytes. A pool has the state of a Uniswap V3 pool. The amounts of its events are those of the trader.
 */
import type { ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { moveBalances, type PoolState } from '../../domain/pool';
import { POOL_V3 } from '../../domain/pools/poolShape';
import { hookDoubt } from '../hooks';
import type {
  BurnEvent,
  InitializeEvent,
  MintEvent,
  PoolCreation,
  PoolEvent,
  PoolTerms,
  Protocol,
  SwapEvent,
} from '../protocol';
import { isTickRange } from '../ticks/tickMap';
import { createV3Protocol } from '../uniswapV3/v3Pool';
import { applyV3Event, v3SpotPrice } from '../uniswapV3/v3State';
import {
  addressAt,
  addressOfTopic,
  int24At,
  intAt,
  isAddressTopic,
  isInt24,
  isUint128,
  isUint160,
  loadData,
  uintAt,
} from '../words';
import { DYNAMIC_FEE, feePipsOf } from './dynamicFee';
import { v4OwedQuestions, v4TickQuestions } from './poolSlots';
import { principalOf } from './principal';
import { v4IdQuestions } from './v4Questions';

/** Topic of Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24
 * tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick). */
const INITIALIZE: Hex = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438';
/** Topic of Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
 * uint128 liquidity, int24 tick, uint24 fee). */
const SWAP: Hex = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f';
/** Topic of ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256
 * liquidityDelta, bytes32 salt). */
const MODIFY_LIQUIDITY: Hex = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec';

const PIPS = 1_000_000n;
const INT128_LIMIT = 1n << 127n;

const v3 = createV3Protocol('uniswap_v4');

export const uniswapV4 = {
  ...v3,
  poolTypes: [POOL_V3],
  keptTopics: [],
  feeSplit: null,
  creationTopics: new Set([INITIALIZE]),
  eventTopics: new Set([SWAP, MODIFY_LIQUIDITY]),
  poolOf: ({ topics }: Pick<ChainLog, 'topics'>): Hex => addressOfWord(topics[1] ?? ZERO_ADDRESS),
  decodeCreation,
  decodeEvent,
  applyEvent,
  spotPrice: (state: PoolState, { hooks }: Pick<PoolTerms, 'hooks'>): number | null =>
    hookDoubt(hooks) === 0 ? v3SpotPrice(state) : null,
  idQuestions: v4IdQuestions,
  tickQuestions: v4TickQuestions,
  owedQuestions: v4OwedQuestions,
  swapFeePips: ({ feePips }: PoolTerms, { ownFees }: SwapEvent): number => ownFees?.overridePips ?? feePips,
} satisfies Protocol;

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, id, token0, token1] = topics;
  if (topic !== INITIALIZE || topics.length !== 4 || id === undefined || !loadData(data, 5)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isInt24(1) || !isUint160(2)) return null;
  const hooks = addressAt(data, 2);
  const fee = uintAt(0);
  if (fee > PIPS && fee !== DYNAMIC_FEE) return null;
  return {
    pool: addressOfWord(id),
    id,
    hooks: hooks === ZERO_ADDRESS ? null : hooks,
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: feePipsOf(fee),
    tickSpacing: int24At(1),
  };
}

function decodeEvent(log: ChainLog, state: PoolState): PoolEvent | null {
  switch (log.topics[0]) {
    case SWAP:
      return decodeSwap(log);
    case MODIFY_LIQUIDITY:
      return decodeModifyLiquidity(log, state);
    case INITIALIZE:
      return decodeInitialize(log);
    default:
      return null;
  }
}

function decodeInitialize(log: ChainLog): InitializeEvent | null {
  if (decodeCreation(log) === null || !isUint160(3) || !isInt24(4)) return null;
  return { kind: 'initialize', sqrtPriceX96: uintAt(3), tick: int24At(4) };
}

/**
 * Amounts are negative for what the trader pays. The fee is what the trader paid, for providers and the protocol. The
 * manager credits what is paid out to the caller.
 */
function decodeSwap({ topics, data }: ChainLog): SwapEvent | null {
  const sender = topics[2];
  if (topics.length !== 3 || !isAddressTopic(sender) || !loadData(data, 6)) return null;
  if (!isUint160(2) || !isUint128(3) || !isInt24(4) || uintAt(5) > PIPS) return null;
  const [amount0, amount1] = [-intAt(0), -intAt(1)];
  if (!isInt128(amount0) || !isInt128(amount1)) return null;
  const caller = addressOfTopic(sender);
  return {
    kind: 'swap',
    sender: caller,
    recipient: caller,
    amount0,
    amount1,
    after: { sqrtPriceX96: uintAt(2), liquidity: uintAt(3), tick: int24At(4) },
    ownFees: { overridePips: Number(uintAt(5)), pluginPips: 0 },
  };
}

/** A change of 0 collects fees, whose amounts are in no event. */
function decodeModifyLiquidity({ topics, data }: ChainLog, state: PoolState): MintEvent | BurnEvent | null {
  const sender = topics[2];
  if (topics.length !== 3 || !isAddressTopic(sender) || !loadData(data, 4)) return null;
  if (!isInt24(0) || !isInt24(1)) return null;
  const [tickLower, tickUpper, change, salt] = [int24At(0), int24At(1), intAt(2), uintAt(3)];
  if (!isInt128(change) || !isTickRange(tickLower, tickUpper)) return null;
  return {
    kind: change > 0n ? 'mint' : 'burn',
    owner: addressOfTopic(sender),
    ...principalOf(state, tickLower, tickUpper, change),
    liquidity: change < 0n ? -change : change,
    tickLower,
    tickUpper,
    salt,
  };
}

function isInt128(value: bigint): boolean {
  return -INT128_LIMIT <= value && value <= INT128_LIMIT;
}

/**
 * The balances of a pool are the tokens of its positions, without fees: fees leave the pool without an amount in an event.
 * A swap across several ticks rounds at each of them, so the balances may be too large by as many units, and never too
 * small.
 */
function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  switch (event.kind) {
    case 'swap': {
      const feePips = event.ownFees?.overridePips ?? 0;
      const [amount0, amount1] = [withoutFee(event.amount0, feePips), withoutFee(event.amount1, feePips)];
      return applyV3Event(state, { ...event, amount0, amount1 });
    }
    case 'burn':
      return applyV3Event(moveBalances(state, -event.amount0, -event.amount1), event);
    default:
      return applyV3Event(state, event);
  }
}

function withoutFee(amount: bigint, feePips: number): bigint {
  return amount > 0n ? (amount * (PIPS - BigInt(feePips))) / PIPS : amount;
}
