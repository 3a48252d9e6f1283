/** GET /api/v1/search: finds contracts, tokens, pairs, transactions, blocks, DEXes and signatures by a search text. */
import { searchAll } from '../../query/search/search';
import { searchAnswerShape } from '../../wire/explorer';
import { checkSearched, required, searchParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { asOf, EXPLORER, OFFSET_PARAMS, totalOf, type ExplorerDeps } from '../explorerScope';

export function search(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/search',
    summary: 'Objects that a search text can mean, best match first',
    description:
      'Names rank by the match: the whole name, the start of the name, the start of a word, any other ' +
      'part. Verified contracts and then higher log counts, as of the indexed block, break ties. The search ranks at most 100 tokens, 100 pairs, 200 verified contracts and 20 ' +
      'signatures. Tokens with more logs and pairs with more liquidity have priority.',
    query: {
      q: required(
        searchParam({ max: 128, description: 'An address, a hash, a block number, a selector or a name' }),
      ),
      ...OFFSET_PARAMS,
    },
    answer: searchAnswerShape,
    errors: [400, 503],
    check({ q }) {
      checkSearched(q);
    },
    async read({ q, limit, offset }, { chainId, chainAtHead }) {
      const { hits, isWhole } =
        chainAtHead === null
          ? { hits: [], isWhole: true }
          : await searchAll(
              { ...deps, ...deps.namesOf(chainId) },
              {
                source: chainAtHead.chain,
                logCounts: chainAtHead.chain.logCounts,
                directory: chainAtHead.chain.directory,
                head: chainAtHead.head,
              },
              q,
            );
      const data = hits.slice(offset, offset + limit);
      const meta = { limit, offset, ...totalOf(hits.length, isWhole), ...asOf(chainAtHead) };
      return { success: true as const, data, meta };
    },
  });
}
