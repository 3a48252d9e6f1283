/** GET /api/v1/contracts/{address}: everything known about a contract. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { silentFacts, type ContractFacts } from '../../query/contracts/contractFacts';
import { toRecord } from '../../query/contracts/contractRecord';
import { withCode } from '../../query/contracts/nodeCode';
import { contractAnswerShape } from '../../wire/explorer';
import { requiredAddressParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { EXPLORER, type ExplorerDeps } from '../explorerScope';

export function contract(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/contracts/:address',
    summary: 'One contract: code, source, proxy, creation, token and pair',
    description:
      'All known facts of the contract at an address. The facts that the service does not know are null.',
    pathParams: { address: requiredAddressParam('address', 'Address of the contract') },
    query: {},
    answer: contractAnswerShape,
    errors: [400, 404, 503],
    async read({ address }, { chainId, chainAtHead }) {
      const facts =
        chainAtHead === null ? null : await findContract(deps, chainId, address, chainAtHead.head.version);
      if (facts === null || chainAtHead === null)
        throw new AppError('not_found', `there is no contract at ${address} on chain ${chainId}`);
      const sourceAtHead = { source: chainAtHead.chain, head: chainAtHead.head };
      return { success: true as const, data: await toRecord(deps, sourceAtHead, facts) };
    },
  });
}

/**
 * The facts about a contract, even if it has code but no logs. Null if the address is not a contract.
 */
async function findContract(
  deps: ExplorerDeps,
  chainId: number,
  address: Hex,
  head: string,
): Promise<ContractFacts | null> {
  const facts = await deps.contracts.find(chainId, address);
  if (facts !== null) return facts;
  if ((await deps.verified.find({ chainId, address }, null)) !== null) return silentFacts(chainId, address);
  const code = (await deps.nodeCodeOf?.(chainId)?.get(address, head)) ?? null;
  return code === null ? null : withCode(chainId, address, null, code);
}
