/**
 * Measures calls of the API one by one. Each call alternates with `SELECT 1` over HTTP. The ratio of a figure is its
 * time divided by the time of `SELECT 1`.
 */
import { openDatabase } from '../../src/clickhouse/client/database';
import { percentile, type Figure } from './figure';
import type { ServedApi } from './loaders/servedApi';

export interface Ask {
  readonly name: string;
  /** Target for the 99th percentile of the measured times, in ms. */
  readonly targetMs: number;
  /**
   * Path of request number `index` below `/api/v1`. The parameters of any two requests differ, so that no answer is
   * cached.
   */
  path(index: number): string;
}

/** Number of rounds before the measured ones. */
const WARM_UP = 20;

export async function askFigures(
  api: ServedApi,
  readerUrl: string,
  asks: readonly Ask[],
  rounds: number,
): Promise<Figure[]> {
  const database = openDatabase({ url: readerUrl, maxConnections: 1 });
  const figures: Figure[] = [];
  for (const { name, targetMs, path } of asks) {
    const [servedTimesMs, floorTimesMs]: [number[], number[]] = [[], []];
    for (let index = 0; index < WARM_UP + rounds; index += 1) {
      const floorMs = await timeOf(() => database.select('bench', 'SELECT 1'));
      const servedMs = await timeOf(() => api.drain(`/api/v1${path(index)}`));
      if (index < WARM_UP) continue;
      floorTimesMs.push(floorMs);
      servedTimesMs.push(servedMs);
    }
    const value = percentile(servedTimesMs, 99);
    const limit = percentile(floorTimesMs, 99);
    figures.push({
      name: `${name}, p99 (p50 ${percentile(servedTimesMs, 50).toFixed(1)} ms)`,
      value,
      unit: 'ms',
      limitName: 'SELECT 1 over HTTP',
      limit,
      ratio: value / limit,
      target: `<= ${targetMs} ms`,
      ok: value <= targetMs,
    });
  }
  await database.close();
  return figures;
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
