/** Public files with addresses of several chains: a repository and a path in it. */

export const TOKENS = 'DefiLlama/DefiLlama-Adapters projects/helper/coreAssets.json';
/** Factories of V2 DEXes and of Solidly. */
export const V2_FACTORIES = 'DefiLlama/DefiLlama-Adapters registries/uniswapV2.js';
/** The same, with fees. */
export const V2_FEES = 'DefiLlama/dimension-adapters factory/uniV2.ts';
/** Factories of V3 DEXes and of Algebra, with first blocks. */
export const V3_FACTORIES = 'DefiLlama/DefiLlama-Adapters registries/uniswapV3.js';
/** Vaults with first blocks. */
export const VAULTS = 'DefiLlama/DefiLlama-Adapters registries/balancer.js';
/** PoolManagers and position managers of Uniswap V4. */
export const UNISWAP_V4 = 'Uniswap/docs docs/contracts/v4/deployments.mdx';
/** Managers of PancakeSwap Infinity (`clPoolManager`, `binPoolManager`). */
export function infinityConfig(network: 'bsc' | 'base'): string {
  return `pancakeswap/infinity-core script/config/${network}-mainnet.json`;
}

/** Position managers of PancakeSwap Infinity on BNB Chain and Base. */
export const INFINITY_POSITIONS =
  'pancakeswap/pancake-developer docs/pages/contracts/infinity/resources/addresses.mdx';

/** Factories of Curve: that of 2021 (`factory`, `crypto_factory`), and those of NG pools (`stable_ng_factory`, `twocrypto_factory`, `tricrypto_factory`). */
export const CURVE_FACTORIES = 'curvefi/curve-js src/constants/network_constants.ts';
/** Registries of Curve for pools that no factory made, by the ids of its address provider (0 and 5). */
export const CURVE_REGISTRIES = 'curvefi/metaregistry scripts/address_provider_constants.py';
/** The same for further chains. */
export const CURVE_CONTRACTS = 'DefiLlama/DefiLlama-Adapters projects/curve/contracts.json';
/** Factories of Trader Joe's Liquidity Book by version, with first blocks. */
export const LIQUIDITY_BOOK = 'DefiLlama/dimension-adapters factory/joeLiquidityBook.ts';
/** Factories of Liquidity Book. Those without `isLb` have the interface of 2.1 and 2.2. */
export const BOOK_FACTORIES = 'DefiLlama/DefiLlama-Adapters registries/traderJoeV2.js';
/** Factories of Virtuals' bonding curves, with first blocks. */
export const VIRTUALS = 'DefiLlama/dimension-adapters dexs/virtual-protocol.ts';
export const SUSHI_V2 = 'DefiLlama/dimension-adapters dexs/sushiswap-classic.ts';
export const SUSHI_V3 = 'DefiLlama/DefiLlama-Adapters projects/sushiswap-v3/index.js';
export const SUSHI_V3_POSITIONS = 'sushi-labs/sushi src/evm/config/features/sushiswap-v3.ts';

/** Position managers. */
export function kyberPositions(dex: string): string {
  return `KyberNetwork/kyberswap-interface apps/kyberswap-interface/src/pages/Earns/constants/dexes/${dex}.ts`;
}

/** Factories and position managers with first blocks. */
export function messari(family: string, protocol: string, network: string): string {
  return `messari/subgraphs subgraphs/${family}/protocols/${protocol}/config/deployments/${protocol}-${network}/configurations.json`;
}

/** Factories with first blocks. */
export function uniswapSubgraph(version: 'v2' | 'v3', network: string): string {
  return `Uniswap/${version}-subgraph config/${network}/config.json`;
}

/** Factories of PancakeSwap and its position manager, with first blocks. */
export function pancakeSubgraph(network: string): string {
  return `pancakeswap/pancake-subgraph config/${network}.js`;
}
