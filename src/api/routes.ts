/** The list of all endpoints. */
import { dexscreenerRoutes } from './dexscreener/dexscreenerRoutes';
import { createExamples } from './examples';
import type { MarketDeps } from './marketRoute';
import { activity } from './market/activity';
import { dex } from './market/dex';
import { dexes } from './market/dexes';
import { overview } from './market/overview';
import { pair } from './market/pair';
import { pairs } from './market/pairs';
import { pairTicks } from './market/pairTicks';
import { portfolio } from './market/portfolio';
import { token } from './market/token';
import { tokenAudit } from './market/tokenAudit';
import { tokenPools } from './market/tokenPools';
import { tokens } from './market/tokens';
import { tokenTicks } from './market/tokenTicks';
import { openapi } from './openapi';
import type { Route } from './route';
import { llms } from './service/llms';
import { udfRoutes } from './udf/udfRoutes';

/** `others`: endpoints that need more than the market's dependencies, such as health, metrics and the stream. */
export function listRoutes(market: MarketDeps, others: readonly Route[]): Route[] {
  const routes = [
    overview(market),
    tokens(market),
    token(market),
    tokenPools(market),
    tokenAudit(market),
    tokenTicks(market),
    pairs(market),
    pair(market),
    pairTicks(market),
    dexes(market),
    dex(market),
    portfolio(market),
    activity(market),
    ...udfRoutes(market),
    ...dexscreenerRoutes(market),
    ...others,
  ];
  const described = [...routes, llms(routes)];
  return [...described, openapi(described, createExamples(market))];
}
