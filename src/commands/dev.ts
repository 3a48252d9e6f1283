/**
 * The `dev` command: a development chain with real contracts and a trader, ingested and served. `npm start` runs it.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { z } from 'zod';

import { startDevChain } from '../dev/devChain';
import { loadConfig, type Config } from '../config';
import type { Logger } from '../log';
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
    const hotPairs = chain.hotPairs;
    await runAll(devConfig, log, signal, {
      api: true,
      ingest: true,
      onReady: (api) => process.stdout.write(greeting(api, hotPairs)),
    });
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
  const { CHAIN_ID: given = '', ...rest } = env;
  const chainId = /^\d{1,9}$/.test(given.trim()) ? Number(given) : 0;
  if (chainId < 1) return loadConfig(env, readFile);
  return { ...loadConfig(rest, readFile), chainId };
}

/** Returns the keys of a CHAIN_CONFIG file, which `loadConfig` has already checked. */
function readOverrides(text: string): Readonly<Record<string, unknown>> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}

/** The start message: the URL of the program, and sample requests. */
function greeting(api: ApiServer | null, hotPairs: readonly string[]): string {
  const base = api?.url ?? '';
  const pair = hotPairs[0] ?? '';
  return [
    '',
    `  Candlehouse is at ${base}`,
    '',
    `  Pairs        curl '${base}/api/v1/pairs?limit=5'`,
    `  Candles      curl '${base}/api/v1/pairs/${pair}/ticks?timeframe=1m&currency=quote&limit=5'`,
    `  Live stream  curl -N '${base}/api/v1/activity/stream?event_type=swap'`,
    '',
    `  OpenAPI at ${base}/openapi.json · health at ${base}/readyz · Ctrl-C stops everything`,
    '',
    '',
  ].join('\n');
}
