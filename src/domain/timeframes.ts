/** The six timeframes of bars, by name and in seconds. A bar covers the time from its open (included) to open
 * + seconds (excluded), aligned to UTC. */

export const TIMEFRAME_SECONDS = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
} as const;

export type Timeframe = keyof typeof TIMEFRAME_SECONDS;

export const TIMEFRAMES = ['1m', '5m', '15m', '1h', '4h', '1d'] as const satisfies readonly Timeframe[];
