/** `/pairs/{address}/ticks?limit=300` over many stored swaps, against the same SQL sent straight to the engine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase } from '../../src/clickhouse/database';
import { findPackageRoot } from '../../src/clickhouse/packageRoot';
import { percentile, type Figure } from './figure';
import type { ServedApi } from './servedApi';
import { loadedPair, type SwapLoad } from './swapLoader';

const REQUESTS = 400;
const WARM_UP = 60;
const LIMIT = 300;
const TIMEFRAMES: readonly (readonly [string, number])[] = [
  ['1m', 60],
  ['15m', 900],
  ['1h', 3600],
];

interface Ask {
  readonly pair: string;
  readonly timeframe: readonly [string, number];
  readonly to: number;
}

function createAsks(load: SwapLoad, count: number): Ask[] {
  let state = 42;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  return Array.from({ length: count }, () => ({
    pair: loadedPair(Math.min(load.pairs - 1, Math.floor(load.pairs ** random()) - 1)),
    timeframe: TIMEFRAMES[Math.floor(random() * TIMEFRAMES.length)] ?? ['1h', 3600],
    to: Math.floor(load.from + (0.3 + 0.7 * random()) * load.days * 86_400),
  }));
}

export async function benchTicks(api: ServedApi, load: SwapLoad, readerUrl: string): Promise<Figure[]> {
  const sql = readFileSync(join(findPackageRoot(), 'clickhouse/queries/ticks/list_bars.sql'), 'utf8');
  const database = openDatabase({ url: readerUrl, maxConnections: 1 });
  const direct: number[] = [];
  const served: number[] = [];
  // Alternating, so that the machine's noise meets both alike; each ask is new, so that no answer comes from a cache.
  for (const [index, ask] of createAsks(load, WARM_UP + REQUESTS).entries()) {
    const [name, seconds] = ask.timeframe;
    const params = {
      timeframe: seconds,
      pair: ask.pair,
      leg: 1,
      from: 0,
      to: ask.to,
      limit: LIMIT * 1.5 + 16,
      usd: false,
    };
    const directAt = performance.now();
    await database.select('bench', sql, params);
    const directMs = performance.now() - directAt;
    const servedAt = performance.now();
    await api.get(
      `/api/v1/pairs/0x${ask.pair}/ticks?timeframe=${name}&currency=quote&limit=${LIMIT}&to=${ask.to}`,
    );
    const servedMs = performance.now() - servedAt;
    if (index < WARM_UP) continue;
    direct.push(directMs);
    served.push(servedMs);
  }
  await database.close();
  const figure = (p: number): Figure => {
    const value = percentile(served, p);
    const limit = percentile(direct, p);
    const target = p === 99 ? '<= 2x, <= 15 ms' : '';
    const ok = p !== 99 || (value <= 2 * limit && value <= 15);
    const name = `ticks, 300 bars, ${load.swaps} swaps, p${p}`;
    return {
      name,
      value,
      unit: 'ms',
      limitName: 'the same SQL to the engine',
      limit,
      ratio: value / limit,
      target,
      ok,
    };
  };
  return [figure(50), figure(99)];
}
