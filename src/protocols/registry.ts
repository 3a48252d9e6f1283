/**
 * Finds the decoder of a protocol by its name in the chain description. Vault protocols (Balancer V2) are not listed:
 * the vault emits the events and names the pool, so the ingester decodes these separately.
 */
import type { Hex } from '../domain/hex';
import type { Dex, ProtocolName } from '../domain/pool';
import { AppError } from '../errors';
import { POOL_REGISTERED, POOL_TOPICS, VAULT_TOPICS } from './balancerV2';
import { pancakeV3 } from './pancakeV3';
import type { Protocol } from './protocol';
import { uniswapV2 } from './uniswapV2';
import { uniswapV3 } from './uniswapV3';

const PROTOCOLS: readonly Protocol[] = [uniswapV2, uniswapV3, pancakeV3];

/** The protocol with one vault contract for all pools. The DEX's `factory` is that vault. */
export const VAULT_PROTOCOL: ProtocolName = 'balancer_v2';

/** The protocol of this name. Null: its pools do not emit their own events. */
export function findProtocol(name: ProtocolName): Protocol | null {
  return PROTOCOLS.find((protocol) => protocol.name === name) ?? null;
}

/** The protocol of this name; throws bad_config if there is no decoder. */
export function protocolOf(name: ProtocolName): Protocol {
  const protocol = findProtocol(name);
  if (protocol !== null) return protocol;
  const known = PROTOCOLS.map((each) => each.name).join(', ');
  throw new AppError('bad_config', `protocol: got "${name}", which has no decoder; allowed: ${known}`);
}

export interface DexTopics {
  /** topic0 of the factories' creation events. */
  readonly creationTopics: ReadonlySet<Hex>;
  /** topic0 of every event that decoders read from pools or vaults of these DEXes. */
  readonly eventTopics: ReadonlySet<Hex>;
}

/** The topics to request from a node for all events of these DEXes. A DEX without a decoder adds none. */
export function dexTopics(dexes: readonly Dex[]): DexTopics {
  const creationTopics = new Set<Hex>();
  const eventTopics = new Set<Hex>();
  for (const dex of dexes) {
    if (dex.protocol === VAULT_PROTOCOL) {
      creationTopics.add(POOL_REGISTERED);
      for (const topic of [...VAULT_TOPICS, ...POOL_TOPICS]) eventTopics.add(topic);
    }
    const protocol = findProtocol(dex.protocol);
    if (protocol === null) continue;
    creationTopics.add(protocol.creationTopic);
    for (const topic of protocol.eventTopics) eventTopics.add(topic);
  }
  return { creationTopics, eventTopics };
}
