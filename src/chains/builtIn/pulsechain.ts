/**
 * PulseChain (369). The chain started as a copy of Ethereum's state. So every Ethereum token exists on
 * PulseChain at the same address, but such a copy is nearly worthless. Therefore only tokens from the chain's
 * own bridge are anchors.
 */
import { ZERO_ADDRESS } from '../../domain/hex';
import type { BuiltInChain } from './builtInChain';
import { SIXTH_SHARE } from './fees';
import { messari, TOKENS, V3_FACTORIES, VAULTS } from './sources';

const PULSEX = 'hexikani/pulsechain-docs pulsex.md';
const BRIDGE = 'pulsechainramp/routing-api src/data/pulsebridge.tokenlist.json';
const TOKEN_REGISTRY = 'openpulsechain/public extension/src/lib/token-registry.ts';
const BURNS = 'openpulsechain/public frontend/src/components/pages/LeaguesPage.tsx';
/** Names the copied DEXes that are in use, and the V3 DEXes that are forks of PancakeSwap. */
const DEFISTATE = 'defistate/defistate internal/chains/pulsechain/protocols.go';
const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'ethereum');
const CURVE_REGISTRY = 'curvefi/curve-pool-registry README.md';
const DEX_CATALOG = 'r4-ndm/Vaughan-CLI vaughan-core/src/core/dex_catalog.rs';

/**
 * PulseX leaves 76 % of the fee to liquidity providers (PulseX documentation and the project's subgraphs).
 * The rest buys and burns PLSX and pays the treasury. DefiLlama's V1 adapter counts the whole fee as fee of
 * the protocol.
 */
const PULSEX_PROTOCOL_FEE_SHARE = 0.24;
/**
 * 9mm's share of the fee according to DefiLlama's adapters: for V2, 0.08 of the 0.25 percent (32 %); for V3 also
 * 32 %.
 */
const NINE_MM_PROTOCOL_FEE_SHARE = 0.32;

