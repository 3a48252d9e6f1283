/**
 * Shared decoder of Uniswap V4 and of the CL pools of PancakeSwap Infinity. One contract, the manager, emits the events of
 * all pools and names each pool by an id of 32 bytes. A pool has the state of a Uniswap V3 pool. The amounts of its events
 * are those of the trader.
 */
import type { ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { moveBalances, type PoolState } from '../../domain/pool';
import { POOL_V3 } from '../../domain/pools/poolShape';
import { hookDoubt } from '../hooks';
import type {
  BurnEvent,
  IdQuestions,
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
  addressOfTopic,
  int24At,
  intAt,
  isAddressTopic,
  isInt128,
  isInt24,
  isUint128,
  isUint160,
  loadData,
  isUint16,
  uintAt,
} from '../words';
import { DYNAMIC_FEE, feePipsOf } from './dynamicFee';
import { createOwedQuestions, createTickQuestions } from './poolSlots';
import { principalOf } from './principal';
import { createIdQuestions } from './v4Questions';

/** Topic of ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256
 * liquidityDelta, bytes32 salt). */
const MODIFY_LIQUIDITY: Hex = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec';

const PIPS = 1_000_000n;

/** What differs between the managers. Both kinds of Initialize have √price and tick in words 3 and 4. */
interface V4Events extends Pick<IdQuestions, 'describeCall' | 'readCreation'> {
  readonly initialize: Hex;
  readonly swap: Hex;
  /** Words of the data of Swap: those of Uniswap V4, or one more for the protocol's part of the fee, in pips. */
  readonly swapWords: 6 | 7;
  /** Decodes Initialize, and leaves its data loaded. */
  readonly decodeCreation: (log: ChainLog) => PoolCreation | null;
  /** The slot of the map of all pools in the storage of the manager. */
  readonly pools: bigint;
}

/** Creates a protocol with its name in the chain description. */
export function createV4Protocol(name: string, events: V4Events) {
  const { initialize, swap, swapWords, pools, describeCall, readCreation } = events;
  const decodeCreation = (log: ChainLog): PoolCreation | null => {
    const creation = events.decodeCreation(log);
    return creation !== null && isUint160(3) && isInt24(4) ? creation : null;
  };
  return {
    ...createV3Protocol(name),
    poolTypes: [POOL_V3],
    keptTopics: [],
    feeSplit: null,
    creationTopics: new Set([initialize]),
    eventTopics: new Set([swap, MODIFY_LIQUIDITY]),
    poolOf: poolOfLog,
    decodeCreation,
    decodeEvent: (log: ChainLog, state: PoolState): PoolEvent | null => {
      switch (log.topics[0]) {
        case swap:
          return decodeSwap(log, swapWords);
        case MODIFY_LIQUIDITY:
          return decodeModifyLiquidity(log, state);
        case initialize:
          return decodeCreation(log) === null
            ? null
            : { kind: 'initialize', sqrtPriceX96: uintAt(3), tick: int24At(4) };
        default:
          return null;
      }
    },
    applyEvent,
    spotPrice: (state: PoolState, pool: Pick<PoolTerms, 'hooks' | 'hookBits'>): number | null =>
      hookDoubt(pool) === 0 ? v3SpotPrice(state) : null,
    swapFeePips: ({ feePips }: PoolTerms, { ownFees }: SwapEvent): number => ownFees?.overridePips ?? feePips,
    idQuestions: createIdQuestions(pools, { describeCall, readCreation }),
    tickQuestions: createTickQuestions(pools),
    owedQuestions: createOwedQuestions(pools),
  } satisfies Protocol;
}

/** The key of the pool that a log of a manager concerns: the last 20 bytes of its id. */
export function poolOfLog({ topics }: Pick<ChainLog, 'topics'>): Hex {
  return addressOfWord(topics[1] ?? ZERO_ADDRESS);
}

/** The fee of a new pool in pips, from its Initialize. Null for a fee that the manager refuses. */
export function newPoolFee(fee: bigint, feeMax = PIPS): number | null {
  return fee > feeMax && fee !== DYNAMIC_FEE ? null : feePipsOf(fee);
}

function decodeSwap(log: ChainLog, words: V4Events['swapWords']): SwapEvent | null {
  const swap = decodeManagedSwap(log, words, 5);
  if (swap === null || !isUint160(2) || !isUint128(3) || !isInt24(4) || (words === 7 && !isUint16(6)))
    return null;
  return { ...swap, after: { sqrtPriceX96: uintAt(2), liquidity: uintAt(3), tick: int24At(4) } };
}

/**
 * What the Swap events of all managers share. Amounts are negative for what the trader pays. The fee, in pips in the word
 * `feeWord`, is what the trader paid, for providers and the protocol. The manager credits what is paid out to the caller.
 * Leaves the data loaded.
 */
export function decodeManagedSwap(
  { topics, data }: ChainLog,
  words: number,
  feeWord: number,
): Omit<SwapEvent, 'after'> | null {
  const sender = topics[2];
  if (topics.length !== 3 || !isAddressTopic(sender) || !loadData(data, words)) return null;
  if (!isInt128(0) || !isInt128(1) || uintAt(feeWord) > PIPS) return null;
  const caller = addressOfTopic(sender);
  return {
    kind: 'swap',
    sender: caller,
    recipient: caller,
    amount0: -intAt(0),
    amount1: -intAt(1),
    ownFees: { overridePips: Number(uintAt(feeWord)), pluginPips: 0 },
  };
}

/** A change of 0 collects fees, whose amounts are in no event. */
function decodeModifyLiquidity({ topics, data }: ChainLog, state: PoolState): MintEvent | BurnEvent | null {
  const sender = topics[2];
  if (topics.length !== 3 || !isAddressTopic(sender) || !loadData(data, 4)) return null;
  if (!isInt24(0) || !isInt24(1) || !isInt128(2)) return null;
  const [tickLower, tickUpper, change, salt] = [int24At(0), int24At(1), intAt(2), uintAt(3)];
  if (!isTickRange(tickLower, tickUpper)) return null;
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
