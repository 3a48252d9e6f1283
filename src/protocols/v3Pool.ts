/**
 * What Uniswap V3 and PancakeSwap V3 pools share, which is all but the Swap event's last two fields. Forks mix the two
 * Swap layouts, so both are read under either name, told apart by topic0. Events as in IUniswapV3PoolEvents.sol.
 */
import type { ChainLog } from '../domain/block';
import type { Hex } from '../domain/hex';
import type {
  BurnEvent,
  CollectEvent,
  CollectProtocolEvent,
  FlashEvent,
  InitializeEvent,
  MintEvent,
  PoolCreation,
  PoolEvent,
  Protocol,
  SwapEvent,
} from './protocol';
import { applyV3Event, v3SpotPrice } from './v3State';
import {
  addressAt,
  dataLength,
  int24At,
  intAt,
  isAddressTopic,
  isInt24,
  isInt24Topic,
  isUint128,
  isUint160,
  isUint24Topic,
  TOPIC_WORD,
  uint24At,
  uintAt,
  wordAt,
} from './words';

/** PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool). */
const POOL_CREATED: Hex = '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118';
/** Initialize(uint160 sqrtPriceX96, int24 tick). */
const INITIALIZE: Hex = '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95';
/** Swap(address indexed sender, address indexed recipient, int256, int256, uint160 sqrtPriceX96, uint128 L, int24). */
const SWAP: Hex = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67';
/** The same and two uint128 more: the protocol's fees of token0 and token1. */
const PANCAKE_SWAP: Hex = '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83';
/** Mint(address sender, address indexed owner, int24 indexed, int24 indexed, uint128 L, uint256, uint256). */
const MINT: Hex = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde';
/** Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 L, uint256, uint256). */
const BURN: Hex = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c';
/** Collect(address indexed owner, address recipient, int24 indexed, int24 indexed, uint128, uint128). */
const COLLECT: Hex = '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0';
/** CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1). */
const COLLECT_PROTOCOL: Hex = '0x596b573906218d3411850b26a6b437d6c4522fdb43d2d2386263f86d50b8b151';
/** Flash(address indexed sender, address indexed recipient, uint256 amount0, amount1, paid0, paid1). */
const FLASH: Hex = '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633';

const SWAP_WORDS = 5;
const PANCAKE_SWAP_WORDS = 7;
const WORD_0 = wordAt(0);
const WORD_1 = wordAt(1);
const WORD_2 = wordAt(2);
const WORD_3 = wordAt(3);
const WORD_4 = wordAt(4);
const WORD_5 = wordAt(5);
const WORD_6 = wordAt(6);

/** A V3 protocol under its name in the chain description. */
export function createV3Protocol(name: 'uniswap_v3' | 'pancake_v3'): Protocol {
  return {
    name,
    poolType: 3,
    creationTopic: POOL_CREATED,
    eventTopics: new Set([SWAP, PANCAKE_SWAP, INITIALIZE, MINT, BURN, COLLECT, COLLECT_PROTOCOL, FLASH]),
    decodeCreation,
    decodeEvent,
    applyEvent: applyV3Event,
    spotPrice: v3SpotPrice,
  };
}

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, token0, token1, fee] = topics;
  if (topic !== POOL_CREATED || topics.length !== 4 || data.length !== dataLength(2)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isUint24Topic(fee)) return null;
  if (!isInt24(data, WORD_0) || !isUint160(data, WORD_1)) return null;
  return {
    pool: addressAt(data, WORD_1),
    token0: addressAt(token0, TOPIC_WORD),
    token1: addressAt(token1, TOPIC_WORD),
    feePips: uint24At(fee, TOPIC_WORD),
    tickSpacing: int24At(data, WORD_0),
  };
}

function decodeEvent(log: ChainLog): PoolEvent | null {
  try {
    switch (log.topics[0]) {
      case SWAP:
        return decodeSwap(log, SWAP_WORDS);
      case PANCAKE_SWAP:
        return decodeSwap(log, PANCAKE_SWAP_WORDS);
      case MINT:
        return decodeMint(log);
      case BURN:
        return decodeBurn(log);
      case COLLECT:
        return decodeCollect(log);
      case INITIALIZE:
        return decodeInitialize(log);
      case COLLECT_PROTOCOL:
        return decodeCollectProtocol(log);
      case FLASH:
        return decodeFlash(log);
      default:
        return null;
    }
  } catch {
    // BigInt refuses text that is not hex. The border lets none through; a decoder must not stop the writer for it.
    return null;
  }
}

