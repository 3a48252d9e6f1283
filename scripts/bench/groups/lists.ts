/**
 * Measures lists and the audit over many stored swaps. The tables of the head are ready, and parameters vary so that
 * no answer is cached. `SELECT 1` over HTTP at the same time is the limit.
 */
import { openDatabase } from '../../../src/clickhouse/client/database';
import { percentile, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import { loadedPair, loadedToken, type SwapLoad } from '../loaders/swapLoader';

const ROUNDS = 80;
const WARM_UP = 10;

interface Ask {
  readonly name: string;
  readonly target: number;
  path(index: number): string;
}

/** Parameters differ in every round, so no answer is cached. */
function listAsks(): Ask[] {
  const page = (index: number): number => 1 + (index % 90);
  const limit = (index: number): number => 10 + (index % 90);
  return [
    { name: '/tokens', target: 20, path: (i) => `/tokens?page=${page(i)}&limit=${limit(i * 7)}` },
    {
      name: '/pairs',
      target: 20,
      path: (i) => `/pairs?page=${page(i)}&limit=${limit(i * 7)}&sort=liquidity_usd`,
    },
    { name: '/dexes', target: 20, path: () => '/dexes' },
    { name: '/overview', target: 20, path: () => '/overview' },
    { name: '/activity', target: 20, path: (i) => `/activity?limit=${limit(i * 7)}` },
    {
      name: '/activity of a pair',
      target: 20,
      path: (i) => `/activity?pair=0x${loadedPair((i * 37) % 9_000)}&limit=${limit(i * 7)}`,
    },
    {
      name: '/tokens/{a}/audit',
      target: 30,
      path: (i) => `/tokens/0x${loadedToken((i * 37) % 4_000)}/audit`,
    },
    { name: '/tokens/{a}', target: 20, path: (i) => `/tokens/0x${loadedToken((i * 37) % 4_000)}` },
    { name: '/pairs/{a}', target: 20, path: (i) => `/pairs/0x${loadedPair((i * 37) % 9_000)}` },
    {
      name: '/tokens/{a}/ticks',
      target: 20,
      path: (i) => `/tokens/0x${loadedToken((i * 37) % 4_000)}/ticks?limit=${200 + i}`,
    },
  ];
}

export async function benchLists(api: ServedApi, load: SwapLoad, readerUrl: string): Promise<Figure[]> {
  const database = openDatabase({ url: readerUrl, maxConnections: 1 });
  const figures: Figure[] = [];
  const first = performance.now();
  await api.get('/api/v1/tokens?limit=1');
  await api.get('/api/v1/dexes');
  const made = performance.now() - first;
  for (const { name, target, path } of listAsks()) {
    const served: number[] = [];
    const floor: number[] = [];
    for (let index = 0; index < WARM_UP + ROUNDS; index += 1) {
      let started = performance.now();
      await database.select('bench', 'SELECT 1');
      if (index >= WARM_UP) floor.push(performance.now() - started);
      started = performance.now();
      await api.drain(`/api/v1${path(index)}`);
      if (index >= WARM_UP) served.push(performance.now() - started);
    }
    figures.push(
      figureOf(
        `${name}, ${load.swaps} swaps, p99 (p50 ${percentile(served, 50).toFixed(1)} ms)`,
        served,
        floor,
        target,
      ),
    );
  }
  await database.close();
  figures.push({
    name: 'building the tables of pairs, tokens and DEXes for a new head',
    value: made,
    unit: 'ms',
    limitName: 'block time of 10 s',
    limit: 10_000,
    ratio: made / 10_000,
    target: '<= 5,000 ms',
    ok: made <= 5_000,
  });
  return figures;
}

function figureOf(name: string, served: readonly number[], floor: readonly number[], target: number): Figure {
  const value = percentile(served, 99);
  const limit = percentile(floor, 99);
  return {
    name,
    value,
    unit: 'ms',
    limitName: 'SELECT 1 over HTTP',
    limit,
    ratio: value / limit,
    target: `<= ${target} ms`,
    ok: value <= target,
  };
}
