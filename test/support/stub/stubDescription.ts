/** The chain description of the stub chain. */
import type { ChainDescription } from '../../../src/domain/chainDescription';
import type { Hex } from '../../../src/domain/hex';
import {
  STUB_ALGEBRA_FACTORY,
  STUB_SOLIDLY_FACTORY,
  STUB_V2_FACTORY,
  STUB_V3_FACTORY,
  UNFINAL_BLOCKS,
} from './stubChain';
import {
  STUB_BOOK_FACTORY,
  STUB_CAMELOT_FACTORY,
  STUB_CURVE_FACTORY,
  STUB_V4_MANAGER,
  STUB_VAULT,
} from './stubFamilies';
import {
  STUB_BONDING_FACTORY,
  STUB_CRYPTO_FACTORY,
  STUB_INFINITY_BIN,
  STUB_INFINITY_CL,
  STUB_V3_VAULT,
} from './stubFurther';

/** Addresses of the stub chain's quote tokens (stubChain.ts). */
const quote = (index: number): Hex => `0x02${index.toString(16).padStart(38, '0')}`;

const FAMILIES = [
  {
    name: 'stub_solidly',
    displayName: 'Stub Solidly',
    protocol: 'solidly',
    factory: STUB_SOLIDLY_FACTORY,
  },
  {
    name: 'stub_algebra',
    displayName: 'Stub Algebra',
    protocol: 'algebra',
    factory: STUB_ALGEBRA_FACTORY,
  },
  {
    name: 'stub_camelot',
    displayName: 'Stub Camelot',
    protocol: 'camelot_v2',
    factory: STUB_CAMELOT_FACTORY,
  },
  { name: 'stub_book', displayName: 'Stub Book', protocol: 'liquidity_book', factory: STUB_BOOK_FACTORY },
  { name: 'stub_v4', displayName: 'Stub V4', protocol: 'uniswap_v4', factory: STUB_V4_MANAGER },
  { name: 'stub_curve', displayName: 'Stub Curve', protocol: 'curve_stable', factory: STUB_CURVE_FACTORY },
  { name: 'stub_vault', displayName: 'Stub vault', protocol: 'balancer_v2', factory: STUB_VAULT },
  {
    name: 'stub_crypto',
    displayName: 'Stub Crypto',
    protocol: 'curve_crypto',
    factory: STUB_CRYPTO_FACTORY,
  },
  {
    name: 'stub_v3_vault',
    displayName: 'Stub V3 vault',
    protocol: 'balancer_v3',
    factory: STUB_V3_VAULT,
  },
  {
    name: 'stub_infinity',
    displayName: 'Stub Infinity',
    protocol: 'infinity_cl',
    factory: STUB_INFINITY_CL,
  },
  { name: 'stub_bins', displayName: 'Stub bins', protocol: 'infinity_bin', factory: STUB_INFINITY_BIN },
  {
    name: 'stub_bonding',
    displayName: 'Stub Bonding',
    protocol: 'bonding_curve',
    factory: STUB_BONDING_FACTORY,
  },
];

/** The first two quote tokens are anchors, the third is the native token. `families` as in the options of the chain. */
export function stubDescription(families = false): ChainDescription {
  return {
    chainId: 369,
    name: 'Stub chain',
    nativeSymbol: 'PLS',
    wrappedNative: quote(2),
    anchors: [0, 1].map((index) => ({ address: quote(index), symbol: `USD${index}`, priceUsd: 1 })),
    majors: [],
    burn: null,
    confirmations: UNFINAL_BLOCKS,
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
      ...(families ? FAMILIES : []),
    ],
  };
}
