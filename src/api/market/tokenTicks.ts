/** GET /api/v1/tokens/{address}/ticks: bars of a token over all its pools. */
import { TIMEFRAMES } from '../../domain/timeframes';
import { AppError } from '../../errors';
import { listTokens, tokenRefOf } from '../../query/tokens';
import { toEmptyTicks } from '../../query/tokenTicks';
import { TOKEN_CURRENCIES, tokenTicksAnswerShape } from '../../wire/tokens';
import { marketRoute, type MarketDeps } from '../marketRoute';
import { flagParam, integerParam, oneOfParam } from '../params';
import type { Route } from '../route';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

const LIMIT_MAX = 1_000;

export function tokenTicks(deps: MarketDeps): Route {
  return marketRoute(deps, {
    path: '/api/v1/tokens/:address/ticks',
    summary: 'Bars (OHLCV) of a token over all its pools',
    pathParams: TOKEN_PATH_PARAMS,
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
      currency: oneOfParam(TOKEN_CURRENCIES, {
        absent: 'usd',
        description: 'Prices in US dollars, or in the native token',
      }),
      fill: flagParam('Fill bars without a trade with the close before them'),
      invert: flagParam('Only for pairs: true is refused here'),
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
    async read({ address, timeframe, currency }, head) {
      const { item } = await getTokenEntry(deps, address, head);
      const { wrappedNative } = deps.chain;
      const known = await listTokens(deps.runner, wrappedNative === null ? [] : [wrappedNative]);
      const native = wrappedNative === null ? null : tokenRefOf(known, wrappedNative);
      const { symbol, decimals } = item;
      return toEmptyTicks({ address, symbol, decimals }, native, currency, timeframe, head);
    },
  });
}
