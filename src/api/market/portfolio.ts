/** GET /api/v1/portfolio/{address}: what a wallet holds. */
import { getPortfolio } from '../../query/portfolio';
import { portfolioAnswerShape } from '../../wire/portfolio';
import { marketRoute, type MarketDeps } from '../marketRoute';
import { requiredAddressParam } from '../params';
import type { Route } from '../route';

export function portfolio(deps: MarketDeps): Route {
  return marketRoute(deps, {
    path: '/api/v1/portfolio/:address',
    summary: 'Tokens and liquidity positions of an address',
    pathParams: { address: requiredAddressParam('address', 'Wallet') },
    query: {},
    answer: portfolioAnswerShape,
    errors: [400, 503],
    async read({ address }, head) {
      return { data: await getPortfolio(deps.runner, head, await deps.pairs.at(head), address) };
    },
  });
}
