/** GET /api/v1/contracts/{address}/events: logs of one contract, filtered by event. */
import { ALL_LOGS, type LogFilter } from '../../query/logs/logFilter';
import { logsAnswerShape } from '../../wire/explorer';
import { requiredAddressParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { EXPLORER, type ExplorerDeps } from '../explorerScope';
import { EVENT_PARAM, topicsOf } from '../logs/eventParam';
import { answerLogs, checkBlockRange, RANGE_PARAMS, TOPIC_PARAMS, TX_PARAM } from '../logs/logParams';

export function contractEvents(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/contracts/:address/events',
    summary: 'Decoded logs of one contract',
    description:
      'The logs of a contract with the names and values of their parameters. The filters choose an event, topics, a transaction or a range of blocks.',
    pathParams: { address: requiredAddressParam('address', 'Address of the contract') },
    query: {
      event: EVENT_PARAM,
      topic1: TOPIC_PARAMS.topic1,
      topic2: TOPIC_PARAMS.topic2,
      topic3: TOPIC_PARAMS.topic3,
      tx_hash: TX_PARAM,
      ...RANGE_PARAMS,
    },
    answer: logsAnswerShape,
    errors: [400, 404, 503],
    check: checkBlockRange,
    async read({ address, event, ...params }, { chainAtHead }) {
      const topics0 =
        event === null || chainAtHead === null ? [] : await topicsOf(deps, chainAtHead, [address], event);
      // An event name that no signature has matches no logs.
      const isUnknownEvent = event !== null && topics0.length === 0;
      const filter: LogFilter = {
        ...ALL_LOGS,
        addresses: [address],
        topics: [topics0, params.topic1 ?? [], params.topic2 ?? [], params.topic3 ?? []],
        txHash: params.tx_hash,
        fromBlock: params.from_block,
        toBlock: params.to_block,
      };
      return answerLogs(deps, chainAtHead, isUnknownEvent ? null : filter, params);
    },
  });
}