function decodeSwap({ topics, data }: ChainLog, words: number): SwapEvent | null {
  if (topics.length !== 3 || data.length !== dataLength(words)) return null;
  const sender = topics[1];
  const recipient = topics[2];
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  if (!isUint160(data, WORD_2) || !isUint128(data, WORD_3) || !isInt24(data, WORD_4)) return null;
  if (words === PANCAKE_SWAP_WORDS && !(isUint128(data, WORD_5) && isUint128(data, WORD_6))) return null;
  return {
    kind: 'swap',
    sender: addressAt(sender, TOPIC_WORD),
    recipient: addressAt(recipient, TOPIC_WORD),
    amount0: intAt(data, WORD_0),
    amount1: intAt(data, WORD_1),
    after: {
      sqrtPriceX96: uintAt(data, WORD_2),
      liquidity: uintAt(data, WORD_3),
      tick: int24At(data, WORD_4),
    },
  };
}

function decodeInitialize({ topics, data }: ChainLog): InitializeEvent | null {
  if (topics.length !== 1 || data.length !== dataLength(2)) return null;
  if (!isUint160(data, WORD_0) || !isInt24(data, WORD_1)) return null;
  return { kind: 'initialize', sqrtPriceX96: uintAt(data, WORD_0), tick: int24At(data, WORD_1) };
}

function decodeMint({ topics, data }: ChainLog): MintEvent | null {
  const [, owner, tickLower, tickUpper] = topics;
  if (topics.length !== 4 || data.length !== dataLength(4)) return null;
  if (!isAddressTopic(owner) || !isInt24Topic(tickLower) || !isInt24Topic(tickUpper)) return null;
  if (!isUint160(data, WORD_0) || !isUint128(data, WORD_1)) return null;
  return {
    kind: 'mint',
    owner: addressAt(owner, TOPIC_WORD),
    amount0: uintAt(data, WORD_2),
    amount1: uintAt(data, WORD_3),
    liquidity: uintAt(data, WORD_1),
    tickLower: int24At(tickLower, TOPIC_WORD),
    tickUpper: int24At(tickUpper, TOPIC_WORD),
  };
}

function decodeBurn({ topics, data }: ChainLog): BurnEvent | null {
  const [, owner, tickLower, tickUpper] = topics;
  if (topics.length !== 4 || data.length !== dataLength(3)) return null;
  if (!isAddressTopic(owner) || !isInt24Topic(tickLower) || !isInt24Topic(tickUpper)) return null;
  if (!isUint128(data, WORD_0)) return null;
  return {
    kind: 'burn',
    owner: addressAt(owner, TOPIC_WORD),
    amount0: uintAt(data, WORD_1),
    amount1: uintAt(data, WORD_2),
    liquidity: uintAt(data, WORD_0),
    tickLower: int24At(tickLower, TOPIC_WORD),
    tickUpper: int24At(tickUpper, TOPIC_WORD),
  };
}

function decodeCollect({ topics, data }: ChainLog): CollectEvent | null {
  const [, owner, tickLower, tickUpper] = topics;
  if (topics.length !== 4 || data.length !== dataLength(3)) return null;
  if (!isAddressTopic(owner) || !isInt24Topic(tickLower) || !isInt24Topic(tickUpper)) return null;
  if (!isUint160(data, WORD_0) || !isUint128(data, WORD_1) || !isUint128(data, WORD_2)) return null;
  return {
    kind: 'collect',
    owner: addressAt(owner, TOPIC_WORD),
    recipient: addressAt(data, WORD_0),
    amount0: uintAt(data, WORD_1),
    amount1: uintAt(data, WORD_2),
    tickLower: int24At(tickLower, TOPIC_WORD),
    tickUpper: int24At(tickUpper, TOPIC_WORD),
  };
}

function decodeCollectProtocol({ topics, data }: ChainLog): CollectProtocolEvent | null {
  const [, sender, recipient] = topics;
  if (topics.length !== 3 || data.length !== dataLength(2)) return null;
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  if (!isUint128(data, WORD_0) || !isUint128(data, WORD_1)) return null;
  return {
    kind: 'collect_protocol',
    owner: addressAt(sender, TOPIC_WORD),
    recipient: addressAt(recipient, TOPIC_WORD),
    amount0: uintAt(data, WORD_0),
    amount1: uintAt(data, WORD_1),
  };
}

/** The amounts lent (words 0 and 1) came back; what stays is `paid`. */
function decodeFlash({ topics, data }: ChainLog): FlashEvent | null {
  const [, sender, recipient] = topics;
  if (topics.length !== 3 || data.length !== dataLength(4)) return null;
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  return {
    kind: 'flash',
    owner: addressAt(sender, TOPIC_WORD),
    recipient: addressAt(recipient, TOPIC_WORD),
    amount0: uintAt(data, WORD_2),
    amount1: uintAt(data, WORD_3),
  };
}
