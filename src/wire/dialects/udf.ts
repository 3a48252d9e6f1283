/** Shapes of the answers under /udf: TradingView's Universal Data Feed, as its charting library expects them. */
import { z } from 'zod';

import { TIMEFRAME_SECONDS, TIMEFRAMES, type Timeframe } from '../../domain/timeframes';
import { countShape, poolShape, unixSecondsShape } from '../primitives';

const DAY_SECONDS = 86_400;

/** The charting library's name of a timeframe: its minutes, or its days and a `D`. */
const resolutionOf = (seconds: number): string =>
  seconds % DAY_SECONDS === 0 ? `${seconds / DAY_SECONDS}D` : String(seconds / 60);

export const TIMEFRAME_OF_RESOLUTION: ReadonlyMap<string, Timeframe> = new Map(
  TIMEFRAMES.map((timeframe) => [resolutionOf(TIMEFRAME_SECONDS[timeframe]), timeframe]),
);
export const RESOLUTIONS: readonly string[] = [...TIMEFRAME_OF_RESOLUTION.keys()];

/** An answer that any call may return, with the status 200 that the charting library expects. */
const udfErrorShape = z
  .object({ s: z.literal('error'), errmsg: z.string().meta({ description: 'Error message for people' }) })
  .meta({ id: 'UdfError', description: 'A refused call; its HTTP status is 200' });

const choiceShape = z.object({ value: z.string(), name: z.string(), desc: z.string() });

export const udfConfigShape = z.object({
  supported_resolutions: z.array(z.enum(RESOLUTIONS)),
  supports_search: z.literal(true),
  supports_group_request: z.literal(false),
  supports_marks: z.literal(false),
  supports_timescale_marks: z.literal(false),
  supports_time: z.literal(true),
  exchanges: z
    .array(choiceShape)
    .meta({ description: 'The DEXes; the first item, with an empty value, means all DEXes' }),
  symbols_types: z
    .array(choiceShape.omit({ desc: true }))
    .meta({ description: 'Types of symbols; an empty value means all types' }),
  currency_codes: z.array(z.string()).meta({
    description:
      'Values of currencyCode for /udf/symbols and /udf/history, besides the code of the quote token',
  }),
});
export type UdfConfig = z.infer<typeof udfConfigShape>;

export const udfSymbolShape = z
  .object({
    name: z.string().meta({
      description:
        'BASE/QUOTE@dex_name. If several pairs share this name, the oldest pair keeps it, and the others ' +
        'append #address',
      example: 'WPLS/USDC@pulsex_v2',
    }),
    ticker: poolShape.meta({
      description: 'Address of the pair; the library sends it as `symbol` in all other calls',
    }),
    full_name: z.string().meta({ description: 'EXCHANGE:name' }),
    description: z.string().meta({ description: 'Tokens, DEX and address of the pair' }),
    type: z.literal('crypto'),
    session: z.literal('24x7'),
    timezone: z.literal('Etc/UTC'),
    exchange: z.string().meta({ description: 'Display name of the DEX' }),
    listed_exchange: z.string().meta({ description: 'Display name of the DEX' }),
    format: z.literal('price'),
    minmov: z.literal(1),
    pricescale: z.int().min(1).meta({ description: 'Prices are shown in steps of 1 / pricescale' }),
    has_intraday: z.literal(true),
    intraday_multipliers: z.array(z.string()),
    has_daily: z.literal(true),
    daily_multipliers: z.array(z.string()),
    has_weekly_and_monthly: z.literal(false),
    has_empty_bars: z.literal(false),
    supported_resolutions: z.array(z.enum(RESOLUTIONS)),
    volume_precision: countShape.meta({ description: 'Number of decimal places of the volume' }),
    visible_plots_set: z.literal('ohlcv'),
    data_status: z.literal('streaming'),
    currency_code: z
      .string()
      .meta({ description: 'Currency of the prices: USD, or the code of the quote token' }),
    original_currency_code: z.string().meta({
      description: 'Code of the quote token: its symbol, or its address if the symbol is missing or is USD',
    }),
  })
  .meta({ id: 'UdfSymbol' });
