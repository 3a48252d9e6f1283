/**
 * PulseChain Testnet v4 (943), the explorer's second chain. Uncertain values are null or empty; a
 * CHAIN_CONFIG can set them.
 */
import type { ChainDescription } from '../domain/chainDescription';

export const pulsechainTestnet: ChainDescription = {
  chainId: 943,
  name: 'PulseChain Testnet v4',
  nativeSymbol: 'tPLS',
  // The WPLS token, from the public token lists and front ends of the testnet.
  wrappedNative: '0x70499adebb11efd915e3b69e700c331778628707',
  anchors: [],
  majors: [],
  burn: null,
  forkBlock: 16_492_700,
  confirmations: 64,
  startBlock: null,
  rpcUrls: ['https://rpc-testnet-pulsechain.g4mm4.io', 'https://rpc.v4.testnet.pulsechain.com'],
  dexes: [
    {
      name: 'phux',
      displayName: 'PHUX',
      protocol: 'balancer_v2',
      factory: '0x4a75321ad6d04ba13c8f6625d9f096c07c7912f1',
      startBlock: 16_721_230,
    },
  ],
};
