/** GET /api/v1/contracts: contracts by name, kind and verification. */
import { CONTRACT_KINDS } from '../../query/contracts/contractFacts';
import { CONTRACT_SORTS } from '../../query/contracts/contracts';
import { toSummaries } from '../../query/contracts/contractRecord';
import { ORDERS } from '../../query/pairs/rankings';
import { contractsAnswerShape } from '../../wire/explorer';
import { checkSearched, oneOfParam, parsedParam, searchParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { asOf, EXPLORER, OFFSET_PARAMS, totalOf, type ExplorerDeps } from '../explorerScope';

export function contracts(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/contracts',
    summary: 'List of contracts',
    description:
      'Contracts with indexed logs or verified sources. The parameters search by name or address, filter and sort.',
    query: {
      q: searchParam({ max: 64, description: 'Part of a name or symbol, or the start of an address' }),
      verified: parsedParam({
        parse: (text) => (text === 'true' ? 'yes' : text === 'false' ? 'no' : null),
        allowed: 'true or false',
        doc: { type: 'boolean' },
        description: 'Only contracts with (true) or without (false) verified source; default: all contracts',
      }),
      type: parsedParam({
        parse: (text) => CONTRACT_KINDS.find((kind) => kind === text) ?? null,
        allowed: `one of ${CONTRACT_KINDS.join(', ')}`,
        doc: { type: 'string', enum: CONTRACT_KINDS },
        description: 'Only contracts of this type; default: all types',
      }),
      sort: oneOfParam(CONTRACT_SORTS, {
        absent: 'created_at',
        description: 'Field to sort by. With created_at, contracts with an unknown creation come last',
      }),
      order: oneOfParam(ORDERS, { absent: 'desc', description: 'Order of the sort' }),
      ...OFFSET_PARAMS,
    },
    answer: contractsAnswerShape,
    errors: [400, 503],
    check({ q }) {
      checkSearched(q);
    },
    async read({ q, verified, type, sort, order, limit, offset }, { chainId, chainAtHead }) {
      const question = {
        q,
        verified: verified === null ? null : verified === 'yes',
        kind: type,
        sort,
        order,
      };
      const { addresses, total } = await deps.contracts.list(chainId, { ...question, limit, skip: offset });
      const data =
        chainAtHead === null
          ? []
          : await toSummaries(deps, { source: chainAtHead.chain, head: chainAtHead.head }, addresses);
      return {
        success: true as const,
        data,
        meta: { limit, offset, ...totalOf(total, true), ...asOf(chainAtHead) },
      };
    },
  });
}
