/** Compares every bar of the API with the oracle's, for each pair and timeframe. */
import { ask } from '../server/ask';
import { oracleBars, type OracleBar, type OracleSwap } from './oracle';

const TIMEFRAMES: Readonly<Record<string, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
};

interface Bar {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  readonly trades: number;
  readonly buys: number;
}

/** Data for scaling a pair: decimals of token0 and token1, and whether token0 is the base. */
interface PairFacts {
  readonly decimals0: number;
  readonly decimals1: number;
  readonly baseIsToken0: boolean;
}

/** Largest relative difference of two equal prices or volumes. Both sides round floats in another order. */
const ROUNDING_MAX = 1e-9;

const isClose = (a: number, b: number): boolean =>
  Math.abs(a - b) <= ROUNDING_MAX * Math.max(Math.abs(a), Math.abs(b));

function isSame(bar: Bar, expected: OracleBar, { decimals0, decimals1, baseIsToken0 }: PairFacts): boolean {
  const scale = 10 ** decimals0 / 10 ** decimals1;
  const toBasePrice = (raw: number): number => (baseIsToken0 ? raw * scale : 1 / (raw * scale));
  const [high, low] = baseIsToken0 ? [expected.high, expected.low] : [expected.low, expected.high];
  const volume = baseIsToken0
    ? Number(expected.volume0) / 10 ** decimals0
    : Number(expected.volume1) / 10 ** decimals1;
  return (
    isClose(bar.open, toBasePrice(expected.open)) &&
    isClose(bar.close, toBasePrice(expected.close)) &&
    isClose(bar.high, toBasePrice(high)) &&
    isClose(bar.low, toBasePrice(low)) &&
    isClose(bar.volume, volume) &&
    bar.trades === expected.trades &&
    bar.buys === (baseIsToken0 ? expected.outs0 : expected.outs1)
  );
}

/** One line for each missing, extra or different bar. */
export async function findWrongBars(
  url: string,
  swaps: readonly OracleSwap[],
  factsOf: (pair: string) => PairFacts,
): Promise<string[]> {
  const expected = oracleBars(swaps);
  const wrong: string[] = [];
  for (const pair of new Set(swaps.map((swap) => swap.pair))) {
    for (const [timeframe, seconds] of Object.entries(TIMEFRAMES)) {
      const answer = await ask(
        `${url}/api/v1/pairs/${pair}/ticks?timeframe=${timeframe}&currency=quote&limit=1000`,
      );
      const { data } = (await answer.json()) as { data: Bar[] };
      const missingBars = new Map(
        [...expected]
          // Leaves out bars without a priced swap. A swap has no price when its Sync is in another transaction.
          .filter(([key, bar]) => key.startsWith(`${seconds} ${pair} `) && !Number.isNaN(bar.open))
          .map(([key, bar]) => [Number(key.split(' ')[2]), bar]),
      );
      for (const bar of data) {
        const expectedBar = missingBars.get(bar.time);
        missingBars.delete(bar.time);
        if (expectedBar !== undefined && isSame(bar, expectedBar, factsOf(pair))) continue;
        wrong.push(
          `${pair} ${timeframe} ${JSON.stringify(bar)} is not ${expectedBar === undefined ? 'expected' : `trades ${expectedBar.trades}`}`,
        );
      }
      for (const time of missingBars.keys()) wrong.push(`${pair} ${timeframe} ${time} is missing`);
    }
  }
  return wrong;
}
