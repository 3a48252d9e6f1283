/**
 * The `dev` command: a development chain with real contracts and a trader, ingested and served. `npm start` runs it.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { z } from 'zod';

import { startDevChain } from '../dev/devChain';
import { verifyDevContracts } from '../dev/sources/verifyDevContracts';
import { loadConfig, type Config } from '../config';
import type { Logger } from '../log';
import { readyShape } from '../wire/ready';
import type { ApiServer } from './api';
import { runAll } from './runAll';

/**
 * Runs until the signal aborts. `env` sets host, port, log level and DATA_DIR. CHAIN_ID is the id of the
 * development chain. Keys of a CHAIN_CONFIG file replace keys of the development chain's description, except
 * `chainId` and `rpcUrls`.
 */
export async function runDev(
  { env, readFile }: { readonly env: NodeJS.ProcessEnv; readonly readFile: (path: string) => string },
  config: Config,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { dataDir, chainId } = config;
  const overrides = env['CHAIN_CONFIG'] ? readOverrides(readFile(env['CHAIN_CONFIG'])) : {};
  const chain = await startDevChain({ dataDir, chainId, overrides, log, signal }).catch((error: unknown) => {
    if (signal.aborted && error === signal.reason) return null;
    throw error;
  });
  if (chain === null) return;
  try {
    const devEnv = {
      ...env,
      RPC_URL: chain.wsUrl,
      CHAIN_CONFIG: chain.chainConfigPath,
      CHAIN_ID: String(chainId),
      START_BLOCK: '0',
      PROOF: env['PROOF'] || 'full',
      // Each start creates a new development chain, so its data has a folder of its own.
      DATA_DIR: dirname(chain.chainConfigPath),
    };
    const devConfig = loadConfig(devEnv, (path) => readFileSync(path, 'utf8'));
    const { hotPairs, world } = chain;
    const onApiReady = async (api: ApiServer | null): Promise<void> => {
      await greet(api, hotPairs, signal);
      const queue = api?.verifications() ?? null;
      if (queue !== null) await verifyDevContracts({ queue, chainId, world, log, signal });
    };
    await runAll(devConfig, log, signal, { api: true, ingest: true, onReady: (api) => void onApiReady(api) });
  } finally {
    await chain.stop();
  }
}

/**
 * Loads the settings of a development chain. The chain has its own description, so CHAIN_ID may be an id
 * without a built-in description.
 */
export function loadDevConfig(env: NodeJS.ProcessEnv, readFile: (path: string) => string): Config {
  if (env['CHAIN_CONFIG']) return loadConfig(env, readFile);
  const { CHAIN_ID: chainIdText = '', ...otherEnv } = env;
  const chainId = /^\d{1,9}$/.test(chainIdText.trim()) ? Number(chainIdText) : 0;
  if (chainId < 1) return loadConfig(env, readFile);
  return { ...loadConfig(otherEnv, readFile), chainId };
}

/** Returns the keys of a CHAIN_CONFIG file, which `loadConfig` has already checked. */
function readOverrides(text: string): Readonly<Record<string, unknown>> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}

const GREETING_POLL_MS = 250;
const listShape = z.object({ data: z.array(z.unknown()) });

/** Writes the start message as soon as its sample requests answer with data. Never rejects. */
async function greet(api: ApiServer | null, hotPairs: readonly string[], signal: AbortSignal): Promise<void> {
  const baseUrl = api?.url ?? '';
  const candles = `${baseUrl}/api/v1/pairs/${hotPairs[0] ?? ''}/ticks?timeframe=1m&currency=quote&limit=5`;
  const fetchJson = async (url: string): Promise<unknown> => (await fetch(url, { signal })).json();
  // Before the first block, other requests fail and are logged.
  const hasData = async (): Promise<boolean> => {
    const { head } = readyShape.parse(await fetchJson(`${baseUrl}/readyz`)).checks;
    if (head.block_number === null) return false;
    const list = listShape.safeParse(await fetchJson(candles));
    return list.success && list.data.data.length > 0;
  };
  while (!signal.aborted && !(await hasData().catch(() => false)))
    await delay(GREETING_POLL_MS, undefined, { signal }).catch(() => undefined);
  if (!signal.aborted) process.stdout.write(greeting(baseUrl, candles));
}

/** The start message: the page, the reference, and sample requests. */
function greeting(baseUrl: string, candles: string): string {
  return [
    '',
    `  Candlehouse is at ${baseUrl}, the API reference at ${baseUrl}/docs`,
    '',
    `  Pairs        curl '${baseUrl}/api/v1/pairs?limit=5'`,
    `  Candles      curl '${candles}'`,
    `  Live stream  curl -N '${baseUrl}/api/v1/activity/stream?event_type=swap'`,
    '',
    `  OpenAPI at ${baseUrl}/openapi.json · health at ${baseUrl}/readyz · Ctrl-C stops everything`,
    '',
    '',
  ].join('\n');
}
