/** The explorer's endpoints. */
import { etherscanRoutes } from '../etherscan/etherscanRoutes';
import type { Route } from '../route';
import { contract } from './contract';
import { contractEvents } from './contractEvents';
import { contracts } from './contracts';
import type { ExplorerDeps } from './explorerRoute';
import { logs } from './logs';
import { search } from './search';
import { sourceSearch } from './sourceSearch';

export function explorerRoutes(deps: ExplorerDeps): Route[] {
  return [
    contracts(deps),
    contract(deps),
    contractEvents(deps),
    logs(deps),
    search(deps),
    sourceSearch(deps),
    ...etherscanRoutes(deps),
  ];
}
