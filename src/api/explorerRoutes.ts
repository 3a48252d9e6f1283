/** Lists the explorer's endpoints. */
import { etherscanRoutes } from './etherscan/etherscanRoutes';
import type { Route } from './route';
import { contract } from './contracts/contract';
import { contractEvents } from './contracts/contractEvents';
import { contracts } from './contracts/contracts';
import type { ExplorerDeps } from './explorerScope';
import { logs } from './logs/logs';
import { search } from './search/search';
import { sourceSearch } from './sources/sourceSearch';
import { tokenHolders } from './tokens/tokenHolders';

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
