/** Builds the answer of /pairs/{address}/ticks: bars of a pair as of a snapshot. */
import { pricedAs } from '../../domain/pools/nativeCoin';
import type { ChainDescription } from '../../domain/chainDescription';
import type { Hex } from '../../domain/hex';
import { TIMEFRAME_SECONDS, type Timeframe } from '../../domain/timeframes';
import { AppError } from '../../errors';
import type { Currency, TicksAnswer } from '../../wire/ticks';
import type { BarsRead } from './barPages';
import { readBars } from './barReader';
import type { Directory } from '../tokens/directory';
import type { HeadSnapshot } from '../head/headSnapshot';
import { legBars, type LegBarsSource } from './legBars';
import type { PairTables } from '../pairs/pairTable';
import { findPoolLeg } from './poolLeg';
import { toSeries } from './chartSeries';
import { tokenRefOf } from '../tokens/tokens';

/** The leg of pools with two tokens: 256 · 0 + 1. */
const ONLY_LEG = 1;
/** Largest time in the database, whose times are unix seconds of 32 bits. */
const TIME_MAX = 4_294_967_295;

export interface PairSeriesRequest {
  readonly pair: Hex;
  readonly timeframe: Timeframe;
  /** 1–1000. */
  readonly limit: number;
  /** Exclusive bound on the open time of a bar, unix seconds; null means no bound. */
  readonly to: number | null;
  readonly currency: Currency;
  readonly fill: boolean;
  /** Whether the base and quote tokens are exchanged. Allowed only with currency `quote`. */
  readonly invert: boolean;
  /** Whether each bar opens at the close of the bar before it; default: false. */
  readonly continuous?: boolean;
  /**
   * Two tokens of the pool, as base and quote. Null means the pool's own base and quote, which are its token0 and
   * token1.
   */
  readonly base: Hex | null;
  readonly quote: Hex | null;
}

export interface PairSeriesSource extends LegBarsSource {
  readonly directory: Directory;
  /**
   * The tables of pairs. They are read to find out whether a token has a USD price now. If absent, every token counts as
   * one without a price.
   */
  readonly pairs?: Pick<PairTables, 'at'>;
  readonly chain: Pick<ChainDescription, 'anchors' | 'wrappedNative' | 'majors'>;
}

/**
 * Distinguishes a pair without trades from a pair whose quote token has no USD price. Only in the second case the
 * answer has a `reason`.
 */
async function hasUsdPrice({ pairs }: PairSeriesSource, head: HeadSnapshot, token: string): Promise<boolean> {
  return pairs !== undefined && (await pairs.at(head)).prices.now(token).usd !== null;
}

/** The last `limit` bars below `to` of a pair. Throws not_found for an address without a pool. */
export async function getPairSeries(
  source: PairSeriesSource,
  head: HeadSnapshot,
  request: PairSeriesRequest,
): Promise<TicksAnswer> {
  const { directory, chain } = source;
  const barSeconds = TIMEFRAME_SECONDS[request.timeframe];
  const to = Math.min(request.to ?? TIME_MAX, TIME_MAX);
  const readLeg = (leg: number): Promise<BarsRead> => {
    const barRows = legBars(source, head, { pair: request.pair, leg }, request.currency === 'usd');
    return readBars(barRows, head, barSeconds, to, request.limit + 1);
  };
  // Nearly all pools have two tokens. Their only leg is therefore read in parallel with the pool.
  const onlyLegBars = readLeg(ONLY_LEG);
  onlyLegBars.catch(() => undefined);
  const storedPool = await directory.findPool(head, request.pair);
  if (storedPool === null) throw new AppError('not_found', `there is no pair ${request.pair}`);
  const { pool, tokens } = storedPool;
  const poolLeg = findPoolLeg(chain, pool, request);
  if (poolLeg.isTurned && request.currency === 'usd')
    throw new AppError(
      'bad_request',
      request.base === null
        ? `quote: got "${request.quote}"; allowed with currency=usd: the default quote token`
        : `base: got "${request.base}"; allowed with currency=usd: the default base token`,
    );
  const bars = await (poolLeg.leg === ONLY_LEG ? onlyLegBars : readLeg(poolLeg.leg));
  const token0 = tokenRefOf(tokens, poolLeg.token0);
  const token1 = tokenRefOf(tokens, poolLeg.token1);
  // A price needs the decimals of both tokens.
  const hasDecimals = token0.decimals !== null && token1.decimals !== null;
  const pricedBars = hasDecimals ? bars.priced : [];
  const isInverted = request.invert !== poolLeg.isTurned;
  const quoteToken = poolLeg.baseIsToken0 ? poolLeg.token1 : poolLeg.token0;
  const lacksUsdPrice =
    bars.neverPriced &&
    request.currency === 'usd' &&
    !(await hasUsdPrice(source, head, pricedAs(quoteToken, chain.wrappedNative)));
  const reason = !hasDecimals ? 'unknown_decimals' : lacksUsdPrice ? 'no_usd_price' : null;
  const series = toSeries(pricedBars, {
    ...request,
    invert: isInverted,
    barSeconds,
    to,
    headTimestamp: head.timestamp,
    baseIsToken0: poolLeg.baseIsToken0,
    decimals0: token0.decimals ?? 0,
    decimals1: token1.decimals ?? 0,
  });
  const baseIsToken0 = poolLeg.baseIsToken0 !== isInverted;
  return {
    data: series.data,
    meta: {
      timeframe: request.timeframe,
      currency: request.currency,
      base_token: baseIsToken0 ? token0 : token1,
      quote_token: request.currency === 'usd' ? null : baseIsToken0 ? token1 : token0,
      next_to: series.nextTo,
      no_data: pricedBars.length === 0,
      ...(reason === null ? {} : { reason }),
      as_of_block: head.number,
      as_of_timestamp: head.timestamp,
    },
  };
}
