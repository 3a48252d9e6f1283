/** GET /api/v1/pairs/{address}/ticks: bars of a pair. */
import { AppError } from '../../errors';
import { getPairSeries } from '../../query/bars/pairSeries';
import { CURRENCIES, ticksAnswerShape } from '../../wire/ticks';
import { MARKET, type MarketDeps } from '../marketScope';
import { addressParam, flagParam, oneOfParam, requiredPoolParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { BAR_RANGE_PARAMS, toSeconds } from './barRange';

export function pairTicks(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/pairs/:address/ticks',
    summary: 'Bars (OHLCV) of a pair, ascending',
    description:
      'Open, high, low, close and volume of each timeframe, made of the trades of this pair. `to` and `meta.next_to` page back in time. `currency` and `invert` choose the units of the prices.',
    pathParams: { address: requiredPoolParam('address', 'Address or id of the pair') },
    query: {
      ...BAR_RANGE_PARAMS,
      currency: oneOfParam(CURRENCIES, {
        absent: 'usd',
        description: 'Prices in US dollars, or in quote tokens, per base token',
      }),
      invert: flagParam('Exchanges base and quote; only with currency=quote'),
      base: addressParam(
        'base',
        'Base token in a pool of more than two tokens; default: base_token of /pairs',
      ),
      quote: addressParam(
        'quote',
        'Quote token in a pool of more than two tokens; default: quote_token of /pairs',
      ),
    },
    answer: ticksAnswerShape,
    errors: [400, 404, 503],
    check({ invert, currency }) {
      if (invert && currency !== 'quote')
        throw new AppError(
          'bad_request',
          `invert: got "true" with currency=${currency}; allowed: only with currency=quote`,
        );
    },
    read({ address, to, ...otherParams }, head) {
      const request = { ...otherParams, pair: address, to: toSeconds(to) };
      return getPairSeries(deps, head, request);
    },
  });
}
