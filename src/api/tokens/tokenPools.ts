/** GET /api/v1/tokens/{address}/pools: the pairs that hold a token, by liquidity. */
import { listPairs } from '../../query/pairs/pairList';
import { pairsAnswerShape } from '../../wire/pairs';
import { listMeta, PAGE_PARAMS, skipOf } from '../listMeta';
import { marketRoute, type MarketDeps } from '../marketRoute';
import type { Route } from '../route';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

export function tokenPools(deps: MarketDeps): Route {
  return marketRoute(deps, {
    path: '/api/v1/tokens/:address/pools',
    summary: 'Pairs of a token, most liquidity first',
    pathParams: TOKEN_PATH_PARAMS,
    query: PAGE_PARAMS,
    answer: pairsAnswerShape,
    errors: [400, 404, 503],
    async read(params, head) {
      const { pairs } = await getTokenEntry(deps, params.address, head);
      const found = listPairs(pairs, { q: null, dex: null, token: null }, 'liquidity_usd', 'desc');
      const skip = skipOf(params);
      return {
        data: found.slice(skip, skip + params.limit).map(({ item }) => item),
        meta: listMeta(params, found.length, head),
      };
    },
  });
}
