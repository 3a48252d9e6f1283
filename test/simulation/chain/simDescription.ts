/** The chain description of the simulated chain. */
import type { ChainDescription } from '../../../src/domain/chainDescription';
import { V3_VAULT } from './moving/simBalancerV3';
import { BONDING_FACTORY } from './moving/simBonding';
import { BOOK_FACTORY } from './moving/simBook';
import { CAMELOT_FACTORY } from './moving/simCamelot';
import { CRYPTO_FACTORY } from './moving/simCrypto';
import { SIM_ANCHORS, SIM_CHAIN_ID, SIM_NATIVE, V2_FACTORY, V3_FACTORY } from './simChain';
import { CURVE_FACTORY } from './moving/simCurve';
import { FAMILY_FACTORIES } from './simFamilyPool';
import { INFINITY_BIN_MANAGER } from './moving/simInfinityBin';
import { INFINITY_CL_MANAGER, V4_MANAGER } from './moving/simV4';
import { VAULT } from './simVault';

export const SIM_DESCRIPTION: ChainDescription = {
  chainId: SIM_CHAIN_ID,
  name: 'Simulation',
  nativeSymbol: 'SIM',
  wrappedNative: SIM_NATIVE,
  anchors: [
    { address: SIM_ANCHORS[0]!, symbol: 'ONE', priceUsd: 1 },
    { address: SIM_ANCHORS[1]!, symbol: 'TWO', priceUsd: 1 },
  ],
  majors: [],
  burn: null,
  confirmations: 64,
  startBlock: null,
  rpcUrls: [],
  dexes: [
    { name: 'sim_v2', displayName: 'Sim V2', protocol: 'uniswap_v2', factory: V2_FACTORY, feeBps: 30 },
    { name: 'sim_v3', displayName: 'Sim V3', protocol: 'uniswap_v3', factory: V3_FACTORY },
    { name: 'sim_vault', displayName: 'Sim vault', protocol: 'balancer_v2', factory: VAULT },
    {
      name: 'sim_solidly_1',
      displayName: 'Sim Solidly 1',
      protocol: 'solidly',
      factory: FAMILY_FACTORIES.solidly1,
    },
    {
      name: 'sim_solidly_2',
      displayName: 'Sim Solidly 2',
      protocol: 'solidly',
      factory: FAMILY_FACTORIES.solidly2,
    },
    {
      name: 'sim_slipstream',
      displayName: 'Sim Slipstream',
      protocol: 'slipstream',
      factory: FAMILY_FACTORIES.slipstream,
    },
    {
      name: 'sim_algebra',
      displayName: 'Sim Algebra',
      protocol: 'algebra',
      factory: FAMILY_FACTORIES.algebra,
    },
    { name: 'sim_camelot', displayName: 'Sim Camelot', protocol: 'camelot_v2', factory: CAMELOT_FACTORY },
    { name: 'sim_book', displayName: 'Sim Book', protocol: 'liquidity_book', factory: BOOK_FACTORY },
    { name: 'sim_curve', displayName: 'Sim Curve', protocol: 'curve_stable', factory: CURVE_FACTORY },
    { name: 'sim_crypto', displayName: 'Sim Crypto', protocol: 'curve_crypto', factory: CRYPTO_FACTORY },
    { name: 'sim_v3_vault', displayName: 'Sim V3 vault', protocol: 'balancer_v3', factory: V3_VAULT },
    { name: 'sim_bonding', displayName: 'Sim Bonding', protocol: 'bonding_curve', factory: BONDING_FACTORY },
    { name: 'sim_v4', displayName: 'Sim V4', protocol: 'uniswap_v4', factory: V4_MANAGER },
    {
      name: 'sim_infinity_cl',
      displayName: 'Sim Infinity CL',
      protocol: 'infinity_cl',
      factory: INFINITY_CL_MANAGER,
    },
    {
      name: 'sim_infinity_bin',
      displayName: 'Sim Infinity bins',
      protocol: 'infinity_bin',
      factory: INFINITY_BIN_MANAGER,
    },
  ],
};
