/**
 * Measures lists and the audit over many stored swaps. The API has built its in-memory tables of the head before, and
 * parameters vary so that no answer is cached. The ratios compare each time with `SELECT 1` over HTTP, measured in the
 * same run.
 */
import type { Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import { loadedPair, loadedToken, type SwapLoad } from '../loaders/swapLoader';
import { askFigures, type Ask } from '../askFigures';

const ROUNDS = 80;
/** The first of the 10,000 loaded pairs and 5,000 loaded tokens. */
const ASKED_PAIRS = 9_000;
const ASKED_TOKENS = 4_000;

/**
 * Parameters differ in every round, so that no cache has the answer: the steps of 7 and 37 have no factor in common with
 * the numbers of limits, pairs and tokens.
 */
function listAsks(): Ask[] {
  const page = (index: number): number => 1 + (index % 90);
  const limit = (index: number): number => 10 + (index % 90);
  return [
    { name: '/tokens', targetMs: 20, path: (i) => `/tokens?page=${page(i)}&limit=${limit(i * 7)}` },
    {
      name: '/pairs',
      targetMs: 20,
      path: (i) => `/pairs?page=${page(i)}&limit=${limit(i * 7)}&sort=liquidity_usd`,
    },
    { name: '/dexes', targetMs: 20, path: () => '/dexes' },
    { name: '/overview', targetMs: 20, path: () => '/overview' },
    { name: '/activity', targetMs: 20, path: (i) => `/activity?limit=${limit(i * 7)}` },
    {
      name: '/activity of a pair',
      targetMs: 20,
      path: (i) => `/activity?pair=0x${loadedPair((i * 37) % ASKED_PAIRS)}&limit=${limit(i * 7)}`,
    },
    {
      name: '/activity of a token',
      targetMs: 20,
      path: (i) => `/activity?token=0x${loadedToken((i * 37) % ASKED_TOKENS)}&limit=${limit(i * 7)}`,
    },
    {
      name: '/tokens/{a}/audit',
      targetMs: 30,
      path: (i) => `/tokens/0x${loadedToken((i * 37) % ASKED_TOKENS)}/audit`,
    },
    { name: '/tokens/{a}', targetMs: 20, path: (i) => `/tokens/0x${loadedToken((i * 37) % ASKED_TOKENS)}` },
    { name: '/pairs/{a}', targetMs: 20, path: (i) => `/pairs/0x${loadedPair((i * 37) % ASKED_PAIRS)}` },
    {
      name: '/tokens/{a}/ticks',
      targetMs: 20,
      path: (i) => `/tokens/0x${loadedToken((i * 37) % ASKED_TOKENS)}/ticks?limit=${200 + i}`,
    },
  ];
}

export async function benchLists(api: ServedApi, load: SwapLoad, readerUrl: string): Promise<Figure[]> {
  const startedAt = performance.now();
  await api.get('/api/v1/tokens?limit=1');
  await api.get('/api/v1/dexes');
  const buildMs = performance.now() - startedAt;
  const asks = listAsks().map((ask) => ({ ...ask, name: `${ask.name}, ${load.swaps} swaps` }));
  const figures = await askFigures(api, readerUrl, asks, ROUNDS);
  figures.push({
    name: 'building the tables of pairs, tokens and DEXes for a new head',
    value: buildMs,
    unit: 'ms',
    limitName: 'block time of 10 s',
    limit: 10_000,
    ratio: buildMs / 10_000,
    target: '<= 5,000 ms',
    ok: buildMs <= 5_000,
  });
  return figures;
}
