/** How to recognize proxies: storage slots and events of the EIPs and of OpenZeppelin. */
import type { Hex } from './hex';

/**
 * `eip1167` is every clone: the code contains the address. `eip2535` is a diamond, which delegates to several
 * contracts. `eip7702` is an account with delegated code. `safe` and `custom_slot` keep the address in a storage slot
 * that no EIP names, and `beacon` keeps its beacon there or in the code.
 */
export const PROXY_KINDS = [
  'eip1967',
  'eip1967_beacon',
  'eip1822',
  'eip1167',
  'openzeppelin_legacy',
  'eip2535',
  'eip7702',
  'safe',
  'custom_slot',
  'beacon',
] as const;
export type ProxyKind = (typeof PROXY_KINDS)[number];

/** Storage slot keccak256('eip1967.proxy.implementation') − 1. */
export const IMPLEMENTATION_SLOT: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
/** Storage slot keccak256('eip1967.proxy.beacon') − 1. */
export const BEACON_SLOT: Hex = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50';
/** Storage slot keccak256('PROXIABLE'). */
export const PROXIABLE_SLOT: Hex = '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7';
/** Storage slot keccak256('org.zeppelinos.proxy.implementation'). */
export const LEGACY_SLOT: Hex = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3';

/** Topic of the event Upgraded(address). */
export const UPGRADED: Hex = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';
/** Topic of the event BeaconUpgraded(address). */
export const BEACON_UPGRADED: Hex = '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e';
/** Topic of the event DiamondCut((address,uint8,bytes4[])[],address,bytes). */
export const DIAMOND_CUT: Hex = '0x8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673';
