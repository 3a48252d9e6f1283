/** Which code speaks which protocol of the chain description. */
import type { Hex } from '../domain/hex';
import type { Dex, ProtocolName } from '../domain/pool';
import { AppError } from '../errors';
import { pancakeV3 } from './pancakeV3';
import type { Protocol } from './protocol';
import { uniswapV2 } from './uniswapV2';
import { uniswapV3 } from './uniswapV3';

const PROTOCOLS: readonly Protocol[] = [uniswapV2, uniswapV3, pancakeV3];

/** The protocol of this name, or null where no decoder exists: a DEX of it is described but not ingested. */
export function findProtocol(name: ProtocolName): Protocol | null {
  return PROTOCOLS.find((protocol) => protocol.name === name) ?? null;
}

/** The protocol of this name; throws bad_config where no decoder exists. */
export function protocolOf(name: ProtocolName): Protocol {
  const protocol = findProtocol(name);
  if (protocol !== null) return protocol;
  const known = PROTOCOLS.map((each) => each.name).join(', ');
  throw new AppError(
    'bad_config',
    `protocol: got "${name}", which has no decoder; those that have: ${known}`,
  );
}

export interface DexTopics {
  /** topic0 of the factories' creation events. */
  readonly creationTopics: ReadonlySet<Hex>;
  /** topic0 of every event that a pool of these DEXes emits and we read. */
  readonly eventTopics: ReadonlySet<Hex>;
}

/** The topics to ask a node for so that nothing of these DEXes is missed; DEXes without a decoder add none. */
export function dexTopics(dexes: readonly Dex[]): DexTopics {
  const creationTopics = new Set<Hex>();
  const eventTopics = new Set<Hex>();
  for (const dex of dexes) {
    const protocol = findProtocol(dex.protocol);
    if (protocol === null) continue;
    creationTopics.add(protocol.creationTopic);
    for (const topic of protocol.eventTopics) eventTopics.add(topic);
  }
  return { creationTopics, eventTopics };
}
