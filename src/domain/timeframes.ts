/**
 * The only list of the timeframes of bars, by name and in seconds, the shortest first. Schema, queries, API and page take
 * them from here. A bar covers the time from its open (included) to open + seconds (excluded), aligned to UTC.
 */

export const TIMEFRAME_SECONDS = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
} as const;

export type Timeframe = keyof typeof TIMEFRAME_SECONDS;

const isTimeframe = (name: string): name is Timeframe => Object.hasOwn(TIMEFRAME_SECONDS, name);

export const TIMEFRAMES: readonly Timeframe[] = Object.keys(TIMEFRAME_SECONDS).filter(isTimeframe);
