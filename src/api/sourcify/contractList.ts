/** Sourcify's list of verified contracts of a chain, API version 2. Pages continue after a match id. */
import { z } from 'zod';

import { answering } from '../answering';
import type { DialectDeps } from '../etherscan/action';
import { chainParam, questionOf } from '../explorerScope';
import { textParam } from '../params';
import type { Route, RouteContext } from '../route';
import { invalid, sourcifyRefusal, shortenText } from './refusals';
import { minimalOf } from './sourcifyFields';

const LIMIT_MAX = 200;

const statusShape = z.enum(['exact_match', 'match']);
const listShape = z.object({
  results: z.array(
    z.object({
      matchId: z.string(),
      match: statusShape,
      creationMatch: statusShape.nullable(),
      runtimeMatch: statusShape,
      chainId: z.string(),
      address: z.string(),
      verifiedAt: z.string(),
    }),
  ),
});

export function contractList(deps: DialectDeps): Route {
  return {
    path: '/v2/contracts/:chainId',
    doc: {
      summary: 'The verified contracts of a chain, in the format of Sourcify',
      description:
        'The answer is {results}. The next page is `afterMatchId` with the last matchId of the page. A new ' +
        'verification of a contract has a larger matchId.',
      tag: 'explorer',
      path: { chainId: chainParam(deps.chainIds) },
      query: {
        sort: textParam({
          max: 4,
          description: '`desc` (default): the newest first. `asc`: the oldest first',
        }),
        limit: textParam({
          max: 3,
          description: `Contracts per page, 1 to ${LIMIT_MAX}; default ${LIMIT_MAX}`,
        }),
        afterMatchId: textParam({ max: 20, description: 'The last matchId of the page before' }),
      },
      answer: listShape,
      errors: [400, 503],
    },
    handle: answering(deps.cache, (ctx) => {
      const { chainId: chainText = '' } = ctx.params;
      const chainId = deps.chainIds.find((id) => String(id) === chainText);
      if (chainId === undefined)
        throw sourcifyRefusal(
          ctx,
          400,
          'unsupported_chain',
          `The chain with chainId ${shortenText(chainText)} is not supported`,
        );
      const { limit, newestFirst, afterMatchId } = readPage(ctx);
      const requestKey = `sourcify list ${limit} ${newestFirst} ${afterMatchId}`;
      return questionOf(deps, ctx, chainId, requestKey, async () => {
        const rows = await deps.verifiedList.listVerified({ chainId, limit, newestFirst, afterMatchId });
        const results = rows.map(({ contract: address, status, verified_at, match_id, creation_match }) =>
          minimalOf({
            chainId,
            address,
            status,
            verifiedAt: verified_at,
            matchId: match_id,
            creationMatch: creation_match === '' ? null : creation_match,
          }),
        );
        return { results };
      });
    }),
  };
}

function readPage(ctx: RouteContext): { limit: number; newestFirst: boolean; afterMatchId: string } {
  const query = new URLSearchParams(ctx.querystring);
  const sort = query.get('sort') ?? 'desc';
  if (sort !== 'asc' && sort !== 'desc')
    throw invalid(ctx, `sort: got "${shortenText(sort)}"; allowed: asc, desc`);
  const limitText = query.get('limit') ?? String(LIMIT_MAX);
  const limit = /^\d{1,3}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > LIMIT_MAX)
    throw invalid(ctx, `limit: got "${shortenText(limitText)}"; allowed: an integer from 1 to ${LIMIT_MAX}`);
  const afterMatchId = query.get('afterMatchId') ?? '0';
  if (!/^\d{1,18}$/.test(afterMatchId))
    throw invalid(
      ctx,
      `afterMatchId: got "${shortenText(afterMatchId)}"; allowed: the matchId of a contract`,
    );
  return { limit, newestFirst: sort === 'desc', afterMatchId };
}
