/** The C-Chain of Avalanche (43114). */
import type { BuiltInChain } from './builtInChain';
import { SIXTH_SHARE } from './fees';
import {
  BOOK_FACTORIES,
  CURVE_FACTORIES,
  LIQUIDITY_BOOK,
  messari,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  UNISWAP_V4,
  uniswapSubgraph,
  V2_FACTORIES,
  V3_FACTORIES,
  VAULTS,
} from './sources';

export const avalanche: BuiltInChain = {
  chainId: 43114,
  name: 'Avalanche',
  nativeSymbol: 'AVAX',
  // The validators vote on the least time between blocks (https://build.avax.network/docs/acps/226-dynamic-minimum-block-times).
  blockSeconds: 1.2,
  // A node has only blocks that are accepted and therefore final. Other nodes may be a few blocks behind.
  confirmations: 12,
  rpcUrls: [],
  wrappedNative: ['0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7', TOKENS],
  anchors: {
    USDC: ['0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', TOKENS],
    USDt: ['0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', TOKENS],
    'USDC.e': ['0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664', TOKENS],
    'USDT.e': ['0xc7198437980c041c805A1EDcbA50c1Ce5db95118', TOKENS],
    'DAI.e': ['0xd586E7F844cEa2F87f50152665BCbc2C279D8d70', TOKENS],
  },
  majors: {
    'BTC.b': ['0x152b9d0FdC40C096757F570A51E494bd4b943E50', TOKENS],
    'WETH.e': ['0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB', TOKENS],
    sAVAX: ['0x2b2C81e08f1Af8835a78Bb2A90AE924ACE0eA4bE', TOKENS],
  },
  dexes: [
    {
      name: 'trader_joe_v1',
      displayName: 'Trader Joe V1',
      protocol: 'uniswap_v2',
      factory: [
        '0x9Ad6C38BE94206cA50bb0d90783181662f0Cfa10',
        messari('uniswap-forks', 'trader-joe', 'avalanche'),
      ],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 2_486_392,
    },
    {
      name: 'pangolin_v2',
      displayName: 'Pangolin V2',
      protocol: 'uniswap_v2',
      factory: [
        '0xefa94DE7a4656D787667C749f7E1223D71E9FD88',
        messari('uniswap-forks', 'pangolin', 'avalanche'),
      ],
      feeBps: 30,
      startBlock: 56_877,
    },
    {
      name: 'pangolin_v3',
      displayName: 'Pangolin V3',
      protocol: 'uniswap_v3',
      factory: ['0x1128F23D0bc0A8396E9FBC3c0c68f5EA228B8256', V3_FACTORIES],
      startBlock: 59_708_285,
    },
    {
      name: 'blackhole',
      displayName: 'Blackhole',
      protocol: 'solidly',
      factory: ['0xfE926062Fb99CA5653080d6C14fE945Ad68c265C', V2_FACTORIES],
    },
    {
      name: 'pharaoh_v1',
      displayName: 'Pharaoh V1',
      protocol: 'solidly',
      factory: ['0xAAA16c016BF556fcD620328f0759252E29b1AB57', V2_FACTORIES],
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD', uniswapSubgraph('v3', 'avalanche')],
      positionManager: [
        '0x655C406EBFa14EE2006250925e54ec43AD184f8B',
        'Uniswap/docs docs/contracts/v3/reference/deployments/AVAX-Deployments.md',
      ],
      startBlock: 27_832_971,
    },
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: ['0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', uniswapSubgraph('v2', 'avalanche')],
      feeBps: 30,
      startBlock: 37_767_795,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0xc35DADB65012eC5796536bD9864eD8773aBc74C4',
        messari('uniswap-forks', 'sushiswap', 'avalanche'),
      ],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 506_190,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x3e603C14aF37EBdaD31709C4f848Fc6aD5BEc715', SUSHI_V3],
      positionManager: ['0x18350b048AB366ed601fFDbC669110Ecb36016f3', SUSHI_V3_POSITIONS],
      startBlock: 28_186_391,
    },
    {
      name: 'balancer_v2',
      displayName: 'Balancer V2',
      protocol: 'balancer_v2',
      factory: ['0xBA12222222228d8Ba445958a75a0704d566BF2C8', VAULTS],
      startBlock: 26_386_141,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x06380C0e0912312B5150364B9DC4542BA0DbBc85', UNISWAP_V4],
    },
    {
      name: 'trader_joe_v2_2',
      displayName: 'Trader Joe V2.2',
      protocol: 'liquidity_book',
      factory: ['0xb43120c4745967fa9b93E79C149E66B0f2D6Fe0c', LIQUIDITY_BOOK],
      startBlock: 46_536_129,
    },
    {
      name: 'trader_joe_v2_1',
      displayName: 'Trader Joe V2.1',
      protocol: 'liquidity_book',
      factory: ['0x8e42f2F4101563bF679975178e880FD87d3eFd4e', LIQUIDITY_BOOK],
      startBlock: 28_371_397,
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0x1764ee18e8B3ccA4787249Ceb249356192594585', CURVE_FACTORIES],
    },
    {
      name: 'pharaoh_dlmm',
      displayName: 'Pharaoh DLMM',
      protocol: 'liquidity_book',
      factory: ['0xEb480050b016f6c6d45203D2346B68bDDDa23D4D', BOOK_FACTORIES],
    },
  ],
};
