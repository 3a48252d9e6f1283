/**
 * What the endpoints under /udf have in common: they are market endpoints whose refusals are `{s: "error", errmsg}` with
 * status 200, since the charting library reads bodies, not statuses; and empty parameters, which it sends, are absent.
 */
import { AppError } from '../../errors';
import { marketRoute, type MarketDeps, type MarketEndpoint } from '../marketRoute';
import type { Params } from '../params';
import type { Route } from '../route';

export function udfRoute<Q extends Params, Answer>(
  deps: MarketDeps,
  endpoint: Omit<MarketEndpoint<Record<never, never>, Q, Answer>, 'errors' | 'tag'>,
): Route {
  const route = marketRoute(deps, { ...endpoint, tag: 'udf', errors: [503] });
  return {
    ...route,
    async handle(ctx): Promise<void> {
      const given = [...new URLSearchParams(ctx.querystring)].filter(([, text]) => text !== '');
      ctx.querystring = new URLSearchParams(given).toString();
      try {
        await route.handle(ctx);
      } catch (error) {
        if (!(error instanceof AppError) || !['bad_request', 'not_found'].includes(error.code)) throw error;
        ctx.type = 'application/json';
        ctx.body = Buffer.from(JSON.stringify({ s: 'error', errmsg: error.message }));
      }
    },
  };
}
