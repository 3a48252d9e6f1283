/** GET /api/v1/tokens/{address}/ticks: bars of a token over all its pools. */
import { TIMEFRAMES } from '../../domain/timeframes';
import { AppError } from '../../errors';
import { createTokenTicks, tokenBarsAnswerShape } from '../../query/tokenTicks';
import { TOKEN_CURRENCIES } from '../../wire/tokens';
import { marketRoute, type MarketDeps } from '../marketRoute';
import { flagParam, integerParam, oneOfParam } from '../params';
import type { Route } from '../route';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

/** Larger values of `to` are milliseconds. */
const MILLISECONDS_ABOVE = 1e11;
const LIMIT_MAX = 1_000;

export function tokenTicks(deps: MarketDeps): Route {
  const { runner, chain } = deps;
  const ticks = createTokenTicks({ runner, chainId: chain.chainId, wrappedNative: chain.wrappedNative });
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
    answer: tokenBarsAnswerShape,
    errors: [400, 404, 503],
    check({ invert, currency }) {
      if (invert)
        throw new AppError(
          'bad_request',
          `invert: got "true" with currency=${currency}; allowed: only for pairs with currency=quote`,
        );
    },
    async read({ address, timeframe, limit, to, currency, fill }, head) {
      const bound = to === null ? null : toSeconds(to);
      const answer = await ticks.get(head, { token: address, timeframe, limit, to: bound, currency, fill });
      // Whatever has a bar is in a pool; only what never had one is looked up among all tokens.
      if (answer.meta.reason !== undefined) await getTokenEntry(deps, address, head);
      return answer;
    },
  });
}

/** An exclusive bound in seconds; of milliseconds the next whole second, since bars open at whole ones. */
function toSeconds(to: number): number {
  return to > MILLISECONDS_ABOVE ? Math.ceil(to / 1000) : to;
}
