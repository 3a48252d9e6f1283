/** The `all` command: API, ingester and database in one process. `serve` runs only the API, and `ingest` only
 * the ingester. */
import type { Config } from '../config';
import { observeDatabase } from '../clickhouse/client/observedDatabase';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { Hex } from '../domain/hex';
import { steadyNow } from '../domain/steadyTime';
import { noteAsked } from '../ingest/session/status';
import { createMetrics, type Metrics } from '../metrics';
import { startApi, type ApiServer } from './api';
import { createIngester, type Ingester } from './ingest';
import { logProblems } from './problemLog';
import { hasSecondChain, listSecondProblems, secondConfig } from './secondChain';
import { listEngineProblems, openStorage, type Storage } from './storage';
import { aborted } from './stopSignal';

export interface RunParts {
  readonly api: boolean;
  readonly ingest: boolean;
  /** Whether the ingester first waits until no other process writes the chain. */
  readonly standby?: boolean;
  /** Called once the API can answer from the database. */
  readonly onReady?: (api: ApiServer | null) => void;
}

/** Runs until the signal aborts. Then stops each part before the parts that it uses. */
export async function runAll(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  parts: RunParts,
): Promise<void> {
  const metrics = createMetrics();
  let api: ApiServer | null = null;
  const ingester = parts.ingest ? createIngester(config, log, (flip) => api?.wake(flip)) : null;
  if (ingester !== null) metrics.watchTransfers(() => ingester.status);
  const second = parts.ingest && hasSecondChain(config) ? createSecond(config, log) : null;
  let storage: Storage | null = null;
  const ended = new AbortController();
  const going = AbortSignal.any([signal, ended.signal]);
  let works: readonly Promise<void>[] = [];
  if (ingester !== null) metrics.watchIngest(() => ingester.figures());
  const moreProblems = () => [
    ...listEngineProblems(storage),
    ...(second === null ? [] : listSecondProblems(second.facts())),
  ];
  const list = () => api?.problems() ?? [...(ingester?.facts().problems ?? []), ...moreProblems()];
  const stopLogging = logProblems(list, log, steadyNow);
  try {
    if (parts.api) {
      const ingest =
        ingester === null
          ? {}
          : {
              ingest: () => ingester.facts(),
              onIncomplete: (token: Hex) => noteAsked(ingester.status, token),
            };
      const isEngineAway = (): boolean => listEngineProblems(storage).length > 0;
      api = await startApi({ config, log, metrics, moreProblems, isEngineAway, ...ingest });
    }
    storage = await openStorage(config, log, { readingIsEnough: !parts.ingest, signal });
    const watched = parts.ingest ? watchWrites(storage, ingester, metrics) : storage;
    api?.connect(storage.readUrl, storage.readOnly ? null : storage.writer);
    parts.onReady?.(api);
    works = [
      aborted(going),
      ...(ingester === null ? [] : [keepIngesting(ingester, watched, parts, log, going)]),
      ...(second === null || storage.secondWriter === null
        ? []
        : [keepIngesting(second, { ...storage, writer: storage.secondWriter }, parts, log, going)]),
    ];
    await Promise.all(works);
  } catch (error) {
    throwUnlessStopped(error, signal);
  } finally {
    log.info('stopping');
    stopLogging();
    // If one task fails, the other tasks must end before the database and the connections close.
    ended.abort(new Error('the program stops'));
    await Promise.allSettled(works);
    await ingester?.close();
    await second?.close();
    await api?.close();
    await storage?.close();
    log.info('stopped');
  }
}

/** If the program is stopped during its start, the resulting error is no failure. */
function throwUnlessStopped(error: unknown, signal: AbortSignal): void {
  if (!signal.aborted || error !== signal.reason) throw error;
}

/** Wraps the storage to count the writes of the market chain's ingester for the metrics. */
function watchWrites(storage: Storage, ingester: Ingester | null, metrics: Metrics): Storage {
  const writer = observeDatabase(storage.writer, { finished: metrics.observeStatement });
  metrics.watchQueue('writes', writer.underWay);
  if (ingester !== null) {
    const { rpc, status } = ingester;
    metrics.watchRpc('ingest', () => rpc.traffic());
    metrics.watchQueue('rpc', () => rpc.traffic().reduce((sum, { underWay }) => sum + underWay, 0));
    metrics.watchQueue('blocks', () => Math.max(0, (status.nodeHead ?? 0) - (status.indexed ?? 0)));
  }
  return { ...storage, writer };
}

/** The log lines of the second chain's ingester carry its chain id. */
function createSecond(config: Config, log: Logger): Ingester {
  const { chainId, ...rest } = secondConfig(config);
  return createIngester({ ...rest, chainId }, log.child({ chainId }));
}

/**
 * Runs an ingester. If the process also runs the API, a failed ingester does not stop the API. Without an
 * API, the failure ends the program.
 */
async function keepIngesting(
  ingester: Ingester,
  storage: Storage,
  parts: RunParts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    await ingester.run(storage, signal, { standby: parts.standby ?? false });
  } catch (error) {
    // A wrong setting, such as a node of another chain, ends the program. After other failures, the API still
    // serves the stored data.
    if (!parts.api || (error instanceof AppError && error.code === 'bad_config')) throw error;
    log.fatal({ error: errorText(error) }, 'the ingester has stopped; the API keeps serving the stored data');
  }
}
