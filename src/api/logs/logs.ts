/** GET /api/v1/logs: logs of any contracts, filtered by emitter, topics, blocks or transaction. */
import type { LogFilter } from '../../query/logs/logFilter';
import { logsAnswerShape } from '../../wire/explorer';
import type { Route } from '../route';
import { route } from '../scope';
import { EXPLORER, type ExplorerDeps } from '../explorerScope';
import { EVENT_PARAM, topicsOf } from './eventParam';
import {
  ADDRESSES_PARAM,
  answerLogs,
  checkBlockRange,
  RANGE_PARAMS,
  TOPIC_PARAMS,
  TX_PARAM,
} from './logParams';

export function logs(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/logs',
    summary: 'Decoded logs of any contracts',
    description:
      'All given filters must match. Without `address`, `topic0`, `event` and `tx_hash`, one call searches at ' +
      'most 10,000 blocks, and `next_cursor` continues the search.',
    query: {
      address: ADDRESSES_PARAM,
      event: EVENT_PARAM,
      ...TOPIC_PARAMS,
      tx_hash: TX_PARAM,
      ...RANGE_PARAMS,
    },
    answer: logsAnswerShape,
    errors: [400, 404, 503],
    check: checkBlockRange,
    async read(params, { chainAtHead }) {
      const { address, event, topic0 } = params;
      const hasEvent = event !== null && chainAtHead !== null;
      const eventTopics = hasEvent ? await topicsOf(deps, chainAtHead, address ?? [], event) : null;
      // With both an event and topic0, only topics that both name. An empty list means any topic.
      const topics0 = eventTopics?.filter((topic) => topic0?.includes(topic) ?? true) ?? topic0 ?? [];
      const matchesNothing = eventTopics !== null && topics0.length === 0;
      const filter: LogFilter = {
        addresses: address ?? [],
        topics: [topics0, params.topic1 ?? [], params.topic2 ?? [], params.topic3 ?? []],
        either: [],
        txHash: params.tx_hash,
        fromBlock: params.from_block,
        toBlock: params.to_block,
      };
      return answerLogs(deps, chainAtHead, matchesNothing ? null : filter, params);
    },
  });
}
