/** GET /api/v1/tokens/{address}/pools: the pairs that hold a token, by liquidity. */
import { listPairs } from '../../query/pairs/pairList';
import { flaggedPair } from '../../query/risks/riskTable';
import { pairsAnswerShape } from '../../wire/pairs';
import { listMeta, PAGE_PARAMS, skipOf } from '../listMeta';
import { MARKET, type MarketDeps } from '../marketScope';
import type { Route } from '../route';
import { route } from '../scope';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

export function tokenPools(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/tokens/:address/pools',
    summary: 'Pairs of a token, most liquidity first',
    description: 'Every pair that holds the token, with price, liquidity and volume of the pair.',
    pathParams: TOKEN_PATH_PARAMS,
    query: PAGE_PARAMS,
    answer: pairsAnswerShape,
    errors: [400, 404, 503],
    async read(params, head) {
      const [{ pairs }, risks] = await Promise.all([
        getTokenEntry(deps, params.address, head),
        deps.risks.at(head),
      ]);
      const sortedPairs = listPairs(
        pairs,
        { searchText: null, dex: null, token: null },
        'liquidity_usd',
        'desc',
      );
      const skip = skipOf(params);
      return {
        data: sortedPairs.slice(skip, skip + params.limit).map((entry) => flaggedPair(entry, risks)),
        meta: listMeta(params, sortedPairs.length, head),
      };
    },
  });
}
