/** The chains that need no CHAIN_CONFIG. */
import type { ChainDescription } from '../../domain/chainDescription';
import { arbitrum } from './arbitrum';
import { avalanche } from './avalanche';
import { base } from './base';
import { bnbChain } from './bnbChain';
import { toChainDescription, type BuiltInChain } from './builtInChain';
import { ethereum } from './ethereum';
import { optimism } from './optimism';
import { polygon } from './polygon';
import { pulsechain } from './pulsechain';
import { pulsechainTestnet } from './pulsechainTestnet';
import { sonic } from './sonic';

export const SOURCED_CHAINS: readonly BuiltInChain[] = [
  ...[pulsechain, pulsechainTestnet, ethereum, optimism, bnbChain],
  ...[polygon, sonic, base, arbitrum, avalanche],
];

export const BUILT_IN_CHAINS: readonly ChainDescription[] = SOURCED_CHAINS.map(toChainDescription);

export function findBuiltInChain(chainId: number): ChainDescription | null {
  return BUILT_IN_CHAINS.find((chain) => chain.chainId === chainId) ?? null;
}
