/** GET /api/v1/overview: totals of the whole market. */
import { getOverview } from '../../query/overview/overview';
import { overviewAnswerShape } from '../../wire/overview';
import { MARKET, type MarketDeps } from '../marketScope';
import type { Route } from '../route';
import { route } from '../scope';

export function overview(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/overview',
    summary: 'Totals of the whole market',
    description:
      'Volume, liquidity, transactions, traders, active pools and the gas price, as of the newest indexed block, and which part of the stored chain is proven.',
    query: {},
    answer: overviewAnswerShape,
    errors: [503],
    async read(_, head) {
      const [pairs, dexes] = await Promise.all([deps.pairs.at(head), deps.dexes.at(head)]);
      const { chainId, burn, logo = null } = deps.chain;
      const sources = { pairs, dexes, proven: deps.proven, burn, logo };
      return { data: await getOverview(deps.runner, chainId, head, sources) };
    },
  });
}
