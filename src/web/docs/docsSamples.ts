/** Sample values for required parameters, taken from the database behind this page. */
import { API, getBody, getChains } from '../core/api.ts';

export interface Samples {
  /** A value for a path parameter; null if none is known. */
  valueFor(path: string, name: string): string | null;
}

export const NO_SAMPLES: Samples = { valueFor: () => null };

let loading: Promise<Samples> | null = null;

/** The samples are loaded once, when the first endpoint comes into view. */
export function loadSamples(): Promise<Samples> {
  loading ??= askSamples(AbortSignal.timeout(30_000));
  return loading;
}

async function askSamples(signal: AbortSignal): Promise<Samples> {
  const [pair, token, dex, swap] = await Promise.all(
    ['/pairs?limit=1', '/tokens?limit=1', '/dexes?limit=1', '/activity?limit=1&event_type=swap'].map((path) =>
      firstOf(path, signal),
    ),
  );
  const chain = await firstChain(signal);
  const tokenAddress = textOf(token, 'address');
  const pairAddress = textOf(pair, 'address');
  const symbol = textOf(token, 'symbol');
  return {
    valueFor(path, name) {
      if (name === 'dex_name') return textOf(dex, 'dex_name');
      if (name === 'q') return symbol;
      if (name === 'symbol' || name === 'symbols') return pairAddress;
      if (name === 'chainId') return chain;
      if (!/address|pair|token/i.test(name)) return null;
      if (path.includes('/portfolio')) return textOf(swap, 'maker');
      return path.includes('/token') ? tokenAddress : pairAddress;
    },
  };
}

/** Id of the default chain; null if the request fails. */
async function firstChain(signal: AbortSignal): Promise<string | null> {
  const chains = await getChains(signal).catch(() => []);
  return chains[0]?.chainid ?? null;
}

/** The first item of a list; an empty object if the request fails. */
async function firstOf(path: string, signal: AbortSignal): Promise<object> {
  try {
    const body = await getBody(API + path, signal);
    if (typeof body !== 'object' || body === null || !('data' in body) || !Array.isArray(body.data))
      return {};
    const [first]: unknown[] = body.data;
    return typeof first === 'object' && first !== null ? first : {};
  } catch {
    return {};
  }
}

function textOf(item: object | undefined, field: string): string | null {
  const found = Object.entries(item ?? {}).find(([name]) => name === field)?.[1];
  return typeof found === 'string' ? found : null;
}
