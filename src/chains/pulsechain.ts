/**
 * PulseChain (369). The chain started as a copy of Ethereum's state. So every Ethereum token exists on
 * PulseChain at the same address, but such a copy is nearly worthless. Therefore only tokens from the chain's
 * own bridge are anchors.
 */
import type { ChainDescription } from '../domain/chainDescription';
import { ZERO_ADDRESS } from '../domain/hex';

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

export const pulsechain: ChainDescription = {
  chainId: 369,
  name: 'PulseChain',
  nativeSymbol: 'PLS',
  wrappedNative: '0xa1077a294dde1b09bb078844df40758a5d0f9a27',
  anchors: [
    { address: '0xefd766ccb38eaf1dfd701853bfce31359239f305', symbol: 'DAI', priceUsd: 1 },
    { address: '0x15d38573d2feeb82e7ad5187ab8c1d52810b1f07', symbol: 'USDC', priceUsd: 1 },
    { address: '0x0cb6f5a34ad42ec934882a05265a7d5f59b51a2f', symbol: 'USDT', priceUsd: 1 },
  ],
  majors: [
    // The bridged WETH token.
    '0x02dcdd04e3f455d838cd1249292c58f3b79e3c3c',
    // The bridged WBTC token.
    '0xb17d901469b9208b17d916112988a3fed19b5ca1',
    // The HEX token that is a copy from Ethereum. People on PulseChain mean this token when they say HEX.
    '0x2b591e99afe9f32eaa6214f7b7629768c40eeb39',
    // The HEX token bridged from Ethereum.
    '0x57fde0a71132198bbec939b98976993d8d89d225',
    // The PLSX token.
    '0x95b303987a60c71504d99aa1b13b4da07b0790ab',
    // The INC token.
    '0x2fa878ab3f87cc1c9737fc071108f904c0b0c95d',
    // The USDL token: a stablecoin backed by PLS. It is no anchor, because it cannot be redeemed for dollars.
    '0x0deed1486bc52aa0d3e6f8849cec5add6598a162',
    // The LOAN token.
    '0x9159f1d2a9f51998fc9ab03fbd8f265ab14a1b3b',
  ],
  burn: {
    // The burn token PLSX. Its `burn` function sends tokens to the zero address; people also send them to
    // 0x…dEaD and to 0x…0369, which many token lists of PulseChain name.
    token: '0x95b303987a60c71504d99aa1b13b4da07b0790ab',
    addresses: [
      ZERO_ADDRESS,
      '0x000000000000000000000000000000000000dead',
      '0x0000000000000000000000000000000000000369',
    ],
  },
  bridgedTokens: [
    // The bridged DAI, USDC, USDT, WETH, WBTC and HEX tokens.
    '0xefd766ccb38eaf1dfd701853bfce31359239f305',
    '0x15d38573d2feeb82e7ad5187ab8c1d52810b1f07',
    '0x0cb6f5a34ad42ec934882a05265a7d5f59b51a2f',
    '0x02dcdd04e3f455d838cd1249292c58f3b79e3c3c',
    '0xb17d901469b9208b17d916112988a3fed19b5ca1',
    '0x57fde0a71132198bbec939b98976993d8d89d225',
  ],
  forkBlock: 17_233_000,
  forkTokens: [
    // Copies of Ethereum's DAI, USDT, USDC, WETH, WBTC and HEX.
    '0x6b175474e89094c44da98b954eedeac495271d0f',
    '0xdac17f958d2ee523a2206206994597c13d831ec7',
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599',
    '0x2b591e99afe9f32eaa6214f7b7629768c40eeb39',
  ],
  confirmations: 64,
  startBlock: null,
  rpcUrls: [
    'https://pulsechain-rpc.publicnode.com',
    'https://rpc-pulsechain.g4mm4.io',
    'https://rpc.pulsechain.com',
    'https://rpc.pulsechainstats.com',
  ],
  dexes: [
    {
      name: 'pulsex_v1',
      displayName: 'PulseX V1',
      protocol: 'uniswap_v2',
      factory: '0x1715a3e4a142d8b698131108995174f37aeba10d',
      feeBps: 29,
      protocolFeeShare: PULSEX_PROTOCOL_FEE_SHARE,
    },
    {
      name: 'pulsex_v2',
      displayName: 'PulseX V2',
      protocol: 'uniswap_v2',
      factory: '0x29ea7545def87022badc76323f373ea1e707c523',
      feeBps: 29,
      protocolFeeShare: PULSEX_PROTOCOL_FEE_SHARE,
    },
    {
      name: '9mm_v2',
      displayName: '9mm V2',
      protocol: 'uniswap_v2',
      factory: '0x3a0fa7884dd93f3cd234bbe2a0958ef04b05e13b',
      feeBps: 25,
      protocolFeeShare: NINE_MM_PROTOCOL_FEE_SHARE,
    },
    {
      name: '9mm_v3',
      displayName: '9mm V3',
      protocol: 'pancake_v3',
      factory: '0xe50dbdc88e87a2c92984d794bcf3d1d76f619c68',
      protocolFeeShare: NINE_MM_PROTOCOL_FEE_SHARE,
      positionManager: '0xcc05bf158202b4f461ede8843d76dcd7bbad07f2',
    },
    {
      name: 'phux',
      displayName: 'PHUX',
      protocol: 'balancer_v2',
      factory: '0x7f51ac3df6a034273fb09bb29e383fcf655e473c',
      startBlock: 17_500_116,
    },
    {
      name: 'libertyswap',
      displayName: 'LibertySwap',
      protocol: 'uniswap_v3',
      factory: '0x796fcbdc956b85797efe21145aa97599b7fb36a6',
    },
    {
      // The pool of USDT, USDC and DAI: `PulsexStablePoolAddress` in the configuration of pulsechainramp/routing-api. Its
      // factory is in no public source, so the pool stands for it.
      name: 'pulsex_stable',
      displayName: 'PulseX StableSwap',
      protocol: 'curve_stable',
      factory: '0xe3acfa6c40d53c3faf2aa62d0a715c737071511c',
    },
    {
      // Factory and first block: the SwitchX adapters of DefiLlama, which read the factory's Pool and CustomPool events.
      name: 'switchx',
      displayName: 'SwitchX',
      protocol: 'algebra',
      factory: '0xef72cbccf4a807dfa1fbecd61ddb488ff8a05fa3',
      startBlock: 26_521_466,
    },
  ],
};
