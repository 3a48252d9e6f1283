/** GET /api/v1/tokens: all tokens in pools, searched and sorted, by page. */
import { ORDERS } from '../../query/pairs/rankings';
import { listTokenEntries, TOKEN_SORTS } from '../../query/tokens/tokenList';
import { tokensAnswerShape } from '../../wire/tokens';
import { TOKEN_BATCH_PARAMS, listBatch } from '../batch';
import { listMeta, minLiquidityParam, PAGE_PARAMS, skipOf } from '../listMeta';
import { MARKET, type MarketDeps } from '../marketScope';
import { checkSearched, oneOfParam, parsedParam, searchParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';

const QUERY_LENGTH_MAX = 64;

export function tokens(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/tokens',
    summary: 'List of tokens in pools',
    description:
      'Every token that at least one pool holds, with its price, liquidity, volume and price changes. The parameters search, filter and sort; `addresses` asks for the prices of named tokens.',
    query: {
      ...PAGE_PARAMS,
      ...TOKEN_BATCH_PARAMS,
      q: searchParam({
        max: QUERY_LENGTH_MAX,
        description: 'A token address, or part of a symbol or name. Without sort, the best match comes first',
      }),
      sort: parsedParam({
        parse: (text) => TOKEN_SORTS.find((sort) => sort === text) ?? null,
        allowed: `one of ${TOKEN_SORTS.join(', ')}`,
        doc: { type: 'string', enum: TOKEN_SORTS, default: 'volume_24h_usd' },
        description: 'Field to sort by',
      }),
      order: oneOfParam(ORDERS, {
        absent: 'desc',
        description: 'Order of the sort; nulls come last in both orders. Ignored with q and without sort',
      }),
      min_liquidity_usd: minLiquidityParam('tokens'),
    },
    answer: tokensAnswerShape,
    errors: [400, 503],
    check({ q }) {
      checkSearched(q);
    },
    async read(params, head) {
      const { entries, byAddress } = await deps.tokens.at(head);
      if (params.addresses !== null)
        return listBatch((address) => byAddress.get(address)?.item, params.addresses, head);
      const matchingTokens = listTokenEntries(entries, {
        ...params,
        minLiquidityUsd: params.min_liquidity_usd,
      });
      const skip = skipOf(params);
      return {
        data: matchingTokens.slice(skip, skip + params.limit).map(({ item }) => item),
        meta: listMeta(params, matchingTokens.length, head),
      };
    },
  });
}
