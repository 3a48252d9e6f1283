/** Every endpoint, in one flat list. */
import type { MarketDeps } from './marketRoute';
import { activity } from './market/activity';
import { pair } from './market/pair';
import { pairs } from './market/pairs';
import { pairTicks } from './market/pairTicks';
import { openapi } from './openapi';
import type { Route } from './route';

/** `others`: endpoints that need more than the market does (health, metrics, the stream), made by main. */
export function listRoutes(market: MarketDeps, others: readonly Route[]): Route[] {
  const routes = [pairs(market), pair(market), pairTicks(market), activity(market), ...others];
  return [...routes, openapi(routes)];
}
