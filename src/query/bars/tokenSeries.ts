/** Builds the answer of /tokens/{address}/ticks: bars of a token over all its pools as of a snapshot. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Hex } from '../../domain/hex';
import { TIMEFRAME_SECONDS, type Timeframe } from '../../domain/timeframes';
import type { TokenCurrency, TokenTicksAnswer } from '../../wire/tokens';
import type { BarsRead } from './barPages';
import { readBars, type BarRows } from './barReader';
import type { Directory } from '../tokens/directory';
import type { HeadSnapshot } from '../head/headSnapshot';
import { toSeries } from './chartSeries';
import { tokenBars } from './tokenBars';
import { tokenRefOf } from '../tokens/tokens';

/** Largest time in the database, whose times are unix seconds of 32 bits. */
const TIME_MAX = 4_294_967_295;

const REASONS = { usd: 'no_usd_price', native: 'no_native_price' } as const;

export interface TokenSeriesRequest {
  readonly token: Hex;
  readonly timeframe: Timeframe;
  /** 1–1000. */
  readonly limit: number;
  /** Exclusive bound on the open time of a bar, unix seconds; null means no bound. */
  readonly to: number | null;
  readonly currency: TokenCurrency;
  readonly fill: boolean;
  /** Whether each bar opens at the close of the bar before it; default: false. */
  readonly continuous?: boolean;
}

interface TokenSeriesSource {
  readonly runner: QueryRunner;
  /** The wrapped native token; null if not configured, so that native prices do not exist. */
  readonly wrappedNative: Hex | null;
  readonly directory: Directory;
}

/** Which bars to read: at least `barsWanted` bars that open before `beforeTime` (unix seconds), each of `barSeconds`. */
interface BarRequest {
  readonly barSeconds: number;
  readonly beforeTime: number;
  readonly barsWanted: number;
}

/** Reads bars of another source than the token's swaps. `rows` reads the bars of the swaps. */
export type ReadTokenBars = (rows: BarRows, barRequest: BarRequest) => Promise<BarsRead>;

export interface TokenSeries {
  /**
   * The last `limit` bars of a token that open before `to`. An answer without `reason` means that a pool of the
   * snapshot holds the token. With a `reason`, the address may not be a token at all.
   */
  get(
    head: HeadSnapshot,
    request: TokenSeriesRequest,
    readOwnBars?: ReadTokenBars,
  ): Promise<TokenTicksAnswer>;
}

export function createTokenSeries(source: TokenSeriesSource): TokenSeries {
  return {
    async get(head, request, read) {
      const { token, currency, timeframe } = request;
      const barSeconds = TIMEFRAME_SECONDS[timeframe];
      const to = Math.min(request.to ?? TIME_MAX, TIME_MAX);
      const barRows = tokenBars(source.runner, head, token, currency);
      const quoteToken = currency === 'usd' ? null : source.wrappedNative;
      const barsWanted = request.limit + 1;
      const [tokens, { priced, neverPriced, partial = false }] = await Promise.all([
        source.directory.listTokens(quoteToken === null ? [token] : [token, quoteToken]),
        read === undefined
          ? readBars(barRows, head, barSeconds, to, barsWanted)
          : read(barRows, { barSeconds, beforeTime: to, barsWanted }),
      ]);
      const baseToken = tokenRefOf(tokens, token);
      const series = toSeries(priced, {
        ...request,
        barSeconds,
        to,
        partial,
        headTimestamp: head.timestamp,
        // The bars of a token have the form of a pair's USD bars: prices are per whole token, and the token's amounts
        // are in the fields of token0.
        currency: 'usd',
        invert: false,
        baseIsToken0: true,
        decimals0: baseToken.decimals ?? 0,
        decimals1: 0,
      });
      return {
        data: series.data,
        meta: {
          timeframe,
          currency,
          base_token: baseToken,
          quote_token: quoteToken === null ? null : tokenRefOf(tokens, quoteToken),
          next_to: series.nextTo,
          no_data: priced.length === 0,
          ...(neverPriced
            ? { reason: baseToken.decimals === null ? 'unknown_decimals' : REASONS[currency] }
            : {}),
          as_of_block: head.number,
          as_of_timestamp: head.timestamp,
        },
      };
    },
  };
}
