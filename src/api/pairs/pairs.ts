/** GET /api/v1/pairs: all pairs, filtered and sorted, by page. */
import type { Hex } from '../../domain/hex';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { HOOK_FILTERS, listPairs, PAIR_SORTS } from '../../query/pairs/pairList';
import type { PairTable } from '../../query/pairs/pairTable';
import { ORDERS } from '../../query/pairs/rankings';
import { flaggedPair } from '../../query/risks/riskTable';
import { pairsAnswerShape, type PairItem } from '../../wire/pairs';
import { POOL_BATCH_PARAMS, listBatch } from '../batch';
import { listMeta, minLiquidityParam, PAGE_PARAMS, skipOf } from '../listMeta';
import { MARKET, type ChainFacts, type MarketDeps } from '../marketScope';
import {
  addressParam,
  badParam,
  checkSearched,
  oneOfParam,
  parsedParam,
  searchParam,
  textParam,
} from '../params';
import type { Route } from '../route';
import { route } from '../scope';

/** Length of the id of a pool. */
const QUERY_LENGTH_MAX = 66;
const DEX_LENGTH_MAX = 64;

export function pairs(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/pairs',
    summary: 'List of pairs',
    description:
      'Every pair with its price, liquidity, volume and price changes. The parameters search, filter and sort; `addresses` asks for named pairs.',
    query: {
      ...PAGE_PARAMS,
      ...POOL_BATCH_PARAMS,
      q: searchParam({
        max: QUERY_LENGTH_MAX,
        description: 'Start of a pair or token address, or part of a symbol or name',
      }),
      dex: textParam({
        max: DEX_LENGTH_MAX,
        description: 'Only pairs of the DEX with this dex_name, in any letter case',
      }),
      token: addressParam('token', 'Only pairs that hold this token'),
      hooks: parsedParam({
        parse: (text) => HOOK_FILTERS.find((filter) => filter === text) ?? null,
        allowed: `one of ${HOOK_FILTERS.join(', ')}`,
        doc: { type: 'string', enum: HOOK_FILTERS },
        description:
          'Only pools without a hook (none), with any hook, or with a hook that has this permission',
      }),
      sort: oneOfParam(PAIR_SORTS, { absent: 'volume_24h_usd', description: 'Field to sort by' }),
      order: oneOfParam(ORDERS, {
        absent: 'desc',
        description: 'Order of the sort; nulls come last in both orders',
      }),
      min_liquidity_usd: minLiquidityParam('pairs'),
    },
    answer: pairsAnswerShape,
    errors: [400, 503],
    check({ q }) {
      checkSearched(q);
    },
    async read(params, head: HeadSnapshot) {
      const [table, risks] = await Promise.all([deps.pairs.at(head), deps.risks.at(head)]);
      if (params.addresses !== null) {
        const find = (address: Hex): PairItem | undefined => {
          const entry = table.byAddress.get(address);
          return entry === undefined ? undefined : flaggedPair(entry, risks);
        };
        return listBatch(find, params.addresses, head);
      }
      const dex = params.dex === null ? null : checkDex(params.dex, deps.chain, table);
      const matchingPairs = listPairs(
        table.entries,
        {
          searchText: params.q,
          dex,
          token: params.token,
          hooks: params.hooks,
          minLiquidityUsd: params.min_liquidity_usd,
        },
        params.sort,
        params.order,
      );
      const skip = skipOf(params);
      return {
        data: matchingPairs.slice(skip, skip + params.limit).map((entry) => flaggedPair(entry, risks)),
        meta: listMeta(params, matchingPairs.length, head),
      };
    },
  });
}

/** Returns the name of the DEX in lower case. For an unknown DEX, throws bad_request with the list of known
 * names. */
function checkDex(dex: string, chain: ChainFacts, table: PairTable): string {
  const dexNames = new Set([
    ...chain.dexes.map(({ name }) => name),
    ...table.entries.map(({ pool }) => pool.dex),
  ]);
  const lowerName = dex.toLowerCase();
  if ([...dexNames].some((name) => name.toLowerCase() === lowerName)) return lowerName;
  throw badParam('dex', dex, `one of ${[...dexNames].sort().join(', ')}`);
}
