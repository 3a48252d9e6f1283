/** The lists of all endpoints: those of the market, and those of the explorer. */
import { dexscreenerRoutes } from './dexscreener/dexscreenerRoutes';
import { createExamples } from './examples';
import type { MarketDeps } from './marketScope';
import { activity } from './activity/activity';
import { dex } from './dexes/dex';
import { dexes } from './dexes/dexes';
import { overview } from './overview/overview';
import { pair } from './pairs/pair';
import { pairs } from './pairs/pairs';
import { pairTicks } from './bars/pairTicks';
import { portfolio } from './portfolio/portfolio';
import { token } from './tokens/token';
import { tokenAudit } from './audit/tokenAudit';
import { tokenPools } from './tokens/tokenPools';
import { tokens } from './tokens/tokens';
import { tokenTicks } from './bars/tokenTicks';
import { openapi } from './openapi';
import type { Route } from './route';
import { llms } from './service/llms';
import { udfRoutes } from './udf/udfRoutes';
import { etherscanRoutes } from './etherscan/etherscanRoutes';
import { contract } from './contracts/contract';
import { contractEvents } from './contracts/contractEvents';
import { contracts } from './contracts/contracts';
import type { ExplorerDeps } from './explorerScope';
import { logs } from './logs/logs';
import { search } from './search/search';
import { sourceSearch } from './sources/sourceSearch';
import { tokenHolders } from './tokens/tokenHolders';

/**
 * `otherRoutes` are endpoints that need more than the market's dependencies, such as health, metrics and the stream.
 * `hasChains` makes the document say that paths may name a chain.
 */
export function listRoutes(
  market: MarketDeps,
  otherRoutes: readonly Route[],
  { hasChains }: { readonly hasChains: boolean } = { hasChains: false },
): Route[] {
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
    ...otherRoutes,
  ];
  const describedRoutes = [...routes, llms(routes)];
  const chainId = hasChains ? market.chain.chainId : null;
  return [...describedRoutes, openapi(describedRoutes, createExamples(market), chainId)];
}

export function explorerRoutes(deps: ExplorerDeps): Route[] {
  return [
    contracts(deps),
    contract(deps),
    contractEvents(deps),
    logs(deps),
    search(deps),
    sourceSearch(deps),
    tokenHolders(deps),
    ...etherscanRoutes(deps),
  ];
}
