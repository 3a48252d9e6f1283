/**
 * Measures ticks as the number of stored swaps grows. One API per size answers the same queries in turns, so noise
 * affects all sizes alike.
 */
import { percentile, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import type { SwapLoad } from '../loaders/swapLoader';
import { createAsks, pathOf } from './ticks';

export interface Grown {
  readonly load: SwapLoad;
  readonly readerUrl: string;
  readonly api: ServedApi;
}

const REQUESTS = 600;
const WARM_UP = 100;
const TARGET_RATIO = 1.5;

/**
 * Makes one figure for each size except the first size, whose time is the limit. The value is the p99; the name
 * contains the p50.
 */
export async function benchGrowth(sizes: readonly Grown[]): Promise<Figure[]> {
  const measuredSizes = sizes.map(({ load, api }) => ({
    load,
    api,
    asks: createAsks(load, WARM_UP + REQUESTS),
    times: [] as number[],
  }));
  for (let index = 0; index < WARM_UP + REQUESTS; index += 1) {
    for (const { api, asks, times } of measuredSizes) {
      const ask = asks[index];
      if (ask === undefined) continue;
      const startedAt = performance.now();
      await api.drain(pathOf(ask));
      if (index >= WARM_UP) times.push(performance.now() - startedAt);
    }
  }
  const [smallest, ...larger] = measuredSizes;
  const limit = percentile(smallest?.times ?? [], 99);
  return larger.map(({ load, times }) => {
    const value = percentile(times, 99);
    const medianText = percentile(times, 50).toFixed(1);
    return {
      name: `ticks, 300 bars, ${load.swaps} swaps, ${load.pairs} pairs, p99 (p50 ${medianText} ms)`,
      value,
      unit: 'ms',
      limitName: `the same with ${smallest?.load.swaps} swaps (p50 ${percentile(smallest?.times ?? [], 50).toFixed(1)})`,
      limit,
      ratio: value / limit,
      target: `<= ${TARGET_RATIO}x`,
      ok: value <= TARGET_RATIO * limit,
    };
  });
}
