/** `all`: API, ingester and database in one process; `serve` and `ingest` are its halves. */
import type { Config } from '../config';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import { createMetrics } from '../metrics';
import { startApi, type ApiServer } from './api';
import { createIngester, type Ingester } from './ingest';
import { openStorage, type Storage } from './storage';
import { aborted } from './stopSignal';

export interface RunParts {
  readonly api: boolean;
  readonly ingest: boolean;
  /** Called once the API can answer from the database. */
  readonly onReady?: (api: ApiServer | null) => void;
}

/** Runs until the signal aborts, then drains and closes everything in the order in which it depends on each other. */
export async function runAll(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  parts: RunParts,
): Promise<void> {
  const metrics = createMetrics();
  const ingester = parts.ingest ? createIngester(config, log) : null;
  let api: ApiServer | null = null;
  let storage: Storage | null = null;
  try {
    if (parts.api) {
      const ingest = ingester === null ? {} : { ingest: () => ingester.facts() };
      api = await startApi({ config, log, metrics, ...ingest });
    }
    storage = await openStorage(config, log);
    api?.connect(storage.readUrl);
    parts.onReady?.(api);
    await Promise.all([
      aborted(signal),
      ingester === null ? null : keepIngesting(ingester, storage, parts, log, signal),
    ]);
  } finally {
    log.info('stopping');
    await ingester?.close();
    await api?.close();
    await storage?.close();
    log.info('stopped');
  }
}

/** With an API beside it, a stopped ingester leaves the readers alone; alone, it is the program's failure. */
async function keepIngesting(
  ingester: Ingester,
  storage: Storage,
  parts: RunParts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    await ingester.run(storage, signal);
  } catch (error) {
    // A wrong setting (a node of another chain) stops the start; what is stored already is still worth reading.
    if (!parts.api || (error instanceof AppError && error.code === 'bad_config')) throw error;
    log.fatal({ error: errorText(error) }, 'the ingester has stopped; the API goes on with what is stored');
  }
}
