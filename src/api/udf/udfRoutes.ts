/** Routes of TradingView's data feed under /udf. They share the table of pair names. */
import type { MarketDeps } from '../marketScope';
import type { Route } from '../route';
import { createPairSymbols } from './pairSymbols';
import { udfConfig, udfTime } from './udfConfig';
import { udfHistory } from './udfHistory';
import { udfQuotes } from './udfQuotes';
import { udfSearch, udfSymbols } from './udfSymbols';

export function udfRoutes(deps: MarketDeps): Route[] {
  const symbols = createPairSymbols(deps.pairs);
  return [
    udfConfig(deps.chain),
    udfTime(),
    udfSymbols(deps, symbols),
    udfSearch(deps, symbols),
    udfHistory(deps, symbols),
    udfQuotes(deps, symbols),
  ];
}
