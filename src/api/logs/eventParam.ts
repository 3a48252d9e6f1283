/** The parameter `event` of lists of logs: a name, a signature or a topic0, and the topics that it means. */
import { id } from 'ethers';

import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { targetsOf } from '../../query/contracts/codeSpans';
import { eventsByTopic } from '../../query/logs/decodeEvent';
import { implementationsAt, readProxies } from '../../query/logs/proxies';
import { LOG_LIST_MAX } from '../../query/logs/logFilter';
import type { ChainAtHead, ExplorerDeps } from '../explorerScope';
import { parsedParam } from '../params';
import { readWord } from './logParams';

const EVENT_LENGTH_MAX = 512;
const EVENT_NAME = /^[A-Za-z_$][\w$]*$/;
const EVENT_SIGNATURE = /^[A-Za-z_$][\w$]*\([\w$,()[\]]*\)$/;
/** Largest number of contracts and codes whose ABIs are read. */
const CONTRACTS_MAX = 100;
/** Largest number of signatures that are read if the request names an event without its types. */
const SIGNATURES_MAX = 50;

export const EVENT_PARAM = parsedParam({
  parse: (text) => (text.length <= EVENT_LENGTH_MAX && isEvent(text) ? text : null),
  allowed: 'an event name, a signature such as Transfer(address,address,uint256), or a topic0',
  doc: { type: 'string', maxLength: EVENT_LENGTH_MAX },
  description:
    'Name, signature or topic0 of the event. A name matches all events of this name in the ABIs of the given ' +
    'contracts and of their implementations. If they have none, or without a contract, it matches all known ' +
    'events of this name',
});

function isEvent(text: string): boolean {
  return EVENT_NAME.test(text) || EVENT_SIGNATURE.test(text) || readWord(text) !== null;
}

/**
 * The topics of the event; empty if no known event has the name. The ABIs of `addresses` come first, which may be empty.
 */
export async function topicsOf(
  deps: ExplorerDeps,
  { chain, head }: ChainAtHead,
  addresses: readonly Hex[],
  event: string,
): Promise<readonly Hex[]> {
  const topic = readWord(event);
  if (topic !== null) return [topic];
  // Solidity reads the type `uint` as `uint256`.
  const signature = event.replace(/\b(u?int)(?=[,)[])/g, '$1256');
  if (EVENT_SIGNATURE.test(event)) return [`0x${id(signature).slice(2)}`];
  const proxies = await readProxies(chain, head, addresses);
  const contracts = addresses.flatMap((address) => {
    const spans = proxies.spans.get(address) ?? [];
    // The address itself counts with each code that it ever had.
    const ownCodes = spans.map(({ code }) => ({ address, codeHash: code?.hash ?? ZERO_HASH })).reverse();
    const implementations = new Set([
      ...implementationsAt(proxies, address, lastOrdOfBlock(head.number)),
      ...(proxies.upgrades.get(address) ?? []).flatMap(({ targets }) => targets),
      ...spans.flatMap(({ code }) => targetsOf(code)),
    ]);
    // Without a hash, `findMany` takes the newest verification of the address.
    const implementationCodes = [...implementations].map((implementation) => ({
      address: implementation,
      codeHash: null,
    }));
    return [...(ownCodes.length === 0 ? [{ address, codeHash: null }] : ownCodes), ...implementationCodes];
  });
  const records = await deps.verified.findMany(
    contracts.slice(0, CONTRACTS_MAX).map((contract) => ({ chainId: chain.chainId, ...contract })),
  );
  const namedEvents = records
    .flatMap((record) => record?.abi ?? [])
    .filter((entry) => entry.type === 'event' && entry.name === event);
  if (namedEvents.length > 0) return [...eventsByTopic(namedEvents).keys()].slice(0, LOG_LIST_MAX);
  const signatures = await deps.signatures.listByPrefix(event, SIGNATURES_MAX);
  const namedSignatures = signatures.filter(
    ({ kind, signature }) => kind === 'event' && signature.startsWith(`${event}(`),
  );
  return [...new Set(namedSignatures.map(({ selector }) => selector))].slice(0, LOG_LIST_MAX);
}
