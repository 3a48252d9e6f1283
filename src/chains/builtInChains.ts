/** The chains that need no CHAIN_CONFIG. */
import type { ChainDescription } from '../domain/chainDescription';
import { pulsechain } from './pulsechain';
import { pulsechainTestnet } from './pulsechainTestnet';

export const BUILT_IN_CHAINS: readonly ChainDescription[] = [pulsechain, pulsechainTestnet];

export function findBuiltInChain(chainId: number): ChainDescription | null {
  return BUILT_IN_CHAINS.find((chain) => chain.chainId === chainId) ?? null;
}
