/** Base (8453), of the OP Stack. */
import type { BuiltInChain } from './builtInChain';
import { PANCAKE_V2_SHARE, SIXTH_SHARE } from './fees';
import {
  CURVE_FACTORIES,
  INFINITY_POSITIONS,
  infinityConfig,
  messari,
  pancakeSubgraph,
  SUSHI_V2,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  UNISWAP_V4,
  uniswapSubgraph,
  V3_FACTORIES,
  VAULTS,
  VIRTUALS,
} from './sources';

const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'base');
const PANCAKE = pancakeSubgraph('base');
const INFINITY = infinityConfig('base');
const SLIPSTREAM = 'DefiLlama/dimension-adapters dexs/aerodrome-slipstream/index.ts';

export const base: BuiltInChain = {
  chainId: 8453,
  name: 'Base',
  nativeSymbol: 'ETH',
  blockSeconds: 2,
  // 20 minutes: a block is final when the block of Ethereum with its data is.
  confirmations: 600,
  rpcUrls: [],
  wrappedNative: ['0x4200000000000000000000000000000000000006', TOKENS],
  anchors: {
    USDC: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', TOKENS],
    USDbC: ['0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', TOKENS],
    DAI: ['0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', TOKENS],
    USDT: ['0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', TOKENS],
  },
  majors: {
    cbBTC: ['0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf', TOKENS],
    cbETH: ['0x2Ae3F1Ec7F1F5012CFEab0185bfc7aa3cf0DEc22', TOKENS],
    wstETH: ['0xc1CBa3fCea344f92D9239c08C0568f6F2F0ee452', TOKENS],
    AERO: [
      '0x940181a94A35A4569E4529A3CDfB74e38FD98631',
      'aerodrome-finance/contracts script/constants/output/DeployCore-Base.json',
    ],
  },
  dexes: [
    {
      name: 'aerodrome',
      displayName: 'Aerodrome',
      protocol: 'solidly',
      factory: [
        '0x420DD381b31aEf6683db6B902084cB0FFECe40Da',
        'aerodrome-finance/contracts script/constants/output/DeployCore-Base.json',
      ],
    },
    {
      name: 'aerodrome_slipstream',
      displayName: 'Aerodrome Slipstream',
      protocol: 'slipstream',
      factory: ['0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A', SLIPSTREAM],
      positionManager: [
        '0x827922686190790b37229fd06084350E74485b72',
        'aerodrome-finance/slipstream script/constants/output/DeployCL-Base.json',
      ],
      startBlock: 13_843_704,
    },
    {
      // Aerodrome created its pools with ticks in this factory in the first week.
      name: 'aerodrome_slipstream_early',
      displayName: 'Aerodrome Slipstream (early)',
      protocol: 'slipstream',
      factory: ['0x9592CD9B267748cbfBDe90Ac9F7DF3c437A6d51B', SLIPSTREAM],
      startBlock: 13_592_962,
    },
    {
      name: 'aerodrome_slipstream_2',
      displayName: 'Aerodrome Slipstream 2',
      protocol: 'slipstream',
      factory: ['0xaDe65c38CD4849aDBA595a4323a8C7DdfE89716a', SLIPSTREAM],
      positionManager: [
        '0xa990C6a764b73BF43cee5Bb40339c3322FB9D55F',
        'aerodrome-finance/slipstream script/constants/output/DeployCL-Base-Gauge-Caps.json',
      ],
      startBlock: 36_953_918,
    },
    {
      name: 'aerodrome_slipstream_3',
      displayName: 'Aerodrome Slipstream 3',
      protocol: 'slipstream',
      factory: ['0xf8f2eB4940CFE7d13603DDDD87f123820Fc061Ef', SLIPSTREAM],
      startBlock: 44_394_724,
    },
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: ['0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', uniswapSubgraph('v2', 'base')],
      feeBps: 30,
      startBlock: 6_601_915,
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0x33128a8fC17869897dcE68Ed026d694621f6FDfD', UNISWAP_V3],
      positionManager: ['0x03a520b32C04BF3bEEf7BEb72E919cf822Ed34f1', UNISWAP_V3],
      startBlock: 1_371_670,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: ['0x71524B4f93c58fcbF659783284E38825f0622859', SUSHI_V2],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0xc35DADB65012eC5796536bD9864eD8773aBc74C4', SUSHI_V3],
      positionManager: ['0x80C7DD17B01855a6D2347444a0FCC36136a314de', SUSHI_V3_POSITIONS],
      startBlock: 1_759_510,
    },
    {
      name: 'pancakeswap_v2',
      displayName: 'PancakeSwap V2',
      protocol: 'uniswap_v2',
      factory: ['0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', PANCAKE],
      feeBps: 25,
      protocolFeeShare: PANCAKE_V2_SHARE,
      startBlock: 2_910_387,
    },
    {
      name: 'pancakeswap_v3',
      displayName: 'PancakeSwap V3',
      protocol: 'pancake_v3',
      factory: ['0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865', PANCAKE],
      positionManager: ['0x46A15B0b27311cedF172AB29E4f4766fbE7F4364', PANCAKE],
      startBlock: 2_912_007,
    },
    {
      name: 'quickswap_v4',
      displayName: 'QuickSwap V4',
      protocol: 'algebra',
      factory: [
        '0xC5396866754799B9720125B104AE01d935Ab9C7b',
        'DefiLlama/dimension-adapters dexs/quickswap-v4.ts',
      ],
    },
    {
      name: 'hydrex',
      displayName: 'Hydrex',
      protocol: 'algebra',
      factory: ['0x36077D39cdC65E1e3FB65810430E5b2c4D5fA29E', V3_FACTORIES],
      startBlock: 31_648_963,
    },
    {
      name: 'balancer_v2',
      displayName: 'Balancer V2',
      protocol: 'balancer_v2',
      factory: ['0xBA12222222228d8Ba445958a75a0704d566BF2C8', VAULTS],
      startBlock: 1_196_036,
    },
    {
      name: 'balancer_v3',
      displayName: 'Balancer V3',
      protocol: 'balancer_v3',
      factory: ['0xbA1333333333a1BA1108E8412f11850A5C319bA9', VAULTS],
      startBlock: 25_343_854,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x498581fF718922c3f8e6A244956aF099B2652b2b', UNISWAP_V4],
      positionManager: ['0x7C5f5A4bBd8fD63184577525326123B519429bDc', UNISWAP_V4],
    },
    {
      name: 'pancakeswap_infinity_cl',
      displayName: 'PancakeSwap Infinity CL',
      protocol: 'infinity_cl',
      factory: ['0xa0FfB9c1CE1Fe56963B0321B32E7A0302114058b', INFINITY],
      positionManager: ['0x55f4c8abA71A1e923edC303eb4fEfF14608cC226', INFINITY_POSITIONS],
    },
    {
      name: 'pancakeswap_infinity_bin',
      displayName: 'PancakeSwap Infinity Bin',
      protocol: 'infinity_bin',
      factory: ['0xC697d2898e0D09264376196696c51D7aBbbAA4a9', INFINITY],
      positionManager: ['0x3D311D6283Dd8aB90bb0031835C8e606349e2850', INFINITY_POSITIONS],
    },
    {
      name: 'curve_stable',
      displayName: 'Curve StableSwap',
      protocol: 'curve_stable',
      factory: ['0x3093f9B57A428F3EB6285a589cb35bEA6e78c336', CURVE_FACTORIES],
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0xd2002373543Ce3527023C75e7518C274A51ce712', CURVE_FACTORIES],
    },
    {
      name: 'curve_twocrypto',
      displayName: 'Curve Twocrypto-NG',
      protocol: 'curve_crypto',
      factory: ['0xc9Fe0C63Af9A39402e8a5514f9c43Af0322b665F', CURVE_FACTORIES],
    },
    {
      name: 'curve_tricrypto',
      displayName: 'Curve Tricrypto-NG',
      protocol: 'curve_crypto',
      factory: ['0xA5961898870943c68037F6848d2D866Ed2016bcB', CURVE_FACTORIES],
    },
    {
      name: 'curve_crypto',
      displayName: 'Curve CryptoSwap',
      protocol: 'curve_crypto',
      factory: ['0x5EF72230578b3e399E6C6F4F6360edF95e83BBfd', CURVE_FACTORIES],
    },
    {
      name: 'sectorone_v2_2',
      displayName: 'SectorOne V2.2',
      protocol: 'liquidity_book',
      factory: [
        '0x3357f02fB3aA78fc86D3Bccdc5Edf039D4b952B5',
        'DefiLlama/dimension-adapters dexs/sectorone-dlmm-v2/index.ts',
      ],
      startBlock: 33_296_377,
    },
    {
      name: 'virtuals',
      displayName: 'Virtuals',
      protocol: 'bonding_curve',
      factory: ['0x158d7CcaA23DC3c8861c3323eD546E3d25e74309', VIRTUALS],
      feeBps: 100,
      startBlock: 21_843_902,
    },
    {
      name: 'virtuals_2',
      displayName: 'Virtuals 2',
      protocol: 'bonding_curve',
      factory: ['0xD7D3C85B4f2e9bee1998cD2E98820e647792d284', VIRTUALS],
      feeBps: 100,
      startBlock: 36_532_291,
    },
    {
      name: 'virtuals_3',
      displayName: 'Virtuals 3',
      protocol: 'bonding_curve',
      factory: [
        '0x488Db0978b34C6Fd901760b9024B565C1117c7c8',
        // The proxy before that of FRouterV3, with an implementation of FFactoryV2, which FFactoryV3 repeats.
        'Virtual-Protocol/protocol-contracts .openzeppelin/base.json',
      ],
      feeBps: 100,
    },
  ],
};
