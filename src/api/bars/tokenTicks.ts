/** GET /api/v1/tokens/{address}/ticks: bars of a token over all its pools. */
import { AppError } from '../../errors';
import { createTokenTicks } from '../../query/bars/tokenTicks';
import { TOKEN_CURRENCIES, tokenTicksAnswerShape } from '../../wire/tokens';
import { marketRoute, type MarketDeps } from '../marketRoute';
import { flagParam, oneOfParam } from '../params';
import type { Route } from '../route';
import { BAR_RANGE_PARAMS, toSeconds } from './barRange';
import { getTokenEntry, TOKEN_PATH_PARAMS } from '../tokens/tokenEntry';

export function tokenTicks(deps: MarketDeps): Route {
  const { runner, chain, directory } = deps;
  const { wrappedNative } = chain;
  const ticks = createTokenTicks({ runner, wrappedNative, directory });
  return marketRoute(deps, {
    path: '/api/v1/tokens/:address/ticks',
    summary: 'Bars (OHLCV) of a token over all its pools, ascending',
    pathParams: TOKEN_PATH_PARAMS,
    query: {
      ...BAR_RANGE_PARAMS,
      currency: oneOfParam(TOKEN_CURRENCIES, {
        absent: 'usd',
        description: 'Prices in US dollars, or in native coins, per whole token',
      }),
      invert: flagParam('Only pairs can be inverted: true is a 400 here'),
    },
    answer: tokenTicksAnswerShape,
    errors: [400, 404, 503],
    check({ invert, currency }) {
      if (invert)
        throw new AppError(
          'bad_request',
          `invert: got "true" with currency=${currency}; allowed: only for pairs with currency=quote`,
        );
    },
    async read({ address, timeframe, limit, to, currency, fill, continuous }, head) {
      const answer = await ticks.get(head, {
        token: address,
        timeframe,
        limit,
        to: toSeconds(to),
        currency,
        fill,
        continuous,
      });
      // A token that has bars exists. If there are no bars, this throws not_found for a token that is in no
      // pool.
      if (answer.meta.reason !== undefined) await getTokenEntry(deps, address, head);
      return answer;
    },
  });
}
