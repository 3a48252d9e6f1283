/** Sonic (146). */
import type { BuiltInChain } from './builtInChain';
import { SIXTH_SHARE } from './fees';
import {
  BOOK_FACTORIES,
  CURVE_CONTRACTS,
  SUSHI_V2,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  V2_FACTORIES,
  V2_FEES,
  V3_FACTORIES,
  VAULTS,
} from './sources';

export const sonic: BuiltInChain = {
  chainId: 146,
  name: 'Sonic',
  nativeSymbol: 'S',
  blockSeconds: 0.5,
  // Blocks are final when they are made (https://docs.soniclabs.com/technology/overview.md). Other nodes may be a few
  // blocks behind.
  confirmations: 12,
  rpcUrls: [],
  wrappedNative: ['0x039e2fB66102314Ce7b64Ce5Ce3E5183bc94aD38', TOKENS],
  anchors: {
    USDC: ['0x29219dd400f2Bf60E5a23d13Be72B486D4038894', TOKENS],
    USDT: ['0x6047828dc181963ba44974801FF68e538dA5eaF9', TOKENS],
  },
  majors: {
    WETH: ['0x309C92261178fA0CF748A855e90Ae73FDb79EBc7', TOKENS],
    stS: ['0xE5DA20F15420aD15DE0fa650600aFc998bbE3955', TOKENS],
    scUSD: ['0xd3DCe716f3eF535C5Ff8d041c1A41C3bd89b97aE', TOKENS],
  },
  dexes: [
    {
      name: 'swapx_v2',
      displayName: 'SwapX V2',
      protocol: 'solidly',
      factory: ['0x05c1be79d3aC21Cc4B727eeD58C9B2fF757F5663', V2_FACTORIES],
    },
    {
      name: 'swapx_v4',
      displayName: 'SwapX V4',
      protocol: 'algebra',
      factory: ['0x8121a3F8c4176E9765deEa0B95FA2BDfD3016794', V3_FACTORIES],
      startBlock: 1_440_914,
    },
    {
      name: 'equalizer',
      displayName: 'Equalizer',
      protocol: 'solidly',
      factory: ['0xDDD9845Ba0D8f38d3045f804f67A1a8B9A528FcC', V2_FACTORIES],
    },
    {
      name: 'silverswap',
      displayName: 'SilverSwap',
      protocol: 'algebra',
      factory: ['0xb860200BD68dc39cEAfd6ebb82883f189f4CdA76', V3_FACTORIES],
      startBlock: 186_117,
    },
    {
      name: 'spookyswap_v2',
      displayName: 'SpookySwap V2',
      protocol: 'uniswap_v2',
      factory: ['0xEE4bC42157cf65291Ba2FE839AE127e3Cc76f741', V2_FEES],
      feeBps: 20,
      protocolFeeShare: 0.15,
    },
    {
      name: 'spookyswap_v3',
      displayName: 'SpookySwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x3D91B700252e0E3eE7805d12e048a988Ab69C8ad', V3_FACTORIES],
      startBlock: 286_535,
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: [
        '0xcb2436774C3e191c85056d248EF4260ce5f27A9D',
        'DefiLlama/DefiLlama-Adapters projects/uniswap/index.js',
      ],
      startBlock: 322_744,
    },
    {
      name: '9mm_v2',
      displayName: '9mm V2',
      protocol: 'uniswap_v2',
      factory: ['0x0f7B3FcBa276A65dd6E41E400055dcb75BA66750', V2_FEES],
      feeBps: 25,
      protocolFeeShare: 0.32,
    },
    {
      name: '9mm_v3',
      displayName: '9mm V3',
      protocol: 'pancake_v3',
      factory: ['0x924aee3929C8A45aC9c41e9e9Cdf3eA761ca75e5', V3_FACTORIES],
      positionManager: [
        '0x61fF993976682601A819A231837Dd865382d8e9C',
        '9mm-exchange/deployments sonic/v3.json',
      ],
      startBlock: 10_079_213,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: ['0xB45e53277a7e0F1D35f2a77160e91e25507f1763', SUSHI_V2],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x46B3fDF7b5CDe91Ac049936bF0bDb12c5d22202e', SUSHI_V3],
      positionManager: ['0x0389879e0156033202C44BF784ac18fC02edeE4f', SUSHI_V3_POSITIONS],
    },
    {
      name: 'beets_v2',
      displayName: 'Beets V2',
      protocol: 'balancer_v2',
      factory: ['0xBA12222222228d8Ba445958a75a0704d566BF2C8', VAULTS],
      startBlock: 368_312,
    },
    {
      name: 'beets_v3',
      displayName: 'Beets V3',
      protocol: 'balancer_v3',
      factory: ['0xbA1333333333a1BA1108E8412f11850A5C319bA9', VAULTS],
      startBlock: 368_135,
    },
    {
      name: 'metropolis_dlmm',
      displayName: 'Metropolis DLMM',
      protocol: 'liquidity_book',
      factory: ['0x39D966c1BaFe7D3F1F53dA4845805E15f7D6EE43', BOOK_FACTORIES],
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0x7C2085419BE6a04f4ad88ea91bC9F5C6E6C463D8', CURVE_CONTRACTS],
    },
    {
      name: 'curve_twocrypto',
      displayName: 'Curve Twocrypto-NG',
      protocol: 'curve_crypto',
      factory: ['0x1A83348F9cCFD3Fe1A8C0adBa580Ac4e267Fe495', CURVE_CONTRACTS],
    },
    {
      name: 'curve_tricrypto',
      displayName: 'Curve Tricrypto-NG',
      protocol: 'curve_crypto',
      factory: ['0x635742dCC8313DCf8c904206037d962c042EAfBd', CURVE_CONTRACTS],
    },
  ],
};