export const pulsechain: BuiltInChain = {
  chainId: 369,
  name: 'PulseChain',
  nativeSymbol: 'PLS',
  blockSeconds: 10,
  // A block is final after two epochs of 32 blocks each.
  confirmations: 64,
  rpcUrls: [
    'https://pulsechain-rpc.publicnode.com',
    'https://rpc-pulsechain.g4mm4.io',
    'https://rpc.pulsechain.com',
    'https://rpc.pulsechainstats.com',
  ],
  wrappedNative: ['0xA1077a294dDE1B09bB078844df40758a5D0f9a27', PULSEX],
  anchors: {
    DAI: ['0xefD766cCb38EaF1dfd701853BFCe31359239F305', BRIDGE],
    USDC: ['0x15D38573d2feeb82e7ad5187aB8c1D52810B1f07', BRIDGE],
    USDT: ['0x0Cb6F5a34ad42ec934882A05265A7d5F59b51A2f', BRIDGE],
  },
  majors: {
    WETH: ['0x02DcdD04e3F455D838cd1249292C58f3B79e3C3C', BRIDGE],
    WBTC: ['0xb17D901469B9208B17d916112988A3FeD19b5cA1', BRIDGE],
    // This is the copy from Ethereum. People on PulseChain mean this token when they say HEX.
    HEX: ['0x2b591e99afE9f32eAA6214f7B7629768c40Eeb39', TOKENS],
    // This is the token that is bridged from Ethereum.
    eHEX: ['0x57fde0a71132198BBeC939B98976993d8D89D225', BRIDGE],
    PLSX: ['0x95B303987A60C71504D99Aa1b13B4DA07b0790ab', PULSEX],
    INC: ['0x2fa878Ab3F87CC1C9737Fc071108F904c0B0C95d', PULSEX],
    // This stablecoin is backed by PLS. It is no anchor, because it cannot be redeemed for dollars.
    USDL: ['0x0dEEd1486bc52aA0d3E6f8849cEC5adD6598A162', TOKEN_REGISTRY],
    LOAN: ['0x9159f1D2a9f51998Fc9Ab03fbd8f265ab14A1b3B', TOKEN_REGISTRY],
  },
  burn: {
    // PLSX. Its `burn` function sends tokens to the zero address; people also send them to 0x…dEaD and to 0x…0369,
    // which many token lists of PulseChain name.
    token: ['0x95B303987A60C71504D99Aa1b13B4DA07b0790ab', PULSEX],
    addresses: [
      [ZERO_ADDRESS, BURNS],
      ['0x000000000000000000000000000000000000dEaD', BURNS],
      ['0x0000000000000000000000000000000000000369', BURNS],
    ],
  },
  bridgedTokens: {
    DAI: ['0xefD766cCb38EaF1dfd701853BFCe31359239F305', BRIDGE],
    USDC: ['0x15D38573d2feeb82e7ad5187aB8c1D52810B1f07', BRIDGE],
    USDT: ['0x0Cb6F5a34ad42ec934882A05265A7d5F59b51A2f', BRIDGE],
    WETH: ['0x02DcdD04e3F455D838cd1249292C58f3B79e3C3C', BRIDGE],
    WBTC: ['0xb17D901469B9208B17d916112988A3FeD19b5cA1', BRIDGE],
    HEX: ['0x57fde0a71132198BBeC939B98976993d8D89D225', BRIDGE],
  },
  forkBlock: 17_233_000,
  // These tokens are copies from Ethereum.
  forkTokens: {
    DAI: ['0x6B175474E89094C44Da98b954EedeAC495271d0F', TOKENS],
    USDT: ['0xdAC17F958D2ee523a2206206994597C13D831ec7', TOKENS],
    USDC: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', TOKENS],
    WETH: ['0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', TOKENS],
    WBTC: ['0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', TOKENS],
    HEX: ['0x2b591e99afE9f32eAA6214f7B7629768c40Eeb39', TOKENS],
  },
  dexes: [
    {
      name: 'pulsex_v1',
      displayName: 'PulseX V1',
      protocol: 'uniswap_v2',
      factory: ['0x1715a3E4A142d8b698131108995174F37aEBA10D', PULSEX],
      feeBps: 29,
      protocolFeeShare: PULSEX_PROTOCOL_FEE_SHARE,
    },
    {
      name: 'pulsex_v2',
      displayName: 'PulseX V2',
      protocol: 'uniswap_v2',
      factory: ['0x29eA7545DEf87022BAdc76323F373EA1e707C523', PULSEX],
      feeBps: 29,
      protocolFeeShare: PULSEX_PROTOCOL_FEE_SHARE,
    },
    {
      name: '9mm_v2',
      displayName: '9mm V2',
      protocol: 'uniswap_v2',
      factory: ['0x3a0Fa7884dD93f3cd234bBE2A0958Ef04b05E13b', '9mm-exchange/deployments pulsechain/v2.json'],
      feeBps: 25,
      protocolFeeShare: NINE_MM_PROTOCOL_FEE_SHARE,
    },
    {
      name: '9mm_v3',
      displayName: '9mm V3',
      protocol: 'pancake_v3',
      factory: ['0xe50DbDC88E87a2C92984d794bcF3D1d76f619C68', V3_FACTORIES],
      protocolFeeShare: NINE_MM_PROTOCOL_FEE_SHARE,
      positionManager: [
        '0xCC05bf158202b4F461Ede8843d76dcd7Bbad07f2',
        '9mm-exchange/deployments pulsechain/v3.json',
      ],
      startBlock: 18_942_139,
    },
    {
      // The fee is from one public list; the documentation of 9inch names only its parts.
      name: '9inch_v2',
      displayName: '9inch V2',
      protocol: 'uniswap_v2',
      factory: ['0x5b9F077A77db37F3Be0A5b5d31BAeff4bc5C0bD7', DEX_CATALOG],
      feeBps: 29,
    },
    {
      name: '9inch_v3',
      displayName: '9inch V3',
      protocol: 'pancake_v3',
      factory: ['0xCfd33C867C9F031AadfF7939Cb8086Ee5ae88c41', V3_FACTORIES],
      positionManager: ['0x18A532b36A9F6B10b3FEC5BF225C00A0Ec89B79E', DEX_CATALOG],
      startBlock: 20_357_155,
    },
    {
      name: 'pdex_v3',
      displayName: 'pDEX V3',
      protocol: 'pancake_v3',
      factory: ['0x271Fd3BDBD6e56c16c8b32b9a72D635191c9ECcf', DEFISTATE],
    },
    {
      name: 'phux',
      displayName: 'PHUX',
      protocol: 'balancer_v2',
      factory: ['0x7F51AC3df6A034273FB09BB29e383FCF655e473c', VAULTS],
      startBlock: 17_500_116,
    },
    {
      name: 'libertyswap',
      displayName: 'LibertySwap',
      protocol: 'uniswap_v3',
      factory: [
        '0x796fcbDC956b85797EFe21145Aa97599B7FB36a6',
        'InVisionCRM/PulseChainAI.com lib/dex/libertyswap.ts',
      ],
    },
    {
      // The pool of USDT, USDC and DAI. Its factory is in no public source, so the pool stands for it.
      name: 'pulsex_stable',
      displayName: 'PulseX StableSwap',
      protocol: 'curve_stable',
      factory: [
        '0xE3acFA6C40d53C3faf2aa62D0a715C737071511c',
        'pulsechainramp/routing-api src/config/index.ts',
      ],
    },
    {
      name: 'switchx',
      displayName: 'SwitchX',
      protocol: 'algebra',
      factory: [
        '0xeF72cbCcF4A807DfA1fbecd61DdB488fF8a05fa3',
        'DefiLlama/dimension-adapters dexs/switchx/index.ts',
      ],
      startBlock: 26_521_466,
    },
    // DEXes that the chain has with their pools since it copied Ethereum's state. Their first blocks are those of Ethereum.
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2 (copied)',
      protocol: 'uniswap_v2',
      factory: ['0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', DEFISTATE],
      feeBps: 30,
      startBlock: 10_000_834,
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3 (copied)',
      protocol: 'uniswap_v3',
      factory: ['0x1F98431c8aD98523631AE4a59f267346ea31F984', DEFISTATE],
      positionManager: ['0xC36442b4a4522E871399CD717aBDD847Ab11FE88', UNISWAP_V3],
      startBlock: 12_369_620,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2 (copied)',
      protocol: 'uniswap_v2',
      factory: ['0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac', DEFISTATE],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 10_794_229,
    },
    {
      // Rubic trades with these pools (Cryptorubic/rubic-sdk, dexes/pulsechain/curve-pulsechain).
      name: 'curve_registry',
      displayName: 'Curve (copied)',
      protocol: 'curve_stable',
      factory: ['0x90E00ACe148ca3b23Ac1bC8C240C2a7Dd9c2d7f5', CURVE_REGISTRY],
    },
  ],
};
