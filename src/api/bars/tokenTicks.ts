/**
 * GET /api/v1/tokens/{address}/ticks: bars of a token over all its pools, of its published price, or of the pool that
 * carries the most weight in this price.
 */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { readPathBars } from '../../query/bars/pathBars';
import { createTokenSeries, type ReadTokenBars, type TokenSeriesRequest } from '../../query/bars/tokenSeries';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { TOKEN_CURRENCIES, TOKEN_SOURCES, tokenTicksAnswerShape } from '../../wire/tokens';
import { MARKET, type MarketDeps } from '../marketScope';
import { flagParam, oneOfParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { getTokenEntry, TOKEN_PATH_PARAMS } from '../tokens/tokenEntry';
import { BAR_RANGE_PARAMS, toSeconds } from './barRange';
import { getMainPoolBars } from './mainPoolBars';

export function tokenTicks(deps: MarketDeps): Route {
  const { runner, chain, directory } = deps;
  const { wrappedNative } = chain;
  const series = createTokenSeries({ runner, wrappedNative, directory });
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/tokens/:address/ticks',
    summary: 'Bars (OHLCV) of a token over all its pools, ascending',
    description:
      'Open, high, low, close and volume of each timeframe. `to` and `meta.next_to` page back in time; `source` chooses between trades of all pools, the published price and the main pool.',
    pathParams: TOKEN_PATH_PARAMS,
    query: {
      ...BAR_RANGE_PARAMS,
      currency: oneOfParam(TOKEN_CURRENCIES, {
        absent: 'usd',
        description: 'Prices in US dollars, or in native coins, per whole token',
      }),
      source: oneOfParam(TOKEN_SOURCES, {
        absent: 'all',
        description:
          'Prices of the swaps in all pools (all), the published price after each block in which it changed (path), or the bars of the pool that carries the most weight in the price now (main_pool)',
      }),
      invert: flagParam('Only pairs can be inverted: true is a 400 here'),
    },
    answer: tokenTicksAnswerShape,
    errors: [400, 404, 503],
    check({ invert, currency }) {
      if (invert)
        throw new AppError(
          'bad_request',
          `invert: got "true" with currency=${currency}; allowed: only for pairs with currency=quote`,
        );
    },
    async read({ address, source, to, invert: _, ...otherParams }, head) {
      const request = { ...otherParams, token: address, to: toSeconds(to) };
      if (source === 'main_pool') return getMainPoolBars(deps, series, head, request);
      if (source === 'path') return series.get(head, request, await pathReader(deps, head, request));
      const answer = await series.get(head, request);
      // A token that has bars exists. If there are no bars, this throws not_found for a token that is in no
      // pool.
      if (answer.meta.reason !== undefined) await getTokenEntry(deps, address, head);
      return answer;
    },
  });
}

/** Reads bars of the published price. Throws not_found for a token without a pool. */
async function pathReader(
  deps: MarketDeps,
  head: HeadSnapshot,
  { token, currency }: TokenSeriesRequest,
): Promise<ReadTokenBars> {
  const { runner, chain } = deps;
  const { firstSeenBlock } = await getTokenEntry(deps, token, head);
  const source = { runner, chainId: chain.chainId, sources: chain };
  const firstBlock = Math.max(firstSeenBlock, head.startBlock);
  const nativeToken: Hex | null = currency === 'native' ? chain.wrappedNative : null;
  return async (swapBars, barRequest) => {
    if (currency === 'native' && nativeToken === null) return { priced: [], neverPriced: true };
    return readPathBars(source, head, { ...barRequest, token, native: nativeToken, firstBlock }, swapBars);
  };
}
