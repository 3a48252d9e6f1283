/** Marks of trades on bars. Pure. */
import type { Bar } from '../../wire/ticks';

/** The trades of one side in one bar. */
export interface TradeMark {
  /** Time of the bar. */
  readonly time: number;
  readonly side: 'buy' | 'sell';
  readonly count: number;
}

export interface MakerTrade {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly side: 'buy' | 'sell';
}

/** Adds up trades by bar and side, in the order of the bars. A trade outside of all bars has no mark. */
export function marksOf(
  bars: readonly Pick<Bar, 'time'>[],
  barSeconds: number,
  trades: readonly MakerTrade[],
): TradeMark[] {
  const counts = new Map<string, number>();
  for (const { timestamp, side } of trades) {
    const key = `${timestamp - (timestamp % barSeconds)} ${side}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return bars.flatMap(({ time }) =>
    (['buy', 'sell'] as const).flatMap((side) => {
      const count = counts.get(`${time} ${side}`) ?? 0;
      return count === 0 ? [] : [{ time, side, count }];
    }),
  );
}
