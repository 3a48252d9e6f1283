/** BNB Chain (56). */
import type { BuiltInChain } from './builtInChain';
import { PANCAKE_V2_SHARE, SIXTH_SHARE } from './fees';
import {
  CURVE_FACTORIES,
  infinityConfig,
  kyberPositions,
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
} from './sources';

const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'bsc');
const PANCAKE_V3 = pancakeSubgraph('bsc');
const INFINITY = infinityConfig('bsc');

export const bnbChain: BuiltInChain = {
  chainId: 56,
  name: 'BNB Chain',
  nativeSymbol: 'BNB',
  // Since the Fermi fork (https://docs.bnbchain.org/announce/fermi-bsc).
  blockSeconds: 0.45,
  confirmations: 64,
  rpcUrls: [],
  wrappedNative: ['0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', TOKENS],
  anchors: {
    USDT: ['0x55d398326f99059fF775485246999027B3197955', TOKENS],
    USDC: ['0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', TOKENS],
  },
  majors: {
    BTCB: ['0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c', TOKENS],
    ETH: ['0x2170Ed0880ac9A755fd29B2688956BD959F933F8', TOKENS],
    USD1: ['0x8d0D000Ee44948FC98c9B98A4FA4921476f08B0d', TOKENS],
    FDUSD: ['0xc5f0f7b66764F6ec8C8Dff7BA683102295E16409', TOKENS],
    BUSD: ['0xe9e7CEA3DedcA5984780Bafc599bD69ADd087D56', TOKENS],
    CAKE: ['0x0E09FaBB73Bd3Ade0a17ECC321fD13a19e81cE82', PANCAKE_V3],
  },
  dexes: [
    {
      name: 'pancakeswap_v2',
      displayName: 'PancakeSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73',
        messari('uniswap-forks-swap', 'pancakeswap-v2-swap', 'bsc'),
      ],
      feeBps: 25,
      protocolFeeShare: PANCAKE_V2_SHARE,
      startBlock: 6_809_737,
    },
    {
      name: 'pancakeswap_v3',
      displayName: 'PancakeSwap V3',
      protocol: 'pancake_v3',
      factory: ['0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865', PANCAKE_V3],
      positionManager: ['0x46A15B0b27311cedF172AB29E4f4766fbE7F4364', PANCAKE_V3],
      startBlock: 26_956_207,
    },
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: ['0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', uniswapSubgraph('v2', 'bsc')],
      feeBps: 30,
      startBlock: 33_496_018,
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7', UNISWAP_V3],
      positionManager: ['0x7b8A01B39D58278b5DE7e48c8449c9f4F5170613', UNISWAP_V3],
      startBlock: 26_324_014,
    },
    {
      // This is the usual fee. A few pairs have a lower one, which no event tells.
      name: 'biswap_v2',
      displayName: 'Biswap V2',
      protocol: 'uniswap_v2',
      factory: ['0x858E3312ed3A876947EA49d572A7C42DE08af7EE', messari('uniswap-forks', 'biswap', 'bsc')],
      feeBps: 20,
      startBlock: 7_664_646,
    },
    {
      name: 'apeswap',
      displayName: 'ApeSwap',
      protocol: 'uniswap_v2',
      factory: ['0x0841BD0B734E4F5853f0dD8d7Ea041c241fb0Da6', messari('uniswap-forks', 'apeswap', 'bsc')],
      feeBps: 20,
      startBlock: 4_855_900,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: ['0xc35DADB65012eC5796536bD9864eD8773aBc74C4', messari('uniswap-forks', 'sushiswap', 'bsc')],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 5_205_069,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x126555dd55a39328F69400d6aE4F782Bd4C34ABb', SUSHI_V3],
      positionManager: ['0xF70c086618dcf2b1A461311275e00D6B722ef914', SUSHI_V3_POSITIONS],
      startBlock: 26_976_538,
    },
    {
      name: 'thena',
      displayName: 'Thena',
      protocol: 'solidly',
      factory: ['0xAFD89d21BdB66d00817d4153E055830B1c2B3970', V2_FACTORIES],
    },
    {
      name: 'thena_fusion',
      displayName: 'Thena Fusion',
      protocol: 'algebra',
      factory: ['0x306F06C147f064A010530292A1EB6737c3e378e4', V3_FACTORIES],
      positionManager: ['0xa51ADb08Cbe6Ae398046A23bec013979816B77Ab', kyberPositions('thena')],
      startBlock: 26_030_310,
    },
    {
      name: 'thena_integral',
      displayName: 'Thena Integral',
      protocol: 'algebra',
      factory: ['0x30055F87716d3DFD0E5198C27024481099fB4A98', V3_FACTORIES],
      startBlock: 44_121_855,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x28e2Ea090877bF75740558f6BFB36A5ffeE9e9dF', UNISWAP_V4],
      positionManager: ['0x7A4a5c919aE2541AeD11041A1AEeE68f1287f95b', UNISWAP_V4],
    },
    {
      name: 'pancakeswap_infinity_cl',
      displayName: 'PancakeSwap Infinity CL',
      protocol: 'infinity_cl',
      factory: ['0xa0FfB9c1CE1Fe56963B0321B32E7A0302114058b', INFINITY],
    },
    {
      name: 'pancakeswap_infinity_bin',
      displayName: 'PancakeSwap Infinity Bin',
      protocol: 'infinity_bin',
      factory: ['0xC697d2898e0D09264376196696c51D7aBbbAA4a9', INFINITY],
    },
    {
      name: 'curve_stable',
      displayName: 'Curve StableSwap',
      protocol: 'curve_stable',
      factory: ['0xEfDE221f306152971D8e9f181bFe998447975810', CURVE_FACTORIES],
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0xd7E72f3615aa65b92A4DBdC211E296a35512988B', CURVE_FACTORIES],
    },
    {
      name: 'curve_twocrypto',
      displayName: 'Curve Twocrypto-NG',
      protocol: 'curve_crypto',
      factory: ['0x98EE851a00abeE0d95D08cF4CA2BdCE32aeaAF7F', CURVE_FACTORIES],
    },
    {
      name: 'curve_tricrypto',
      displayName: 'Curve Tricrypto-NG',
      protocol: 'curve_crypto',
      factory: ['0x38f8D93406fA2d9924DcFcB67dB5B0521Fb20F7D', CURVE_FACTORIES],
    },
    {
      name: 'curve_crypto',
      displayName: 'Curve CryptoSwap',
      protocol: 'curve_crypto',
      factory: ['0xBd5fBd2FA58cB15228a9Abdac9ec994f79E3483C', CURVE_FACTORIES],
    },
    {
      name: 'trader_joe_v2_1',
      displayName: 'Trader Joe V2.1',
      protocol: 'liquidity_book',
      factory: ['0x8e42f2F4101563bF679975178e880FD87d3eFd4e', LIQUIDITY_BOOK],
      startBlock: 27_099_340,
    },
  ],
};
