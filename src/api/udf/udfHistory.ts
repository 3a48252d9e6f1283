/** GET /udf/history: the bars of /pairs/{address}/ticks, paged as TradingView's charting library expects. */
import { TIMEFRAME_SECONDS, type Timeframe } from '../../domain/timeframes';
import { AppError } from '../../errors';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { getPairSeries } from '../../query/bars/pairSeries';
import type { Bar, Currency } from '../../wire/ticks';
import {
  RESOLUTIONS,
  TIMEFRAME_OF_RESOLUTION,
  udfHistoryAnswerShape,
  type UdfHistory,
} from '../../wire/dialects/udf';
import type { MarketDeps } from '../marketScope';
import { integerParam, parsedParam, required } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import type { PairSymbolTables } from './pairSymbols';
import {
  CURRENCY_PARAM,
  currencyOf,
  findChartedPair,
  SYMBOL_PARAM,
  type ChartedPair,
  UDF,
} from './udfParams';

/**
 * Largest number of bars in one answer. A longer range is an error, because a cut answer would look like a gap in the
 * chart.
 */
const BARS_MAX = 20_000;
const BARS_DEFAULT = 300;

/** The charting library sends `D` for `1D`. */
const timeframeOf = (text: string): Timeframe | null =>
  TIMEFRAME_OF_RESOLUTION.get(text === 'D' ? '1D' : text) ?? null;

export function udfHistory(deps: MarketDeps, symbols: PairSymbolTables): Route {
  return route(deps, {
    scope: UDF,
    path: '/udf/history',
    summary: 'TradingView data feed: bars of a pair',
    description:
      'With `countback`, the answer has this number of bars before `to` and ignores `from`. Otherwise ' +
      'it has the bars that open from `from` to before `to`. A range without bars is `no_data`, with ' +
      '`nextTime` if older bars exist.',
    query: {
      symbol: SYMBOL_PARAM,
      resolution: required(
        parsedParam({
          parse: timeframeOf,
          allowed: `one of ${RESOLUTIONS.join(', ')}`,
          doc: { type: 'string', enum: RESOLUTIONS },
          description: 'Length of a bar: minutes, or 1D for a day',
        }),
      ),
      from: integerParam({
        min: Number.MIN_SAFE_INTEGER,
        absent: null,
        description: 'Only bars that open at or after this time, unix seconds; may be negative',
      }),
      to: integerParam({
        min: Number.MIN_SAFE_INTEGER,
        absent: null,
        description: 'Only bars that open before this time, unix seconds; default: up to the newest bar',
      }),
      countback: integerParam({
        min: 1,
        max: BARS_MAX,
        absent: null,
        description: `Number of bars; default: ${BARS_DEFAULT} without from, else all bars of the range`,
      }),
      currencyCode: CURRENCY_PARAM,
    },
    answer: udfHistoryAnswerShape,
    errors: [503],
    check({ from, to, countback }) {
      if (countback === null && from !== null && to !== null && from > to)
        throw new AppError('bad_request', `from: got "${from}"; allowed: at most to (${to})`);
    },
    async read({ symbol, resolution, from, to, countback, currencyCode }, head): Promise<UdfHistory> {
      const pair = await findChartedPair(deps, symbols, head, symbol);
      const currency = currencyOf(pair.quote, currencyCode);
      const chartSeries = { pair, timeframe: resolution, currency };
      const endTime = to === null ? null : Math.max(0, to);
      if (countback !== null || from === null) {
        const bars = await readBars(deps, head, chartSeries, endTime, countback ?? BARS_DEFAULT);
        return bars.length === 0 ? { s: 'no_data' } : toColumns(bars);
      }
      const slotCount = countSlots(head, TIMEFRAME_SECONDS[resolution], from, endTime);
      const newestBars = slotCount === 0 ? [] : await readBars(deps, head, chartSeries, endTime, slotCount);
      const bars = newestBars.filter(({ time }) => time >= from);
      if (bars.length > BARS_MAX)
        throw new AppError(
          'bad_request',
          `from: got "${from}", and the range has more than ${BARS_MAX} bars; allowed: a shorter range, or ` +
            'countback',
        );
      if (bars.length > 0) return toColumns(bars);
      const olderBar =
        newestBars.at(-1) ?? (await readBars(deps, head, chartSeries, Math.max(0, from), 1)).at(-1);
      return olderBar === undefined ? { s: 'no_data' } : { s: 'no_data', nextTime: olderBar.time };
    },
  });
}

interface Series {
  readonly pair: ChartedPair;
  readonly timeframe: Timeframe;
  readonly currency: Currency;
}

/** The last `limit` bars that open before `to`. */
async function readBars(
  deps: MarketDeps,
  head: HeadSnapshot,
  { pair, timeframe, currency }: Series,
  to: number | null,
  limit: number,
): Promise<readonly Bar[]> {
  const plainOptions = { fill: false, invert: false, base: null, quote: null };
  const request = { pair: pair.address, timeframe, limit, to, currency, ...plainOptions };
  const { data } = await getPairSeries(deps, head, request);
  return data;
}

/** Number of bars that open from `from` to before `to`, counted up to BARS_MAX + 1. */
function countSlots(
  { timestamp }: HeadSnapshot,
  barSeconds: number,
  from: number,
  to: number | null,
): number {
  const endTime = Math.min(to ?? Infinity, timestamp + 1);
  const slotCount = Math.ceil(endTime / barSeconds) - Math.ceil(Math.max(0, from) / barSeconds);
  return Math.min(Math.max(0, slotCount), BARS_MAX + 1);
}

function toColumns(bars: readonly Bar[]): UdfHistory {
  return {
    s: 'ok',
    t: bars.map(({ time }) => time),
    o: bars.map(({ open }) => open),
    h: bars.map(({ high }) => high),
    l: bars.map(({ low }) => low),
    c: bars.map(({ close }) => close),
    v: bars.map(({ volume }) => volume),
  };
}
