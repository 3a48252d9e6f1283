/** Arbitrum One (42161). */
import type { BuiltInChain } from './builtInChain';
import { PANCAKE_V2_SHARE, SIXTH_SHARE } from './fees';
import {
  CURVE_NG,
  LIQUIDITY_BOOK,
  messari,
  pancakeSubgraph,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  UNISWAP_V4,
  uniswapSubgraph,
  V2_FACTORIES,
  V3_FACTORIES,
  VAULTS,
} from './sources';

const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'arbitrum');
const PANCAKE = pancakeSubgraph('arbitrum');
const CAMELOT_V3 = 'DefiLlama/dimension-adapters dexs/camelot-v3/index.ts';

export const arbitrum: BuiltInChain = {
  chainId: 42161,
  name: 'Arbitrum',
  nativeSymbol: 'ETH',
  blockSeconds: 0.25,
  // 20 minutes: a block is final when the block of Ethereum with its data is.
  confirmations: 4_800,
  rpcUrls: [],
  wrappedNative: ['0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', TOKENS],
  anchors: {
    USDC: ['0xaf88d065e77c8cC2239327C5EDb3A432268e5831', TOKENS],
    USDT: ['0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', TOKENS],
    'USDC.e': ['0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', TOKENS],
    DAI: ['0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', TOKENS],
  },
  majors: {
    WBTC: ['0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', TOKENS],
    ARB: ['0x912CE59144191C1204E64559FE8253a0e49E6548', TOKENS],
    wstETH: ['0x5979D7b546E38E414F7E9822514be443A4800529', TOKENS],
  },
  dexes: [
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0x1F98431c8aD98523631AE4a59f267346ea31F984', UNISWAP_V3],
      positionManager: ['0xC36442b4a4522E871399CD717aBDD847Ab11FE88', UNISWAP_V3],
      startBlock: 163,
    },
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: ['0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9', uniswapSubgraph('v2', 'arbitrum-one')],
      feeBps: 30,
      startBlock: 150_442_611,
    },
    {
      name: 'camelot_v3',
      displayName: 'Camelot V3',
      protocol: 'algebra',
      factory: ['0x1a3c9B1d2F0529D97f2afC5136Cc23e58f1FD35B', CAMELOT_V3],
    },
    {
      name: 'camelot_v3_early',
      displayName: 'Camelot V3 (early)',
      protocol: 'algebra',
      factory: ['0xd490F2F6990C0291597fd1247651b4E0dCF684Dd', CAMELOT_V3],
    },
    {
      name: 'pancakeswap_v3',
      displayName: 'PancakeSwap V3',
      protocol: 'pancake_v3',
      factory: ['0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865', PANCAKE],
      positionManager: ['0x46A15B0b27311cedF172AB29E4f4766fbE7F4364', PANCAKE],
      startBlock: 101_028_949,
    },
    {
      name: 'pancakeswap_v2',
      displayName: 'PancakeSwap V2',
      protocol: 'uniswap_v2',
      factory: ['0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', PANCAKE],
      feeBps: 25,
      protocolFeeShare: PANCAKE_V2_SHARE,
      startBlock: 101_022_992,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0xc35DADB65012eC5796536bD9864eD8773aBc74C4',
        messari('uniswap-forks', 'sushiswap', 'arbitrum'),
      ],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 70,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x1af415a1EbA07a4986a52B6f2e7dE7003D82231e', SUSHI_V3],
      positionManager: ['0xF0cBce1942A68BEB3d1b73F0dd86C8DCc363eF49', SUSHI_V3_POSITIONS],
      startBlock: 75_998_697,
    },
    {
      name: 'ramses_v1',
      displayName: 'Ramses V1',
      protocol: 'solidly',
      factory: ['0xAAA20D08e59F6561f242b08513D36266C5A29415', V2_FACTORIES],
    },
    {
      name: 'chronos',
      displayName: 'Chronos',
      protocol: 'solidly',
      factory: ['0xCe9240869391928253Ed9cc9Bcb8cb98CB5B0722', V2_FACTORIES],
    },
    {
      name: 'zyberswap_v3',
      displayName: 'ZyberSwap V3',
      protocol: 'algebra',
      factory: ['0x9C2ABD632771b433E5E7507BcaA41cA3b25D8544', V3_FACTORIES],
      startBlock: 62_714_800,
    },
    {
      name: 'balancer_v2',
      displayName: 'Balancer V2',
      protocol: 'balancer_v2',
      factory: ['0xBA12222222228d8Ba445958a75a0704d566BF2C8', VAULTS],
      startBlock: 222_832,
    },
    {
      name: 'balancer_v3',
      displayName: 'Balancer V3',
      protocol: 'balancer_v3',
      factory: ['0xbA1333333333a1BA1108E8412f11850A5C319bA9', VAULTS],
      startBlock: 297_810_187,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x360E68faCcca8cA495c1B759Fd9EEe466db9FB32', UNISWAP_V4],
    },
    {
      name: 'camelot_v2',
      displayName: 'Camelot V2',
      protocol: 'camelot_v2',
      factory: [
        '0x6EcCab422D763aC031210895C81787E87B43A652',
        messari('uniswap-forks', 'camelot-v2', 'arbitrum'),
      ],
      startBlock: 35_061_163,
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0x9AF14D26075f142eb3F292D5065EB3faa646167b', CURVE_NG],
    },
    {
      name: 'trader_joe_v2_2',
      displayName: 'Trader Joe V2.2',
      protocol: 'liquidity_book',
      factory: ['0xb43120c4745967fa9b93E79C149E66B0f2D6Fe0c', LIQUIDITY_BOOK],
      startBlock: 220_345_864,
    },
    {
      name: 'trader_joe_v2_1',
      displayName: 'Trader Joe V2.1',
      protocol: 'liquidity_book',
      factory: ['0x8e42f2F4101563bF679975178e880FD87d3eFd4e', LIQUIDITY_BOOK],
      startBlock: 77_473_199,
    },
  ],
};
