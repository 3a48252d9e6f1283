/**
 * Finds the decoder of a protocol by its name in the chain description. Vault protocols (Balancer V2) are not
 * listed: the vault emits the events and names the pool, so the ingester decodes their events separately.
 */
import type { ProtocolName } from '../domain/pool';
import { pancakeV3 } from './pancakeV3';
import type { Protocol } from './protocol';
import { uniswapV2 } from './uniswapV2';
import { uniswapV3 } from './uniswapV3';

const PROTOCOLS: readonly Protocol[] = [uniswapV2, uniswapV3, pancakeV3];

/** The protocol with one vault contract for all pools. The DEX's `factory` is that vault. */
export const VAULT_PROTOCOL: ProtocolName = 'balancer_v2';

/** The protocol of this name. Null if its pools do not emit their own events. */
export function findProtocol(name: ProtocolName): Protocol | null {
  return PROTOCOLS.find((protocol) => protocol.name === name) ?? null;
}
