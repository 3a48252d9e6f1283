/** GET /api/v1/dexes: all DEXes by volume. */
import { dexesAnswerShape } from '../../wire/dexes';
import { listMeta, PAGE_PARAMS, skipOf } from '../listMeta';
import { MARKET, type MarketDeps } from '../marketScope';
import type { Route } from '../route';
import { route } from '../scope';

export function dexes(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/dexes',
    summary: 'DEXes, highest 24 h volume first',
    description: 'Each DEX of the chain with its volume, liquidity, swaps and number of pairs.',
    query: PAGE_PARAMS,
    answer: dexesAnswerShape,
    errors: [400, 503],
    async read(params, head) {
      const { items } = await deps.dexes.at(head);
      const skip = skipOf(params);
      return {
        data: items.slice(skip, skip + params.limit),
        meta: listMeta(params, items.length, head),
      };
    },
  });
}
