/**
 * Uniswap V2 and its forks: constant product, two tokens, the reserves are the whole state. Events as in
 * UniswapV2Pair.sol and UniswapV2Factory.sol (Uniswap/v2-core).
 */
import type { ChainLog } from '../domain/block';
import type { Hex } from '../domain/hex';
import type { PoolState } from '../domain/pool';
import type {
  BurnEvent,
  MintEvent,
  PoolCreation,
  PoolEvent,
  Protocol,
  SwapEvent,
  SyncEvent,
} from './protocol';
import {
  addressAt,
  dataLength,
  isAddressTopic,
  isUint112,
  isUint160,
  TOPIC_WORD,
  uintAt,
  wordAt,
} from './words';

/** PairCreated(address indexed token0, address indexed token1, address pair, uint256). */
const PAIR_CREATED: Hex = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9';
/** Swap(address indexed sender, uint256 amount0In, amount1In, amount0Out, amount1Out, address indexed to). */
const SWAP: Hex = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822';
/** Sync(uint112 reserve0, uint112 reserve1). */
const SYNC: Hex = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
/** Mint(address indexed sender, uint256 amount0, uint256 amount1). */
const MINT: Hex = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f';
/** Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to). */
const BURN: Hex = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496';

const INT256_MAX = (1n << 255n) - 1n;
const INT256_MIN = -(1n << 255n);

const TWO_WORDS = dataLength(2);
const FOUR_WORDS = dataLength(4);
const WORD_0 = wordAt(0);
const WORD_1 = wordAt(1);
const WORD_2 = wordAt(2);
const WORD_3 = wordAt(3);

export const uniswapV2: Protocol = {
  name: 'uniswap_v2',
  poolType: 2,
  creationTopic: PAIR_CREATED,
  eventTopics: new Set([SWAP, SYNC, MINT, BURN]),
  decodeCreation,
  decodeEvent,
  applyEvent,
  spotPrice,
};

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, token0, token1] = topics;
  if (topic !== PAIR_CREATED || topics.length !== 3 || data.length !== TWO_WORDS) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isUint160(data, WORD_0)) return null;
  return {
    pool: addressAt(data, WORD_0),
    token0: addressAt(token0, TOPIC_WORD),
    token1: addressAt(token1, TOPIC_WORD),
    feePips: null,
    tickSpacing: 0,
  };
}

function decodeEvent(log: ChainLog): PoolEvent | null {
  try {
    switch (log.topics[0]) {
      case SYNC:
        return decodeSync(log);
      case SWAP:
        return decodeSwap(log);
      case MINT:
        return decodeMint(log);
      case BURN:
        return decodeBurn(log);
      default:
        return null;
    }
  } catch {
    // BigInt refuses text that is not hex. The border lets none through; a decoder must not stop the writer for it.
    return null;
  }
}

function decodeSync({ topics, data }: ChainLog): SyncEvent | null {
  if (topics.length !== 1 || data.length !== TWO_WORDS) return null;
  if (!isUint112(data, WORD_0) || !isUint112(data, WORD_1)) return null;
  return { kind: 'sync', reserve0: uintAt(data, WORD_0), reserve1: uintAt(data, WORD_1) };
}

function decodeSwap({ topics, data }: ChainLog): SwapEvent | null {
  if (topics.length !== 3 || data.length !== FOUR_WORDS) return null;
  const sender = topics[1];
  const recipient = topics[2];
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  const amount0 = uintAt(data, WORD_0) - uintAt(data, WORD_2);
  const amount1 = uintAt(data, WORD_1) - uintAt(data, WORD_3);
  // Real pairs hold balances below 2^112; what does not fit a signed word is no swap of theirs.
  if (!isInt256(amount0) || !isInt256(amount1)) return null;
  return {
    kind: 'swap',
    sender: addressAt(sender, TOPIC_WORD),
    recipient: addressAt(recipient, TOPIC_WORD),
    amount0,
    amount1,
    after: null,
  };
}

function isInt256(value: bigint): boolean {
  return value <= INT256_MAX && value >= INT256_MIN;
}

function decodeMint({ topics, data }: ChainLog): MintEvent | null {
  const sender = topics[1];
  if (topics.length !== 2 || data.length !== TWO_WORDS || !isAddressTopic(sender)) return null;
  return {
    kind: 'mint',
    owner: addressAt(sender, TOPIC_WORD),
    amount0: uintAt(data, WORD_0),
    amount1: uintAt(data, WORD_1),
    liquidity: null,
    tickLower: null,
    tickUpper: null,
  };
}

function decodeBurn({ topics, data }: ChainLog): BurnEvent | null {
  const recipient = topics[2];
  if (topics.length !== 3 || data.length !== TWO_WORDS) return null;
  if (!isAddressTopic(topics[1]) || !isAddressTopic(recipient)) return null;
  return {
    kind: 'burn',
    owner: addressAt(recipient, TOPIC_WORD),
    amount0: uintAt(data, WORD_0),
    amount1: uintAt(data, WORD_1),
    liquidity: null,
    tickLower: null,
    tickUpper: null,
  };
}

/** Only a Sync moves the reserves: mint, burn and swap each emit one of their own. */
function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  if (event.kind !== 'sync') return state;
  if (event.reserve0 === state.reserve0 && event.reserve1 === state.reserve1) return state;
  return { ...state, reserve0: event.reserve0, reserve1: event.reserve1 };
}

/** reserve1 / reserve0. Both conversions and the division round correctly: relative error below 4e-16. */
function spotPrice(state: PoolState): number | null {
  const price = Number(state.reserve1) / Number(state.reserve0);
  return Number.isFinite(price) && price > 0 ? price : null;
}
