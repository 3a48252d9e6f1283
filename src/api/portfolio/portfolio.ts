/** GET /api/v1/portfolio/{address}: token balances and liquidity positions of a wallet. */
import { getPortfolio } from '../../query/portfolio/portfolio';
import { portfolioAnswerShape } from '../../wire/portfolio';
import { MARKET, WITHOUT_NODE_MS, type MarketDeps } from '../marketScope';
import { requiredAddressParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';

export function portfolio(deps: MarketDeps): Route {
  const native = { symbol: deps.chain.nativeSymbol, wrapped: deps.chain.wrappedNative };
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/portfolio/:address',
    summary: 'Tokens, native coin and liquidity positions of an address',
    description:
      'The holdings of a wallet and their values in USD as of one block. An unknown wallet gets empty lists and zeros.',
    pathParams: { address: requiredAddressParam('address', 'Address of the wallet') },
    query: {},
    answer: portfolioAnswerShape,
    errors: [400, 503],
    keepMs: ({ data }) => (deps.wallets.node !== null && data.native === null ? WITHOUT_NODE_MS : null),
    async read({ address }, head) {
      const [pairs, unfollowed] = await Promise.all([deps.pairs.at(head), deps.rebasing.at(head)]);
      const holders = deps.holders.ready(head);
      const source = { runner: deps.runner, walletNode: deps.wallets, holders, unfollowed, native };
      return { data: await getPortfolio(source, head, pairs, address) };
    },
  });
}
