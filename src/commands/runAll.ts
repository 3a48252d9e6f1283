/** The `all` command: API, ingester and database in one process. `serve` runs only the API, and `ingest` only
 * the ingester. */
import type { Config } from '../config';
import { observeDatabase } from '../clickhouse/client/observedDatabase';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import { isFinal } from '../ingest/session/runIngest';
import { clearFailure, noteFailure } from '../ingest/session/status';
import { systemClock } from '../node/rpc/clock';
import { steadyNow } from '../domain/time/steadyTime';
import { createMetrics, type Metrics } from '../metrics';
import { startApi, type ApiServer } from './api';
import type { PerChain } from './chains';
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

/** Pause in ms before the database of a chain is prepared again. */
const PREPARE_PAUSE_MS = 5_000;

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
  for (const chain of chains) watchIngester(chain, metrics);
  let api: ApiServer | null = null;
  let storage: Storage | null = null;
  const runEnd = new AbortController();
  const runSignal = AbortSignal.any([signal, runEnd.signal]);
  let tasks: readonly Promise<void>[] = [];
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
    storage = await openStorage(config, log, {
      mayBeReadOnly: !parts.ingest,
      mayMissChains: true,
      signal,
    });
    const opened = parts.ingest ? watchWrites(storage, metrics) : storage;
    api?.connect(storage.readUrl, storage.readOnly ? null : storage.writer);
    parts.onReady?.(api);
    const endsProgram = createEndRule(chains, parts);
    tasks = [
      untilAborted(runSignal),
      ...chains.map((chain) =>
        keepIngesting(chain, opened, parts, log, runSignal, (error) => endsProgram(chain, error)),
      ),
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

/** Adds the figures of the chain's ingester to the metrics, if it has one. */
function watchIngester({ chainId, ingester }: ChainService, metrics: Metrics): void {
  if (ingester === null) return;
  const { rpc, status } = ingester;
  metrics.watchTransfers(chainId, () => status);
  metrics.watchIngest(chainId, () => ingester.figures());
  metrics.watchRpc(chainId, 'ingest', () => rpc.traffic());
  metrics.watchQueue('rpc', () => rpc.traffic().reduce((sum, { underWay }) => sum + underWay, 0));
  metrics.watchQueue('blocks', () => Math.max(0, (status.nodeHead ?? 0) - (status.indexed ?? 0)));
}

/** Wraps the storage to count the writes of the ingesters for the metrics. */
function watchWrites(storage: Storage, metrics: Metrics): Storage {
  const observed = [...storage.writers].map(([chainId, database]) => {
    const writer = observeDatabase(database, { finished: metrics.observeStatement });
    metrics.watchQueue('writes', writer.underWay);
    return [chainId, writer] as const;
  });
  return { ...storage, writers: new Map(observed) };
}

/**
 * Runs the ingester of a chain, if it has one. A failed ingester stops neither the API nor the ingesters of other chains.
 * The failure ends the program if `endsProgram` says so.
 */
async function keepIngesting(
  { chainId, ingester }: ChainService,
  storage: Storage,
  parts: RunParts,
  log: Logger,
  signal: AbortSignal,
  endsProgram: (error: unknown) => boolean,
): Promise<void> {
  const writer = storage.writers.get(chainId);
  if (writer === undefined) return;
  try {
    await untilPrepared({ chainId, ingester }, storage, log, signal);
    if (ingester === null) return;
    await ingester.run({ ...storage, writer }, signal, { standby: parts.standby ?? false });
  } catch (error) {
    if (signal.aborted || endsProgram(error)) throw error;
    const facts = { chainId, error: errorText(error) };
    if (parts.api) log.fatal(facts, 'the ingester has stopped; the API keeps serving the stored data');
    else log.fatal(facts, 'the ingester of a chain has stopped; the other chains go on');
  }
}

/**
 * Prepares the database of a chain again and again, if this failed when the storage was opened. Throws an error for which
 * another attempt is useless.
 */
async function untilPrepared(
  { chainId, ingester }: Pick<ChainService, 'chainId' | 'ingester'>,
  { failures, prepare }: Storage,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock();
  const tryAgain = (): Promise<unknown> =>
    prepare(chainId).then(
      () => undefined,
      (error: unknown) => error,
    );
  for (let error = failures.get(chainId); error !== undefined; error = await tryAgain()) {
    signal.throwIfAborted();
    if (ingester !== null) noteFailure(ingester.status, error, clock.now());
    if (isFinal(error)) {
      if (ingester !== null) ingester.status.phase = 'stopped';
      throw error;
    }
    const facts = { chainId, error: errorText(error), retryInMs: PREPARE_PAUSE_MS };
    log.error(facts, 'the database of a chain cannot be opened; retrying');
    await clock.sleep(PREPARE_PAUSE_MS, signal);
  }
  if (ingester !== null && failures.has(chainId)) clearFailure(ingester.status);
}

/**
 * Decides which failure of an ingester ends the program. With an API, only a wrong setting does, such as a node of another
 * chain. With CHAINS, the ingesters of the other chains must have ended too.
 */
function createEndRule(
  chains: PerChain<ChainService>,
  { api }: RunParts,
): (chain: ChainService, error: unknown) => boolean {
  const going = new Set(chains.filter(({ ingester }) => ingester !== null));
  return (chain, error) => {
    going.delete(chain);
    const isWrongSetting = error instanceof AppError && error.code === 'bad_config';
    return (!api || isWrongSetting) && (going.size === 0 || !chain.config.hasChainList);
  };
}
