/** PulseChain Testnet v4 (943), the explorer's second chain. It has no anchors; a CHAIN_CONFIG can set them. */
import type { BuiltInChain } from './builtInChain';

export const pulsechainTestnet: BuiltInChain = {
  chainId: 943,
  name: 'PulseChain Testnet v4',
  nativeSymbol: 'tPLS',
  blockSeconds: 10,
  confirmations: 64,
  rpcUrls: ['https://rpc-testnet-pulsechain.g4mm4.io', 'https://rpc.v4.testnet.pulsechain.com'],
  wrappedNative: ['0x70499adEBB11Efd915E3b69E700c331778628707', 'hexikani/pulsechain-docs pulsex.md'],
  anchors: {},
  majors: {},
  forkBlock: 16_492_700,
  dexes: [
    {
      name: 'phux',
      displayName: 'PHUX',
      protocol: 'balancer_v2',
      factory: ['0x4A75321aD6D04BA13c8F6625d9f096c07c7912f1', 'hexikani/pulsechain-docs phux.md'],
      startBlock: 16_721_230,
    },
  ],
};
