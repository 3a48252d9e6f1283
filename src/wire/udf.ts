/** Shapes of the answers under /udf: TradingView's Universal Data Feed, as its charting library expects them. */
import { z } from 'zod';

import { addressShape, countShape, unixSecondsShape } from './primitives';

/** The charting library's names of the six timeframes. */
export const RESOLUTIONS = ['1', '5', '15', '60', '240', '1D'] as const;

/** Any call may return this, with the status 200 that the charting library expects. */
export const udfErrorShape = z
  .object({ s: z.literal('error'), errmsg: z.string() })
  .meta({ id: 'UdfError', description: 'What was wrong with the call; its HTTP status is 200' });

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
    .meta({ description: 'The DEXes; the first, with an empty value, is all of them' }),
  symbols_types: z.array(choiceShape.omit({ desc: true })),
  currency_codes: z.array(z.string()).meta({
    description: 'Beside the quote token of a pair; pass as currencyCode to /udf/symbols and /udf/history',
  }),
});
export type UdfConfig = z.infer<typeof udfConfigShape>;

export const udfSymbolShape = z
  .object({
    name: z.string().meta({
      description:
        'BASE/QUOTE@dex_name; of several pairs with that name only the one made first bears it, the others have #address behind it',
      example: 'WPLS/USDC@pulsex_v2',
    }),
    ticker: addressShape.meta({
      description: 'Address of the pair, which is what the other calls are made with',
    }),
    full_name: z.string(),
    description: z.string(),
    type: z.literal('crypto'),
    session: z.literal('24x7'),
    timezone: z.literal('Etc/UTC'),
    exchange: z.string(),
    listed_exchange: z.string(),
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
    volume_precision: countShape,
    visible_plots_set: z.literal('ohlcv'),
    data_status: z.literal('streaming'),
    currency_code: z.string().meta({ description: 'What the prices are in: USD, or the quote token' }),
    original_currency_code: z.string().meta({
      description: 'The quote token: its symbol, or its address where that is missing or says USD itself',
    }),
  })
  .meta({ id: 'UdfSymbol' });
export type UdfSymbol = z.infer<typeof udfSymbolShape>;
export const udfSymbolAnswerShape = z.union([udfSymbolShape, udfErrorShape]);

export const udfSearchHitShape = z.object({
  symbol: z.string(),
  full_name: z.string(),
  description: z.string(),
  exchange: z.string(),
  ticker: addressShape,
  type: z.literal('crypto'),
});
export type UdfSearchHit = z.infer<typeof udfSearchHitShape>;
export const udfSearchAnswerShape = z.union([z.array(udfSearchHitShape), udfErrorShape]);

const numbers = z.array(z.number());

export const udfHistoryShape = z.discriminatedUnion('s', [
  z
    .object({
      s: z.literal('ok'),
      t: z.array(unixSecondsShape).meta({ description: 'Open times, ascending' }),
      o: numbers,
      h: numbers,
      l: numbers,
      c: numbers,
      v: numbers.meta({ description: 'Base tokens' }),
    })
    .meta({ id: 'UdfBars' }),
  z
    .object({
      s: z.literal('no_data'),
      nextTime: unixSecondsShape
        .optional()
        .meta({ description: 'Open time of the newest bar before `from`; absent: there is none' }),
    })
    .meta({ id: 'UdfNoData' }),
]);
export type UdfHistory = z.infer<typeof udfHistoryShape>;
export const udfHistoryAnswerShape = z.union([udfHistoryShape, udfErrorShape]);

const quoteValuesShape = z.object({
  ch: z.number().nullable().meta({ description: 'Change of the price since the close of the day before' }),
  chp: z.number().nullable().meta({ description: 'The same in percent' }),
  short_name: z.string(),
  exchange: z.string(),
  description: z.string(),
  lp: z.number().meta({ description: 'Last price, in quote tokens: the close of the newest daily bar' }),
  open_price: z.number(),
  high_price: z.number(),
  low_price: z.number(),
  prev_close_price: z.number().nullable(),
  volume: z.number().meta({ description: 'Base tokens since 00:00 UTC' }),
});

export const udfQuoteShape = z.discriminatedUnion('s', [
  z.object({ s: z.literal('ok'), n: z.string(), v: quoteValuesShape }),
  z.object({ s: z.literal('error'), n: z.string(), errmsg: z.string(), v: z.object({}) }),
]);
export type UdfQuote = z.infer<typeof udfQuoteShape>;

export const udfQuotesShape = z.object({ s: z.literal('ok'), d: z.array(udfQuoteShape) });
export type UdfQuotes = z.infer<typeof udfQuotesShape>;
export const udfQuotesAnswerShape = z.union([udfQuotesShape, udfErrorShape]);
