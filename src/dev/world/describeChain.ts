/** Writes the chain description (the content of a CHAIN_CONFIG file) of a development world. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { tokenByKey } from './openPools';
import type { ChainConfigFile, DexConfig, World, WorldToken } from './world';
import { DEX_V2, DEX_V2_29, DEX_V3, type WorldPlan } from './worldPlan';

/** PulseChain's usual burn address, and the zero address. */
export const BURN_ADDRESSES: readonly Hex[] = [
  '0x0000000000000000000000000000000000000369',
  '0x0000000000000000000000000000000000000000',
];

/** Describes the chain as a CHAIN_CONFIG file. `chainId` and `url` are the id and the address of this chain's node. */
export function describeChain(
  contracts: Pick<World, 'v2' | 'v3' | 'wrappedNative' | 'trader'>,
  tokens: readonly WorldToken[],
  plan: WorldPlan,
  { chainId, url }: { readonly chainId: number; readonly url: string },
): ChainConfigFile {
  const addressOf = (key: string): Hex => tokenByKey(tokens, key).address;
  return {
    chainId,
    name: 'Candlehouse development chain',
    nativeSymbol: 'PLS',
    wrappedNative: contracts.wrappedNative,
    anchors: plan.anchors.map((key) => ({ address: addressOf(key), symbol: key.toUpperCase(), priceUsd: 1 })),
    majors: plan.majors.map(addressOf),
    burn: { token: addressOf(plan.burnToken), addresses: BURN_ADDRESSES },
    treasuries: [{ address: contracts.trader, label: 'Stock of the trader contract' }],
    confirmations: 12,
    startBlock: 0,
    rpcUrls: [url],
    dexes: describeDexes(contracts),
  };
}

function describeDexes({ v2, v3 }: Pick<World, 'v2' | 'v3'>): DexConfig[] {
  const [uniswap, pulse] = v2;
  if (uniswap === undefined || pulse === undefined)
    throw new AppError('internal', `the development chain has ${v2.length} V2 exchanges, expected 2`);
  return [
    v2Dex(DEX_V2, 'DevSwap V2', uniswap.factory, 30),
    v2Dex(DEX_V2_29, 'PulseDev V2', pulse.factory, 29),
    {
      name: DEX_V3,
      displayName: 'DevSwap V3',
      protocol: 'uniswap_v3',
      factory: v3.factory,
      positionManager: v3.positionManager,
      startBlock: 0,
    },
  ];
}

function v2Dex(name: string, displayName: string, factory: Hex, feeBps: number): DexConfig {
  return { name, displayName, protocol: 'uniswap_v2', factory, feeBps, startBlock: 0 };
}
