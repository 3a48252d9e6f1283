/** GET /api/v1/logs: logs of any contracts, filtered by emitter, topics, blocks or transaction. */
import { logsAnswerShape } from '../../wire/explorer';
import type { Route } from '../route';
import { explorerRoute, type ExplorerDeps } from '../explorerRoute';
import { ADDRESSES_PARAM, answerLogs, checkRange, RANGE_PARAMS, TOPIC_PARAMS, TX_PARAM } from './logParams';

export function logs(deps: ExplorerDeps): Route {
  return explorerRoute(deps, {
    path: '/api/v1/logs',
    summary: 'Decoded logs of any contracts',
    description:
      'All given filters must match. Without `address`, `topic0` and `tx_hash`, one call searches at ' +
      'most 10,000 blocks, and `next_cursor` continues the search.',
    query: { address: ADDRESSES_PARAM, ...TOPIC_PARAMS, tx_hash: TX_PARAM, ...RANGE_PARAMS },
    answer: logsAnswerShape,
    errors: [400, 404, 503],
    check: checkRange,
    read: (params, _chainId, moment) =>
      answerLogs(
        deps,
        moment,
        {
          addresses: params.address ?? [],
          topics: [params.topic0 ?? [], params.topic1 ?? [], params.topic2 ?? [], params.topic3 ?? []],
          either: [],
          txHash: params.tx_hash,
          fromBlock: params.from_block,
          toBlock: params.to_block,
        },
        params,
      ),
  });
}
