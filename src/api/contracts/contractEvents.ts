/** GET /api/v1/contracts/{address}/events: logs of one contract, filtered by event. */
import { id } from 'ethers';

import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { eventsByTopic } from '../../query/logs/decodeEvent';
import { targetsOf } from '../../query/contracts/codeSpans';
import { implementationsAt, readProxies } from '../../query/logs/proxies';
import { ALL_LOGS, LOG_LIST_MAX, type LogFilter } from '../../query/logs/logFilter';
import { logsAnswerShape } from '../../wire/explorer';
import { parsedParam, requiredAddressParam } from '../params';
import type { Route } from '../route';
import { explorerRoute, type ChainMoment, type ExplorerDeps } from '../explorerRoute';
import { answerLogs, checkRange, RANGE_PARAMS, readWord, TOPIC_PARAMS, TX_PARAM } from '../logs/logParams';

const EVENT_MAX = 512;
const NAME = /^[A-Za-z_$][\w$]*$/;
const SIGNATURE = /^[A-Za-z_$][\w$]*\([\w$,()[\]]*\)$/;
/** Largest number of signatures that are read if the request names an event without its types. */
const SIGNATURES_MAX = 50;

export function contractEvents(deps: ExplorerDeps): Route {
  return explorerRoute(deps, {
    path: '/api/v1/contracts/:address/events',
    summary: 'Decoded logs of one contract',
    description:
      'The logs of a contract with the names and values of their parameters. The filters choose an event, topics, a transaction or a range of blocks.',
    pathParams: { address: requiredAddressParam('address', 'Address of the contract') },
    query: {
      event: parsedParam({
        parse: (text) => (text.length <= EVENT_MAX && isEvent(text) ? text : null),
        allowed: 'an event name, a signature such as Transfer(address,address,uint256), or a topic0',
        doc: { type: 'string', maxLength: EVENT_MAX },
        description:
          'Name, signature or topic0 of the event. A name matches all events of this name in the ABIs of ' +
          'the contract and of its implementations. If they have none, it matches all known events of this ' +
          'name',
      }),
      topic1: TOPIC_PARAMS.topic1,
      topic2: TOPIC_PARAMS.topic2,
      topic3: TOPIC_PARAMS.topic3,
      tx_hash: TX_PARAM,
      ...RANGE_PARAMS,
    },
    answer: logsAnswerShape,
    errors: [400, 404, 503],
    check: checkRange,
    async read({ address, event, ...params }, _chainId, moment) {
      const topics0 = event === null || moment === null ? [] : await topicsOf(deps, moment, address, event);
      // An event name that no signature has matches no logs.
      const unknown = event !== null && topics0.length === 0;
      const filter: LogFilter = {
        ...ALL_LOGS,
        addresses: [address],
        topics: [topics0, params.topic1 ?? [], params.topic2 ?? [], params.topic3 ?? []],
        txHash: params.tx_hash,
        fromBlock: params.from_block,
        toBlock: params.to_block,
      };
      return answerLogs(deps, moment, unknown ? null : filter, params);
    },
  });
}

function isEvent(text: string): boolean {
  return NAME.test(text) || SIGNATURE.test(text) || readWord(text) !== null;
}

async function topicsOf(
  deps: ExplorerDeps,
  { chain, head }: ChainMoment,
  address: Hex,
  event: string,
): Promise<readonly Hex[]> {
  const topic = readWord(event);
  if (topic !== null) return [topic];
  // Solidity reads the type `uint` as `uint256`.
  const signature = event.replace(/\b(u?int)(?=[,)[])/g, '$1256');
  if (SIGNATURE.test(event)) return [`0x${id(signature).slice(2)}`];
  const proxies = await readProxies(chain, head, [address]);
  const spans = proxies.spans.get(address) ?? [];
  const past = [
    ...(proxies.upgrades.get(address) ?? []).flatMap(({ targets }) => targets),
    ...spans.flatMap(({ code }) => targetsOf(code)),
  ];
  const behind = implementationsAt(proxies, address, lastOrdOfBlock(head.number));
  // The address itself counts with each code that it ever had.
  const own = spans.map(({ code }) => ({ address, codeHash: code?.hash ?? ZERO_HASH })).reverse();
  const others = [...new Set([...behind, ...past])].map((each) => ({ address: each, codeHash: null }));
  const contracts = [...(own.length === 0 ? [{ address, codeHash: null }] : own), ...others].slice(0, 100);
  const records = await deps.verified.findMany(
    contracts.map((contract) => ({ chainId: chain.chainId, ...contract })),
  );
  const named = records
    .flatMap((record) => record?.abi ?? [])
    .filter((entry) => entry.type === 'event' && entry.name === event);
  if (named.length > 0) return [...eventsByTopic(named).keys()].slice(0, LOG_LIST_MAX);
  const known = await deps.signatures.listByPrefix(event, SIGNATURES_MAX);
  const topics = known.filter(({ kind, signature }) => kind === 'event' && signature.startsWith(`${event}(`));
  return [...new Set(topics.map(({ selector }) => selector))].slice(0, LOG_LIST_MAX);
}
