/**
 * Shared decoder of Uniswap V3 and PancakeSwap V3 pools, which differ only in the last two fields of Swap. Forks mix
 * the two Swap layouts, so both names read both layouts, distinguished by topic0. Events as in
 * IUniswapV3PoolEvents.sol.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { POOL_V3 } from '../../domain/pools/poolShape';
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
} from '../protocol';
import { decodeSetFeeProtocol, decodeSlot0Shares, FEE_PROTOCOL_TOPICS } from './feeProtocol';
import { quoteInRange } from './quoteInRange';
import { v3Questions } from './v3Questions';
import { applyV3Event, v3SpotPrice } from './v3State';
import {
  addressAt,
  addressOfTopic,
  int24At,
  int24OfTopic,
  intAt,
  isAddressTopic,
  isInt24,
  isInt24Topic,
  isUint128,
  isUint160,
  isUint24Topic,
  loadData,
  uint24OfTopic,
  uintAt,
} from '../words';

/** Topic of PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24
 * tickSpacing, address pool). */
const POOL_CREATED: Hex = '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118';
/** Topic of Initialize(uint160 sqrtPriceX96, int24 tick). */
const INITIALIZE: Hex = '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95';
/** Topic of Swap(address indexed sender, address indexed recipient, int256, int256, uint160 sqrtPriceX96,
 * uint128 L, int24). */
const SWAP: Hex = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67';
/** Topic of PancakeSwap's Swap, with two more uint128: the protocol's fees of token0 and token1. */
const PANCAKE_SWAP: Hex = '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83';
/** Topic of Mint(address sender, address indexed owner, int24 indexed, int24 indexed, uint128 L, uint256,
 * uint256). */
const MINT: Hex = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde';
/** Topic of Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 L, uint256,
 * uint256). */
const BURN: Hex = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c';
/** Topic of Collect(address indexed owner, address recipient, int24 indexed, int24 indexed, uint128,
 * uint128). */
const COLLECT: Hex = '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0';
/** Topic of CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128
 * amount1). */
const COLLECT_PROTOCOL: Hex = '0x596b573906218d3411850b26a6b437d6c4522fdb43d2d2386263f86d50b8b151';
/** Topic of Flash(address indexed sender, address indexed recipient, uint256 amount0, amount1, paid0,
 * paid1). */
const FLASH: Hex = '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633';

const SWAP_WORDS = 5;
const PANCAKE_SWAP_WORDS = 7;

const feeSplit = { decodeChange: decodeSetFeeProtocol, decodeSlot0: decodeSlot0Shares };

/** Creates a V3 protocol with its name in the chain description. */
export function createV3Protocol(name: string) {
  return {
    name,
    hasManyTokens: false,
    poolTypes: [POOL_V3],
    keptTopics: FEE_PROTOCOL_TOPICS,
    locksSharesAtZero: false,
    mintsProtocolShares: false,
    feeSplit,
    feeChange: null,
    creationTopics: new Set([POOL_CREATED]),
    eventTopics: new Set([SWAP, PANCAKE_SWAP, INITIALIZE, MINT, BURN, COLLECT, COLLECT_PROTOCOL, FLASH]),
    hasSync: false,
    hasShareTransfers: false,
    hasTokenTransfers: false,
    decodeCreation,
    decodeEvent,
    applyEvent: applyV3Event,
    spotPrice: v3SpotPrice,
    swapFeePips: ({ feePips }) => feePips,
    quote: quoteInRange,
    ...v3Questions,
  } satisfies Protocol;
}

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, token0, token1, fee] = topics;
  if (topic !== POOL_CREATED || topics.length !== 4 || !loadData(data, 2)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isUint24Topic(fee)) return null;
  if (!isInt24(0) || !isUint160(1)) return null;
  return {
    pool: addressAt(data, 1),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: uint24OfTopic(fee),
    tickSpacing: int24At(0),
  };
}

function decodeEvent(log: ChainLog): PoolEvent | null {
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
}

