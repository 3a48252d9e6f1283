/**
 * The `dev` command: a development chain with real contracts and a trader, ingested and served. `npm start` runs it.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { startDevChain } from '../dev/devChain';
import { loadConfig, type Config } from '../config';
import type { Logger } from '../log';
import type { ApiServer } from './api';
import { runAll } from './runAll';

/** Runs until the signal aborts. `env` sets host, port and log level. The chain is always the development
 * chain. */
export async function runDev(
  config: Config,
  env: NodeJS.ProcessEnv,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const chain = await startDevChain({ dataDir: config.dataDir, log, signal });
  try {
    const devEnv = {
      ...env,
      RPC_URL: chain.wsUrl,
      CHAIN_CONFIG: chain.chainConfigPath,
      CHAIN_ID: '369',
      START_BLOCK: '0',
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
