/** The `all` command: API, ingester and database in one process. `serve` runs only the API, and `ingest` only
 * the ingester. */
import type { Config } from '../config';
import { observeDatabase } from '../clickhouse/client/observedDatabase';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import { steadyNow } from '../domain/time/steadyTime';
import { createMetrics, type Metrics } from '../metrics';
import { startApi, type ApiServer } from './api';
import type { Ingester } from './ingest';
import { openChains, type ChainService } from './openChain';
import { logProblems } from './problemLog';
import { listEngineProblems, openStorage, type Storage } from './storage';
import { untilAborted } from './stopSignal';

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
  const chains = openChains(config, { log, metrics, ingests: parts.ingest });
  const [{ ingester }, ...otherChains] = chains;
  let api: ApiServer | null = null;
  let storage: Storage | null = null;
  const runEnd = new AbortController();
  const runSignal = AbortSignal.any([signal, runEnd.signal]);
  let tasks: readonly Promise<void>[] = [];
  if (ingester !== null) metrics.watchTransfers(() => ingester.status);
  if (ingester !== null) metrics.watchIngest(() => ingester.figures());
  const engineProblems = () => listEngineProblems(storage);
  const listProblems = () =>
    api?.problems() ?? [
      ...(ingester?.facts().problems ?? []),
      ...engineProblems(),
      ...otherChains.flatMap((chain) => chain.problems()),
    ];
  const stopLogging = logProblems(listProblems, log, steadyNow);
  try {
    if (parts.api) api = await startApi({ config, log, metrics, chains, engineProblems });
    storage = await openStorage(config, log, { mayBeReadOnly: !parts.ingest, signal });
    const opened = ingester === null ? storage : watchWrites(storage, config.chainId, ingester, metrics);
    api?.connect(storage.readUrl, storage.readOnly ? null : storage.writer);
    parts.onReady?.(api);
    tasks = [
      untilAborted(runSignal),
      ...chains.map((chain) => keepIngesting(chain, opened, parts, log, runSignal)),
    ];
    await Promise.all(tasks);
  } catch (error) {
    throwUnlessStopped(error, signal);
  } finally {
    log.info('stopping');
    stopLogging();
    // If one task fails, the other tasks must end before the database and the connections close.
    runEnd.abort(new Error('the program stops'));
    await Promise.allSettled(tasks);
    await api?.close();
    if (api === null) for (const chain of chains) await chain.close();
    await storage?.close();
    log.info('stopped');
  }
}

/** If the program is stopped during its start, the resulting error is no failure. */
function throwUnlessStopped(error: unknown, signal: AbortSignal): void {
  if (!signal.aborted || error !== signal.reason) throw error;
}

/** Wraps the storage to count the writes of the market chain's ingester for the metrics. */
function watchWrites(
  storage: Storage,
  chainId: number,
  { rpc, status }: Ingester,
  metrics: Metrics,
): Storage {
  const writer = observeDatabase(storage.writer, { finished: metrics.observeStatement });
  metrics.watchQueue('writes', writer.underWay);
  metrics.watchRpc('ingest', () => rpc.traffic());
  metrics.watchQueue('rpc', () => rpc.traffic().reduce((sum, { underWay }) => sum + underWay, 0));
  metrics.watchQueue('blocks', () => Math.max(0, (status.nodeHead ?? 0) - (status.indexed ?? 0)));
  return { ...storage, writers: new Map(storage.writers).set(chainId, writer) };
}

/**
 * Runs the ingester of a chain, if it has one. If the process also runs the API, a failed ingester does not stop the
 * API. Without an API, the failure ends the program.
 */
async function keepIngesting(
  { chainId, ingester }: ChainService,
  storage: Storage,
  parts: RunParts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const writer = storage.writers.get(chainId);
  if (ingester === null || writer === undefined) return;
  try {
    await ingester.run({ ...storage, writer }, signal, { standby: parts.standby ?? false });
  } catch (error) {
    // A wrong setting, such as a node of another chain, ends the program. After other failures, the API still
    // serves the stored data.
    if (!parts.api || (error instanceof AppError && error.code === 'bad_config')) throw error;
    log.fatal({ error: errorText(error) }, 'the ingester has stopped; the API keeps serving the stored data');
  }
}
