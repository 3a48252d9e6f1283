/** GET /api/v1/dexes/{dex_name}: one DEX, its top pairs and its daily figures. */
import { z } from 'zod';

import { AppError } from '../../errors';
import { getDexHistory } from '../../query/dexes/dexHistory';
import { topPairs } from '../../query/dexes/dexItem';
import { flaggedPair } from '../../query/risks/riskTable';
import { dexAnswerShape } from '../../wire/dexes';
import { MARKET, type MarketDeps } from '../marketScope';
import { integerParam, type Param } from '../params';
import type { Route } from '../route';
import { route } from '../scope';

const TOP_PAIRS_MAX = 10;
const DAYS_MAX = 365;
/** The error shows at most this many characters of the caller's text. */
const SHOWN_MAX = 80;

const DEX_NAME: Param<string> = {
  schema: z.string(),
  absent: 'required',
  allowed: 'a dex_name of /dexes',
  doc: { type: 'string', example: 'pulsex_v2' },
  description: 'Name of the DEX (dex_name), in any letter case',
};

export function dex(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/dexes/:dex_name',
    summary: 'One DEX with its top pairs and daily history',
    description:
      'The totals of one DEX, its pairs with the highest volume, and its volume and liquidity of each day. The list of DEXes gives the names.',
    pathParams: { dex_name: DEX_NAME },
    query: {
      days: integerParam({
        min: 1,
        max: DAYS_MAX,
        absent: 30,
        description: 'Number of UTC days in the history',
      }),
    },
    answer: dexAnswerShape,
    errors: [400, 404, 503],
    async read({ dex_name, days }, head) {
      const [{ items }, { entries }, risks] = await Promise.all([
        deps.dexes.at(head),
        deps.pairs.at(head),
        deps.risks.at(head),
      ]);
      const slug = dex_name.toLowerCase();
      const item = items.find((candidate) => candidate.dex_name.toLowerCase() === slug);
      if (item === undefined)
        throw new AppError('not_found', `there is no DEX with the name "${dex_name.slice(0, SHOWN_MAX)}"`);
      const history = await getDexHistory(deps.runner, deps.chain.chainId, head, item, days);
      const topPairItems = topPairs(entries, item.dex_name, TOP_PAIRS_MAX).map((entry) =>
        flaggedPair(entry, risks),
      );
      return { data: { ...item, top_pairs: topPairItems, history } };
    },
  });
}
