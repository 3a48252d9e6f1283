/** OP Mainnet (10), of the OP Stack. */
import type { BuiltInChain } from './builtInChain';
import { SIXTH_SHARE } from './fees';
import {
  CURVE_FACTORIES,
  CURVE_REGISTRIES,
  messari,
  SUSHI_V2,
  SUSHI_V3,
  SUSHI_V3_POSITIONS,
  TOKENS,
  UNISWAP_V4,
  uniswapSubgraph,
  VAULTS,
} from './sources';

const UNISWAP_V3 = messari('uniswap-v3-forks', 'uniswap-v3', 'optimism');

export const optimism: BuiltInChain = {
  chainId: 10,
  name: 'Optimism',
  nativeSymbol: 'ETH',
  blockSeconds: 2,
  // 20 minutes: a block is final when the block of Ethereum with its data is.
  confirmations: 600,
  rpcUrls: [],
  wrappedNative: ['0x4200000000000000000000000000000000000006', TOKENS],
  anchors: {
    USDC: ['0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', TOKENS],
    USDT: ['0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', TOKENS],
    'USDC.e': ['0x7F5c764cBc14f9669B88837ca1490cCa17c31607', TOKENS],
    DAI: ['0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', TOKENS],
  },
  majors: {
    OP: ['0x4200000000000000000000000000000000000042', TOKENS],
    WBTC: ['0x68f180fcCe6836688e9084f035309E29Bf0A2095', TOKENS],
    wstETH: ['0x1F32b1c2345538c0c6f582fCB022739c4A194Ebb', TOKENS],
    VELO: [
      '0x9560e827aF36c94D2Ac33a39bCE1Fe78631088Db',
      'velodrome-finance/contracts deployment-addresses/optimism.json',
    ],
  },
  dexes: [
    {
      name: 'velodrome_v2',
      displayName: 'Velodrome V2',
      protocol: 'solidly',
      factory: [
        '0xF1046053aa5682b4F9a81b5481394DA16BE5FF5a',
        messari('velodrome-finance', 'velodrome-finance-v2', 'optimism'),
      ],
      startBlock: 105_896_804,
    },
    {
      name: 'velodrome_v1',
      displayName: 'Velodrome V1',
      protocol: 'solidly',
      factory: [
        '0x25CbdDb98b35ab1FF77413456B31EC81A6B6B746',
        messari('velodrome-finance', 'velodrome-finance-v1', 'optimism'),
      ],
      startBlock: 10_078_686,
    },
    {
      name: 'velodrome_slipstream',
      displayName: 'Velodrome Slipstream',
      protocol: 'slipstream',
      factory: ['0xCc0bDDB707055e04e497aB22a59c2aF4391cd12F', 'velodrome-finance/slipstream README.md'],
      positionManager: [
        '0x416b433906b1B72FA758e166e239c43d68dC6F29',
        'velodrome-finance/slipstream README.md',
      ],
    },
    {
      // The pools were in this factory before they moved to the one above.
      name: 'velodrome_slipstream_early',
      displayName: 'Velodrome Slipstream (early)',
      protocol: 'slipstream',
      factory: [
        '0x548118C7E0B865C2CfA94D15EC86B666468ac758',
        'aerodrome-finance/slipstream script/constants/output/DeployCL-Optimism.json',
      ],
      positionManager: [
        '0xbB5DFE1380333CEE4c2EeBd7202c80dE2256AdF4',
        'aerodrome-finance/slipstream script/constants/output/DeployCL-Optimism.json',
      ],
    },
    {
      name: 'velodrome_slipstream_2',
      displayName: 'Velodrome Slipstream 2',
      protocol: 'slipstream',
      factory: [
        '0xe13Dd1fbA721Aa81a1826D9523AC9BC7d260c879',
        'velodrome-finance/slipstream script/constants/output/DeployCL-Optimism.json',
      ],
      positionManager: [
        '0xf7f8ccce99Ca2896eC75D3A399D152dB96808399',
        'velodrome-finance/slipstream script/constants/output/DeployCL-Optimism.json',
      ],
    },
    {
      name: 'uniswap_v3',
      displayName: 'Uniswap V3',
      protocol: 'uniswap_v3',
      factory: ['0x1F98431c8aD98523631AE4a59f267346ea31F984', UNISWAP_V3],
      positionManager: ['0xC36442b4a4522E871399CD717aBDD847Ab11FE88', UNISWAP_V3],
    },
    {
      name: 'uniswap_v2',
      displayName: 'Uniswap V2',
      protocol: 'uniswap_v2',
      factory: ['0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf', uniswapSubgraph('v2', 'optimism')],
      feeBps: 30,
      startBlock: 112_197_986,
    },
    {
      name: 'sushiswap_v2',
      displayName: 'SushiSwap V2',
      protocol: 'uniswap_v2',
      factory: ['0xFbc12984689e5f15626Bad03Ad60160Fe98B303C', SUSHI_V2],
      feeBps: 30,
      protocolFeeShare: SIXTH_SHARE,
    },
    {
      name: 'sushiswap_v3',
      displayName: 'SushiSwap V3',
      protocol: 'uniswap_v3',
      factory: ['0x9c6522117e2ed1fE5bdb72bb0eD5E3f2bdE7DBe0', SUSHI_V3],
      positionManager: ['0x1af415a1EbA07a4986a52B6f2e7dE7003D82231e', SUSHI_V3_POSITIONS],
      startBlock: 85_432_013,
    },
    {
      // This vault has the pools of Balancer and of Beethoven X.
      name: 'balancer_v2',
      displayName: 'Balancer V2',
      protocol: 'balancer_v2',
      factory: [
        '0xBA12222222228d8Ba445958a75a0704d566BF2C8',
        messari('balancer-forks', 'beethoven-x', 'optimism'),
      ],
      startBlock: 154_627,
    },
    {
      name: 'balancer_v3',
      displayName: 'Balancer V3',
      protocol: 'balancer_v3',
      factory: ['0xbA1333333333a1BA1108E8412f11850A5C319bA9', VAULTS],
      startBlock: 133_969_439,
    },
    {
      name: 'uniswap_v4',
      displayName: 'Uniswap V4',
      protocol: 'uniswap_v4',
      factory: ['0x9a13F98Cb987694C9F086b1F5eB990EeA8264Ec3', UNISWAP_V4],
      positionManager: ['0x3C3Ea4B57a46241e54610e5f022E5c45859A1017', UNISWAP_V4],
    },
    {
      name: 'curve_stable',
      displayName: 'Curve StableSwap',
      protocol: 'curve_stable',
      factory: ['0x2db0E83599a91b508Ac268a6197b8B14F5e72840', CURVE_FACTORIES],
    },
    {
      name: 'curve_ng',
      displayName: 'Curve StableSwap-NG',
      protocol: 'curve_stable',
      factory: ['0x5eeE3091f747E60a045a2E715a4c71e600e31F6E', CURVE_FACTORIES],
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
      factory: ['0xc6C09471Ee39C7E30a067952FcC89c8922f9Ab53', CURVE_FACTORIES],
    },
    {
      name: 'curve_registry',
      displayName: 'Curve',
      protocol: 'curve_stable',
      factory: ['0xC5cfaDA84E902aD92DD40194f0883ad49639b023', CURVE_REGISTRIES],
    },
    {
      name: 'curve_crypto_registry',
      displayName: 'Curve CryptoSwap (registry)',
      protocol: 'curve_crypto',
      factory: ['0x7DA64233Fefb352f8F501B357c018158ED8aA455', CURVE_REGISTRIES],
    },
  ],
};
