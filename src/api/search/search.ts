/** GET /api/v1/search: finds contracts, tokens, pairs, transactions, blocks, DEXes and signatures by a search text. */
import { searchAll } from '../../query/search/search';
import { searchAnswerShape } from '../../wire/explorer';
import { checkSearched, required, textParam } from '../params';
import type { Route } from '../route';
import { asOf, explorerRoute, OFFSET_PARAMS, type ExplorerDeps } from '../explorerRoute';

export function search(deps: ExplorerDeps): Route {
  return explorerRoute(deps, {
    path: '/api/v1/search',
    summary: 'Objects that a search text can mean, best match first',
    description:
      'Names rank by the match: the whole name, the start of the name, the start of a word, any other ' +
      'part. Verified contracts and then higher log counts break ties. Log counts are at most ten ' +
      'minutes old. The search ranks at most 100 tokens, 100 pairs, 200 verified contracts and 20 ' +
      'signatures. Tokens with more logs and pairs with more liquidity have priority.',
    query: {
      q: required(
        textParam({ max: 128, description: 'An address, a hash, a block number, a selector or a name' }),
      ),
      ...OFFSET_PARAMS,
    },
    answer: searchAnswerShape,
    errors: [400, 503],
    check({ q }) {
      checkSearched(q);
    },
    async read({ q, limit, offset }, chainId, moment) {
      const hits =
        moment === null
          ? []
          : await searchAll(
              { ...deps, ...deps.namesOf(chainId) },
              {
                source: moment.chain,
                logCounts: moment.chain.logCounts,
                directory: moment.chain.directory,
                head: moment.head,
              },
              q,
            );
      const data = hits.slice(offset, offset + limit);
      return { success: true as const, data, meta: { limit, offset, total: hits.length, ...asOf(moment) } };
    },
  });
}
