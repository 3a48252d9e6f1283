/**
 * Shared by the endpoints under /udf. Errors are `{s: "error", errmsg}` with status 200, because TradingView's
 * charting library reads bodies and ignores statuses. Empty parameters count as absent, because the library sends
 * them.
 */
import { Refusal } from '../answering';
import { marketRoute, type MarketDeps, type MarketEndpoint } from '../marketRoute';
import type { Params } from '../params';
import type { Route } from '../route';

export function udfRoute<Q extends Params, Answer>(
  deps: MarketDeps,
  endpoint: Omit<MarketEndpoint<Record<never, never>, Q, Answer>, 'errors' | 'tag'>,
): Route {
  const route = marketRoute(deps, { ...endpoint, tag: 'udf', errors: [503] }, ({ code, message }) =>
    ['bad_request', 'not_found'].includes(code) ? new Refusal(200, { s: 'error', errmsg: message }) : null,
  );
  return {
    ...route,
    handle(ctx) {
      const given = [...new URLSearchParams(ctx.querystring)].filter(([, text]) => text !== '');
      ctx.querystring = new URLSearchParams(given).toString();
      return route.handle(ctx);
    },
  };
}