function decodeSwap({ topics, data }: ChainLog, words: number): SwapEvent | null {
  if (topics.length !== 3 || !loadData(data, words)) return null;
  const sender = topics[1];
  const recipient = topics[2];
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  if (!isUint160(2) || !isUint128(3) || !isInt24(4)) return null;
  if (words === PANCAKE_SWAP_WORDS && !(isUint128(5) && isUint128(6))) return null;
  return {
    kind: 'swap',
    sender: addressOfTopic(sender),
    recipient: addressOfTopic(recipient),
    amount0: intAt(0),
    amount1: intAt(1),
    after: {
      sqrtPriceX96: uintAt(2),
      liquidity: uintAt(3),
      tick: int24At(4),
    },
  };
}

function decodeInitialize({ topics, data }: ChainLog): InitializeEvent | null {
  if (topics.length !== 1 || !loadData(data, 2)) return null;
  if (!isUint160(0) || !isInt24(1)) return null;
  return { kind: 'initialize', sqrtPriceX96: uintAt(0), tick: int24At(1) };
}

function decodeMint({ topics, data }: ChainLog): MintEvent | null {
  const [, owner, tickLower, tickUpper] = topics;
  if (topics.length !== 4 || !loadData(data, 4)) return null;
  if (!isAddressTopic(owner) || !isInt24Topic(tickLower) || !isInt24Topic(tickUpper)) return null;
  if (!isUint160(0) || !isUint128(1)) return null;
  return {
    kind: 'mint',
    owner: addressOfTopic(owner),
    amount0: uintAt(2),
    amount1: uintAt(3),
    liquidity: uintAt(1),
    tickLower: int24OfTopic(tickLower),
    tickUpper: int24OfTopic(tickUpper),
  };
}

function decodeBurn({ topics, data }: ChainLog): BurnEvent | null {
  const [, owner, tickLower, tickUpper] = topics;
  if (topics.length !== 4 || !loadData(data, 3)) return null;
  if (!isAddressTopic(owner) || !isInt24Topic(tickLower) || !isInt24Topic(tickUpper)) return null;
  if (!isUint128(0)) return null;
  return {
    kind: 'burn',
    owner: addressOfTopic(owner),
    amount0: uintAt(1),
    amount1: uintAt(2),
    liquidity: uintAt(0),
    tickLower: int24OfTopic(tickLower),
    tickUpper: int24OfTopic(tickUpper),
  };
}

function decodeCollect({ topics, data }: ChainLog): CollectEvent | null {
  const [, owner, tickLower, tickUpper] = topics;
  if (topics.length !== 4 || !loadData(data, 3)) return null;
  if (!isAddressTopic(owner) || !isInt24Topic(tickLower) || !isInt24Topic(tickUpper)) return null;
  if (!isUint160(0) || !isUint128(1) || !isUint128(2)) return null;
  return {
    kind: 'collect',
    owner: addressOfTopic(owner),
    recipient: addressAt(data, 0),
    amount0: uintAt(1),
    amount1: uintAt(2),
    tickLower: int24OfTopic(tickLower),
    tickUpper: int24OfTopic(tickUpper),
  };
}

function decodeCollectProtocol({ topics, data }: ChainLog): CollectProtocolEvent | null {
  const [, sender, recipient] = topics;
  if (topics.length !== 3 || !loadData(data, 2)) return null;
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  if (!isUint128(0) || !isUint128(1)) return null;
  return {
    kind: 'collect_protocol',
    owner: addressOfTopic(sender),
    recipient: addressOfTopic(recipient),
    amount0: uintAt(0),
    amount1: uintAt(1),
  };
}

/** The loan (words 0 and 1) was repaid. The payment for it (words 2 and 3) remains in the pool. */
function decodeFlash({ topics, data }: ChainLog): FlashEvent | null {
  const [, sender, recipient] = topics;
  if (topics.length !== 3 || !loadData(data, 4)) return null;
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  return {
    kind: 'flash',
    owner: addressOfTopic(sender),
    recipient: addressOfTopic(recipient),
    amount0: uintAt(2),
    amount1: uintAt(3),
  };
}
