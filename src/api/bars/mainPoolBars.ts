/**
 * Bars of the pool that carries the most weight in a token's price now, for `source=main_pool`. They are the bars of
 * /pairs/{address}/ticks where those have prices of this token in this currency, and else
 * are made from the swaps of the pool.
 */
import { isAddress, type Hex } from '../../domain/hex';
import { pricedAs } from '../../domain/pools/nativeCoin';
import { AppError } from '../../errors';
import { readPoolSideBars } from '../../query/bars/poolSideBars';
import { findPoolLeg } from '../../query/bars/poolLeg';
import { getPairSeries } from '../../query/bars/pairSeries';
import type { TokenSeries, TokenSeriesRequest } from '../../query/bars/tokenSeries';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TokenTicksAnswer } from '../../wire/tokens';
import { readTokenAudit } from '../audit/tokenAudit';
import type { MarketDeps } from '../marketScope';
import { getTokenEntry } from '../tokens/tokenEntry';

/** Throws not_found for a token without a pool. */
export async function getMainPoolBars(
  deps: MarketDeps,
  series: TokenSeries,
  head: HeadSnapshot,
  request: TokenSeriesRequest,
): Promise<TokenTicksAnswer> {
  const { token, currency } = request;
  const mainPool = await findMainPool(deps, head, token);
  if (mainPool === null) {
    const { data, meta } = await series.get(head, request, () =>
      Promise.resolve({ priced: [], neverPriced: true }),
    );
    return { data, meta: { ...meta, pool: null, reason: 'no_main_pool' } };
  }
  const { pool, otherToken } = mainPool;
  const storedPool = await deps.directory.findPool(head, pool);
  if (storedPool === null) throw new AppError('internal', `the pool ${pool} of a price is not stored`);
  const { chain, runner } = deps;
  const { leg, isTurned, base } = findPoolLeg(chain, storedPool.pool, { base: token, quote: otherToken });
  const inNative = currency === 'native';
  if (inNative ? pricedAs(otherToken, chain.wrappedNative) === chain.wrappedNative : !isTurned) {
    const { data, meta } = await getPairSeries(deps, head, {
      ...request,
      pair: pool,
      base: token,
      quote: otherToken,
      currency: inNative ? 'quote' : 'usd',
      invert: false,
    });
    return { data, meta: { ...meta, currency, pool } };
  }
  const source = { runner, chainId: chain.chainId };
  const { data, meta } = await series.get(head, request, (_, choice) =>
    readPoolSideBars(source, head, { ...choice, pair: pool, leg, token: base, inNative }),
  );
  return { data, meta: { ...meta, pool } };
}

interface MainPool {
  readonly pool: Hex;
  /** The token of the pool that the price rests on. */
  readonly otherToken: Hex;
}

/** Null for a token whose price comes from no pool: an anchor, or a token without a price. */
async function findMainPool(deps: MarketDeps, head: HeadSnapshot, token: Hex): Promise<MainPool | null> {
  const entry = await getTokenEntry(deps, token, head);
  const { hops } = await readTokenAudit(deps, head, token, entry, head.number);
  // The pools of a hop are sorted by descending weight.
  const [pool] = hops[0]?.pools ?? [];
  if (pool === undefined) return null;
  const { wrappedNative } = deps.chain;
  const isToken0 = pricedAs(pool.token0, wrappedNative) === pricedAs(token, wrappedNative);
  const otherToken = isToken0 ? pool.token1 : pool.token0;
  return isAddress(pool.address) && isAddress(otherToken) ? { pool: pool.address, otherToken } : null;
}
