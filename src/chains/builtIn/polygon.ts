/** Polygon PoS (137). */
import type { BuiltInChain } from './builtInChain';
import { SIXTH_SHARE } from './fees';
import {
  CURVE_FACTORIES,
  CURVE_REGISTRIES,
  messari,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  UNISWAP_V4,
  uniswapSubgraph,
  V2_FEES,
  V3_FACTORIES,
  VAULTS,
} from './sources';

const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'polygon');

export const polygon: BuiltInChain = {
  chainId: 137,
  name: 'Polygon',
  nativeSymbol: 'POL',
  blockSeconds: 2,
  // This is about one checkpoint on Ethereum (https://github.com/maticnetwork/Polygon-Improvement-Proposals/blob/main/PIPs/PIP-11.md).
  confirmations: 512,
  rpcUrls: [],
  wrappedNative: ['0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', TOKENS],
  anchors: {
    USDC: ['0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', TOKENS],
    'USDC.e': ['0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', TOKENS],
    USDT: ['0xc2132D05D31c914a87C6611C10748AEb04B58e8F', TOKENS],
    DAI: ['0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', TOKENS],
  },
  majors: {
    WETH: ['0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', TOKENS],
    WBTC: ['0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6', TOKENS],
    wstETH: ['0x03b54A6e9a984069379fae1a4fC4dBAE93B3bCCD', TOKENS],
  },
  dexes: [
    {
      name: 'quickswap_v2',
      displayName: 'QuickSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0x5757371414417b8C6CAad45bAeF941aBc7d3Ab32',
        messari('uniswap-forks', 'quickswap', 'polygon'),
      ],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 4_931_780,
    },
    {
      name: 'quickswap_v3',
      displayName: 'QuickSwap V3',
      protocol: 'algebra',
      factory: ['0x411b0fAcC3489691f28ad58c47006AF5E3Ab3A28', V3_FACTORIES],
      positionManager: [
        '0x8eF88E4c7CfbbaC1C163f7eddd4B578792201de6',
        'QuickSwap/interface-v2 src/constants/v3/addresses.ts',
      ],
      startBlock: 32_610_688,
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0x1F98431c8aD98523631AE4a59f267346ea31F984', UNISWAP_V3],
      positionManager: ['0xC36442b4a4522E871399CD717aBDD847Ab11FE88', UNISWAP_V3],
      startBlock: 22_757_546,
    },
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: ['0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', uniswapSubgraph('v2', 'matic')],
      feeBps: 30,
      startBlock: 49_948_178,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0xc35DADB65012eC5796536bD9864eD8773aBc74C4',
        messari('uniswap-forks', 'sushiswap', 'polygon'),
      ],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 11_333_218,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x917933899c6a5F8E37F31E19f92CdBFF7e8FF0e2', SUSHI_V3],
      positionManager: ['0xb7402ee99F0A008e461098AC3A27F4957Df89a40', SUSHI_V3_POSITIONS],
      startBlock: 41_024_971,
    },
    {
      name: 'apeswap',
      displayName: 'ApeSwap',
      protocol: 'uniswap_v2',
      factory: ['0xCf083Be4164828f00cAE704EC15a36D711491284', V2_FEES],
      feeBps: 20,
    },
    {
      name: 'balancer_v2',
      displayName: 'Balancer V2',
      protocol: 'balancer_v2',
      factory: ['0xBA12222222228d8Ba445958a75a0704d566BF2C8', VAULTS],
      startBlock: 15_832_990,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x67366782805870060151383F4BbFF9daB53e5cD6', UNISWAP_V4],
      positionManager: ['0x1Ec2eBf4F37E7363FDfe3551602425af0B3ceef9', UNISWAP_V4],
    },
    {
      name: 'curve_stable',
      displayName: 'Curve StableSwap',
      protocol: 'curve_stable',
      factory: ['0x722272D36ef0Da72FF51c5A65Db7b870E2e8D4ee', CURVE_FACTORIES],
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0x1764ee18e8B3ccA4787249Ceb249356192594585', CURVE_FACTORIES],
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
      factory: ['0xC1b393EfEF38140662b91441C6710Aa704973228', CURVE_FACTORIES],
    },
    {
      name: 'curve_crypto',
      displayName: 'Curve CryptoSwap',
      protocol: 'curve_crypto',
      factory: ['0xE5De15A9C9bBedb4F5EC13B131E61245f2983A69', CURVE_FACTORIES],
    },
    {
      name: 'curve_registry',
      displayName: 'Curve',
      protocol: 'curve_stable',
      factory: ['0x094d12e5b541784701FD8d65F11fc0598FBC6332', CURVE_REGISTRIES],
    },
    {
      name: 'curve_crypto_registry',
      displayName: 'Curve CryptoSwap (registry)',
      protocol: 'curve_crypto',
      factory: ['0x47bB542B9dE58b970bA50c9dae444DDB4c16751a', CURVE_REGISTRIES],
    },
  ],
};