export type UdfSymbol = z.infer<typeof udfSymbolShape>;
export const udfSymbolAnswerShape = z.union([udfSymbolShape, udfErrorShape]);

const udfSearchHitShape = z.object({
  symbol: z.string().meta({ description: 'Name of the pair, as in /udf/symbols' }),
  full_name: z.string().meta({ description: 'EXCHANGE:symbol' }),
  description: z.string().meta({ description: 'Tokens, DEX and address of the pair' }),
  exchange: z.string().meta({ description: 'Display name of the DEX' }),
  ticker: poolShape.meta({ description: 'Address or id of the pair' }),
  type: z.literal('crypto'),
});
export type UdfSearchHit = z.infer<typeof udfSearchHitShape>;
export const udfSearchAnswerShape = z.union([z.array(udfSearchHitShape), udfErrorShape]);

const numbersShape = z.array(z.number());

export const udfHistoryShape = z.discriminatedUnion('s', [
  z
    .object({
      s: z.literal('ok'),
      t: z
        .array(unixSecondsShape)
        .meta({ description: 'Open times of the bars, unix seconds, UTC, ascending' }),
      o: numbersShape.meta({ description: 'Open prices' }),
      h: numbersShape.meta({ description: 'Highest prices' }),
      l: numbersShape.meta({ description: 'Lowest prices' }),
      c: numbersShape.meta({ description: 'Close prices' }),
      v: numbersShape.meta({ description: 'Volumes in whole base tokens' }),
    })
    .meta({ id: 'UdfBars' }),
  z
    .object({
      s: z.literal('no_data'),
      nextTime: unixSecondsShape
        .optional()
        .meta({ description: 'Open time of the newest bar before `from`; absent if there is none' }),
    })
    .meta({ id: 'UdfNoData' }),
]);
export type UdfHistory = z.infer<typeof udfHistoryShape>;
export const udfHistoryAnswerShape = z.union([udfHistoryShape, udfErrorShape]);

const quoteValuesShape = z.object({
  ch: z.number().nullable().meta({
    description: 'lp minus prev_close_price, in quote tokens; null if prev_close_price is null',
  }),
  chp: z
    .number()
    .nullable()
    .meta({ description: 'Change from prev_close_price to lp in percent; null if prev_close_price is null' }),
  short_name: z.string().meta({ description: 'Name of the pair, as in /udf/symbols' }),
  exchange: z.string().meta({ description: 'Display name of the DEX' }),
  description: z.string().meta({ description: 'Tokens, DEX and address of the pair' }),
  lp: z.number().meta({ description: 'Last price in quote tokens: the close of the newest daily bar' }),
  open_price: z.number().meta({ description: 'Open of the newest daily bar, in quote tokens' }),
  high_price: z.number().meta({ description: 'High of the newest daily bar, in quote tokens' }),
  low_price: z.number().meta({ description: 'Low of the newest daily bar, in quote tokens' }),
  prev_close_price: z.number().nullable().meta({
    description: 'Close of the previous daily bar, in quote tokens; null if there is no previous bar',
  }),
  volume: z.number().meta({ description: 'Volume of the newest daily bar, whole base tokens' }),
});

const udfQuoteShape = z.discriminatedUnion('s', [
  z.object({ s: z.literal('ok'), n: z.string(), v: quoteValuesShape }),
  z.object({ s: z.literal('error'), n: z.string(), errmsg: z.string(), v: z.object({}) }),
]);
export type UdfQuote = z.infer<typeof udfQuoteShape>;

export const udfQuotesShape = z.object({ s: z.literal('ok'), d: z.array(udfQuoteShape) });
export type UdfQuotes = z.infer<typeof udfQuotesShape>;
export const udfQuotesAnswerShape = z.union([udfQuotesShape, udfErrorShape]);
