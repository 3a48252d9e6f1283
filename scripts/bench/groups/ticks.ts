/**
 * Measures `/pairs/{address}/ticks?limit=300` over many stored swaps, against the same SQL sent directly to
 * ClickHouse. The same run also measures `SELECT 1` and a read of one row by key, for comparison.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase } from '../../../src/clickhouse/client/database';
import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { percentile, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import { loadedPair, type SwapLoad } from '../loaders/swapLoader';
import { measureProcessors } from '../processorFigures';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 400);
const WARM_UP = 60;
/** Number of requests over which processor time is measured: 1,500 by default, because its clock has steps of 10 ms. */
const PROCESSOR_REQUESTS = Math.ceil(3.75 * REQUESTS);
const BARS_LIMIT = 300;
type Timeframe = readonly [name: string, seconds: number];

const TIMEFRAMES: readonly Timeframe[] = [
  ['1m', 60],
  ['15m', 900],
  ['1h', 3600],
];

const SELECT_ONE = 'SELECT 1';
const KEYED_READ = 'SELECT base_is_token0 FROM pools WHERE address = unhex({pair:String}) LIMIT 1';

interface Ask {
  readonly pair: string;
  readonly timeframe: Timeframe;
  /** End of the bars, unix seconds. */
  readonly to: number;
}

/** Makes requests for random timeframes and ends, mostly of pairs that trade much. */
export function createAsks(load: SwapLoad, count: number): Ask[] {
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

/** Milliseconds of each request, by kind. */
interface Times {
  readonly served: number[];
  readonly direct: number[];
  readonly selectOne: number[];
  readonly keyedRead: number[];
}

/** The path of a request for bars in the quote token. The API answers it with one SQL statement. */
export function pathOf({ pair, timeframe: [name], to }: Ask): string {
  return `/api/v1/pairs/0x${pair}/ticks?timeframe=${name}&currency=quote&limit=${BARS_LIMIT}&to=${to}`;
}

async function time(times: number[], isCounted: boolean, run: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await run();
  if (isCounted) times.push(performance.now() - startedAt);
}

export async function benchTicks(
  api: ServedApi,
  load: SwapLoad,
  readerUrl: string,
  enginePid: number,
): Promise<Figure[]> {
  const sql = readFileSync(join(findPackageRoot(), 'clickhouse/queries/bars/list_bars_quote.sql'), 'utf8');
  const database = openDatabase({ url: readerUrl, maxConnections: 1 });
  const times: Times = { served: [], direct: [], selectOne: [], keyedRead: [] };
  // Alternating requests share the machine's noise. Each request is new, so no answer comes from a cache.
  for (const [index, ask] of createAsks(load, WARM_UP + REQUESTS).entries()) {
    const { pair, to } = ask;
    // The limit is the one with which barReader.ts asks for these bars.
    const params = { timeframe: ask.timeframe[1], pair, leg: 1, from: 0, to, limit: BARS_LIMIT * 1.5 + 16 };
    const isCounted = index >= WARM_UP;
    await time(times.selectOne, isCounted, () => database.select('bench', SELECT_ONE));
    await time(times.keyedRead, isCounted, () => database.select('bench', KEYED_READ, { pair }));
    await time(times.direct, isCounted, () => database.select('bench', sql, params));
    await time(times.served, isCounted, () => api.drain(pathOf(ask)));
  }
  await database.close();
  return [
    ticksFigure(times, load, 50),
    ticksFigure(times, load, 99),
    keyedReadFigure(times, 50),
    keyedReadFigure(times, 99),
    ...(await processorFigures(api, load, enginePid)),
  ];
}

/** Processor time of the API and of ClickHouse per request, with new requests one after another. */
function processorFigures(api: ServedApi, load: SwapLoad, enginePid: number): Promise<Figure[]> {
  const asks = createAsks(load, WARM_UP + REQUESTS + PROCESSOR_REQUESTS).slice(WARM_UP + REQUESTS);
  return measureProcessors(api, enginePid, {
    per: `request of ${BARS_LIMIT} bars, ${load.swaps} swaps`,
    count: asks.length,
    unit: 'us',
    limitName: 'time of the request',
    async run() {
      for (const ask of asks) await api.drain(pathOf(ask));
    },
  });
}

function ticksFigure({ served, direct }: Times, load: SwapLoad, percent: 50 | 99): Figure {
  const value = percentile(served, percent);
  const limit = percentile(direct, percent);
  return {
    key: `ticks_p${percent}`,
    name: `ticks, 300 bars, ${load.swaps} swaps, p${percent}`,
    value,
    unit: 'ms',
    limitName: 'the same SQL sent to the engine',
    limit,
    ratio: value / limit,
    target: percent === 99 ? '<= 1.25x limit + 1 ms, <= 10 ms' : '',
    ok: percent !== 99 || (value <= 1.25 * limit + 1 && value <= 10),
  };
}

/**
 * Time of a read of one row by its key, compared with `SELECT 1`. The figure has no target. It shows which part of the
 * time of a ticks request is due to the machine.
 */
function keyedReadFigure({ keyedRead, selectOne }: Times, percent: 50 | 99): Figure {
  const value = percentile(keyedRead, percent);
  const limit = percentile(selectOne, percent);
  const name = `read of one row by its key, for comparison with ticks, p${percent}`;
  return {
    name,
    value,
    unit: 'ms',
    limitName: 'SELECT 1',
    limit,
    ratio: value / limit,
    target: '',
    ok: true,
  };
}
