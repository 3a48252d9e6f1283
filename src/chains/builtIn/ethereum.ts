/** Ethereum (1). */
import type { BuiltInChain } from './builtInChain';
import { PANCAKE_V2_SHARE, SIXTH_SHARE } from './fees';
import {
  CURVE_FACTORIES,
  CURVE_REGISTRIES,
  LIQUIDITY_BOOK,
  messari,
  pancakeSubgraph,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  UNISWAP_V4,
  V2_FEES,
  VAULTS,
} from './sources';

const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'ethereum');
const PANCAKE_V3 = pancakeSubgraph('mainnet');

export const ethereum: BuiltInChain = {
  chainId: 1,
  name: 'Ethereum',
  nativeSymbol: 'ETH',
  blockSeconds: 12,
  // A block is final after two epochs of 32 blocks each.
  confirmations: 64,
  rpcUrls: [],
  wrappedNative: ['0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', TOKENS],
  anchors: {
    USDC: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', TOKENS],
    USDT: ['0xdAC17F958D2ee523a2206206994597C13D831ec7', TOKENS],
    DAI: ['0x6B175474E89094C44Da98b954EedeAC495271d0F', TOKENS],
  },
  majors: {
    WBTC: ['0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', TOKENS],
    cbBTC: ['0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf', TOKENS],
    wstETH: ['0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0', TOKENS],
    USDS: ['0xdC035D45d973E3EC169d2276DDab16f1e407384F', TOKENS],
    USDe: ['0x4c9EDD5852cd905f086C759E8383e09bff1E68B3', TOKENS],
  },
  dexes: [
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f',
        messari('uniswap-forks', 'uniswap-v2', 'ethereum'),
      ],
      feeBps: 30,
      startBlock: 10_000_834,
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0x1F98431c8aD98523631AE4a59f267346ea31F984', UNISWAP_V3],
      positionManager: ['0xC36442b4a4522E871399CD717aBDD847Ab11FE88', UNISWAP_V3],
      startBlock: 12_369_620,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac',
        messari('uniswap-forks', 'sushiswap', 'ethereum'),
      ],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
      startBlock: 10_794_229,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0xbACEB8eC6b9355Dfc0269C18bac9d6E2Bdc29C4F', SUSHI_V3],
      positionManager: ['0x2214A42d8e2A1d20635c2cb0664422c528B6A432', SUSHI_V3_POSITIONS],
      startBlock: 16_955_547,
    },
    {
      name: 'pancakeswap_v2',
      displayName: 'PancakeSwap V2',
      protocol: 'uniswap_v2',
      factory: [
        '0x1097053Fd2ea711dad45caCcc45EfF7548fCB362',
        'pancakeswap/pancake-subgraph subgraphs/exchange-eth/subgraph.yaml',
      ],
      feeBps: 25,
      protocolFeeShare: PANCAKE_V2_SHARE,
      startBlock: 15_614_590,
    },
    {
      name: 'pancakeswap_v3',
      displayName: 'PancakeSwap V3',
      protocol: 'pancake_v3',
      factory: ['0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865', PANCAKE_V3],
      positionManager: ['0x46A15B0b27311cedF172AB29E4f4766fbE7F4364', PANCAKE_V3],
      startBlock: 16_950_686,
    },
    {
      name: 'shibaswap_v1',
      displayName: 'ShibaSwap V1',
      protocol: 'uniswap_v2',
      factory: ['0x115934131916C8b277DD010Ee02de363c09d037c', V2_FEES],
      feeBps: 30,
    },
    {
      name: 'balancer_v2',
      displayName: 'Balancer V2',
      protocol: 'balancer_v2',
      factory: ['0xBA12222222228d8Ba445958a75a0704d566BF2C8', VAULTS],
      startBlock: 12_272_146,
    },
    {
      name: 'balancer_v3',
      displayName: 'Balancer V3',
      protocol: 'balancer_v3',
      factory: ['0xbA1333333333a1BA1108E8412f11850A5C319bA9', VAULTS],
      startBlock: 21_332_121,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x000000000004444c5dc75cB358380D2e3dE08A90', UNISWAP_V4],
      positionManager: ['0xbD216513d74C8cf14cf4747E6AaA6420FF64ee9e', UNISWAP_V4],
    },
    {
      name: 'curve_stable',
      displayName: 'Curve StableSwap',
      protocol: 'curve_stable',
      factory: ['0xB9fC157394Af804a3578134A6585C0dc9cc990d4', CURVE_FACTORIES],
    },
    {
      name: 'curve_registry',
      displayName: 'Curve',
      protocol: 'curve_stable',
      factory: ['0x90E00ACe148ca3b23Ac1bC8C240C2a7Dd9c2d7f5', 'curvefi/curve-pool-registry README.md'],
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0x6A8cbed756804B16E05E741eDaBd5cB544AE21bf', CURVE_FACTORIES],
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
      factory: ['0x0c0e5f2fF0ff18a3be9b835635039256dC4B4963', CURVE_FACTORIES],
    },
    {
      name: 'curve_crypto',
      displayName: 'Curve CryptoSwap',
      protocol: 'curve_crypto',
      factory: ['0xF18056Bbd320E96A48e3Fbf8bC061322531aac99', CURVE_FACTORIES],
    },
    {
      name: 'curve_crypto_registry',
      displayName: 'Curve CryptoSwap (registry)',
      protocol: 'curve_crypto',
      factory: ['0x8F942C20D02bEfc377D41445793068908E2250D0', CURVE_REGISTRIES],
    },
    {
      name: 'trader_joe_v2_1',
      displayName: 'Trader Joe V2.1',
      protocol: 'liquidity_book',
      factory: ['0xDC8d77b69155c7E68A95a4fb0f06a71FF90B943a', LIQUIDITY_BOOK],
      startBlock: 17_821_282,
    },
  ],
};
