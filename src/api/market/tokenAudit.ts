/** GET /api/v1/tokens/{address}/audit: how a token's price came about, as of a block. */
import { AppError } from '../../errors';
import { findBlockTime } from '../../query/blockTimes';
import { toAudit } from '../../query/tokenAudit';
import { auditAnswerShape } from '../../wire/tokens';
import { marketRoute, type MarketDeps } from '../marketRoute';
import { badParam, integerParam } from '../params';
import type { Route } from '../route';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

export function tokenAudit(deps: MarketDeps): Route {
  return marketRoute(deps, {
    path: '/api/v1/tokens/:address/audit',
    summary: 'How the price of a token came about',
    pathParams: TOKEN_PATH_PARAMS,
    query: {
      block: integerParam({
        min: 0,
        absent: null,
        description: 'As of the end of this block; default: the newest indexed one',
      }),
    },
    answer: auditAnswerShape,
    errors: [400, 404, 503],
    async read({ address, block }, head) {
      const { chainId } = deps.chain;
      if (block !== null && block > head.number)
        throw badParam('block', String(block), `up to the newest indexed block, ${head.number}`);
      const entry = await getTokenEntry(deps, address, head);
      const number = block ?? head.number;
      const { firstSeenBlock } = entry.facts;
      if (number < firstSeenBlock)
        throw new AppError('not_found', `the first pool of ${address} was seen in block ${firstSeenBlock}`);
      const timestamp = await findBlockTime(deps.runner, chainId, head, number);
      if (timestamp === null) throw new AppError('not_found', `block ${number} is not indexed`);
      return { data: toAudit(entry, chainId, deps.chain, { number, timestamp }) };
    },
  });
}
