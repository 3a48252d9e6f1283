/** GET /api/v1/pairs/{address}: details of one pair. */
import { AppError } from '../../errors';
import { readCurveEnd } from '../../query/pairs/curveEnd';
import { toPairDetail } from '../../query/pairs/pairDetail';
import { readPairWindows } from '../../query/pairs/pairWindows';
import { readSplitFees } from '../../query/pairs/protocolFees';
import { askOlderLps } from '../../query/risks/olderLps';
import { pairAnswerShape } from '../../wire/pairs';
import { MARKET, WITHOUT_NODE_MS, type MarketDeps } from '../marketScope';
import { requiredPoolParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';

export function pair(deps: MarketDeps): Route {
  const { node } = deps.wallets;
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/pairs/:address',
    summary: 'Details of one pair',
    description:
      'Tokens, reserves, price, liquidity, volume and price changes of one pair. An address that is no known pair is a 404.',
    pathParams: { address: requiredPoolParam('address', 'Address or id of the pair') },
    query: {},
    answer: pairAnswerShape,
    errors: [400, 404, 503],
    keepMs: ({ data }) => (node !== null && data.flags.includes('supply_unknown') ? WITHOUT_NODE_MS : null),
    async read({ address }, head) {
      const [table, risks] = await Promise.all([deps.pairs.at(head), deps.risks.at(head)]);
      const entry = table.byAddress.get(address);
      if (entry === undefined) throw new AppError('not_found', `there is no pair ${address}`);
      const { chainId } = deps.chain;
      const [windows, olderLps] = await Promise.all([
        readPairWindows(deps.runner, chainId, head, entry.pool, entry.swaps24h),
        askOlderLps(node, head, [entry], risks),
      ]);
      const splitFeesWeek = await readSplitFees(deps.runner, chainId, head, entry, windows.feesWeek);
      const ended = await readCurveEnd(
        deps.runner,
        head,
        entry,
        (key) => table.byAddress.get(key)?.item.address ?? key,
      );
      const risksWithLps = risks.withLps(olderLps);
      const lpFacts = risksWithLps.lpOf(entry.pool);
      return { data: toPairDetail(entry, { ...windows, splitFeesWeek }, lpFacts, risksWithLps, ended) };
    },
  });
}
