/** The chain description that goes with the stub chain. */
import type { ChainDescription } from '../../src/domain/chainDescription';
import { STUB_V2_FACTORY, STUB_V3_FACTORY } from './stubChain';

export function stubDescription(): ChainDescription {
  return {
    chainId: 369,
    name: 'Stub chain',
    nativeSymbol: 'PLS',
    wrappedNative: `0x01${'0'.repeat(38)}`,
    anchors: [],
    majors: [],
    burn: null,
    confirmations: 64,
    startBlock: 0,
    rpcUrls: [],
    dexes: [
      {
        name: 'stub_v2',
        displayName: 'Stub V2',
        protocol: 'uniswap_v2',
        factory: STUB_V2_FACTORY,
        feeBps: 29,
      },
      { name: 'stub_v3', displayName: 'Stub V3', protocol: 'uniswap_v3', factory: STUB_V3_FACTORY },
    ],
  };
}
