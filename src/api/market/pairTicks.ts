/** GET /api/v1/pairs/{address}/ticks: bars of a pair. */
import { TIMEFRAMES } from '../../domain/timeframes';
import { AppError } from '../../errors';
import { getPairTicks } from '../../query/ticks';
import { CURRENCIES, ticksAnswerShape } from '../../wire/ticks';
import { marketRoute, type MarketDeps } from '../marketRoute';
import { addressParam, flagParam, integerParam, oneOfParam, requiredAddressParam } from '../params';
import type { Route } from '../route';

/** Larger values of `to` are milliseconds. */
const MILLISECONDS_ABOVE = 1e11;
const LIMIT_MAX = 1_000;

export function pairTicks(deps: MarketDeps): Route {
  return marketRoute(deps, {
    path: '/api/v1/pairs/:address/ticks',
    summary: 'Bars (OHLCV) of a pair',
    pathParams: { address: requiredAddressParam('address', 'Pair') },
    query: {
      timeframe: oneOfParam(TIMEFRAMES, { absent: '1h', description: 'Length of a bar' }),
      limit: integerParam({
        min: 1,
        max: LIMIT_MAX,
        absent: 300,
        description: 'At most this many bars, the last ones',
      }),
      to: integerParam({
        min: 0,
        absent: null,
        description: 'Only bars that open before this time: unix seconds, above 1e11 milliseconds',
      }),
      currency: oneOfParam(CURRENCIES, {
        absent: 'usd',
        description: 'Prices in US dollars, or in quote tokens per base token',
      }),
      fill: flagParam('Fill bars without a trade with the close before them'),
      invert: flagParam('Turn base and quote around; only with currency=quote'),
      base: addressParam(
        'base',
        'Base token, of a pool of more than two tokens; default: of the two with the largest weights',
      ),
      quote: addressParam('quote', 'Quote token, of a pool of more than two tokens'),
    },
    answer: ticksAnswerShape,
    errors: [400, 404, 503],
    check({ invert, currency }) {
      if (invert && currency !== 'quote')
        throw new AppError(
          'bad_request',
          `invert: got "true" with currency=${currency}; allowed: with currency=quote`,
        );
    },
    read({ address, to, ...rest }, head) {
      const request = { ...rest, pair: address, to: to === null ? null : toSeconds(to) };
      return getPairTicks({ ...deps, chainId: deps.chain.chainId }, head, request);
    },
  });
}

/** An exclusive bound in seconds; of milliseconds the next whole second, since bars open at whole ones. */
function toSeconds(to: number): number {
  return to > MILLISECONDS_ABOVE ? Math.ceil(to / 1000) : to;
}
