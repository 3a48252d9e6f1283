/**
 * `backfill --workers` and `backfill --worker`: processes that fetch and prove blocks ahead of the one process that
 * decodes, prices and stores them in order.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { createBlockSource, type BlockSource } from '../node/blocks/blockSource';
import { createFinality, FinalTip } from '../node/head/finality';
import { checkChainId } from '../node/rpc/checkChainId';
import { systemClock } from '../node/rpc/clock';
import { createEndpointPool } from '../node/rpc/endpointPool';
import { openDatabase } from '../clickhouse/client/database';
import { findPackageRoot } from '../clickhouse/client/packageRoot';
import type { Config } from '../config';
import { AppError } from '../errors';
import { StagedBlocks } from '../ingest/staged/stagedBlocks';
import { StagedSource } from '../ingest/staged/stagedSource';
import { StageWorker } from '../ingest/staged/stageWorker';
import { readFinalTo } from '../ingest/store/storedState';
import type { Logger } from '../log';
import type { OpenBlocks } from './backfillFiles';
import { databaseUrl, listChains, needNodeUrls } from './chains';
import { findRunningServer } from './runningServer';
import type { Storage } from './storage';

interface WorkersContext {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A worker that has not ended after this time in ms is killed. Blocks that it stages late have no effect. */
const END_MS = 3_000;

/** Starts the workers of this process, and opens the blocks that they and others stage. */
export async function openWorkers(
  { config, log, signal, workers }: WorkersContext & { readonly workers: number },
  storage: Storage,
  range: Span,
): Promise<OpenBlocks> {
  const stagedBlocks = new StagedBlocks(storage.url);
  const workerProcesses = new Crew(log, signal);
  let source: StagedSource | null = null;
  const close = async (): Promise<void> => {
    await workerProcesses.end();
    if (source !== null) log.info(source.counts, 'blocks were read from the workers and from the node');
    await stagedBlocks.drop().catch(() => undefined);
    await stagedBlocks.close();
  };
  try {
    await stagedBlocks.drop();
    await stagedBlocks.create();
    workerProcesses.start(workers, config.chainId, range);
    log.info({ ...range, workers }, 'workers fetch the blocks');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...range,
    wrapSource: (node) => {
      source = new StagedSource({
        node,
        staged: stagedBlocks,
        proof: config.proof.mode,
        tip: tipOf(node, config, log),
        readFinalTo: () => readFinalTo(storage.writer, config.chainId),
        hasWorkers: () => workerProcesses.size > 0,
        range,
        log,
        clock: systemClock(),
        signal,
      });
      return source;
    },
    close,
  };
}

/** Stages blocks until the backfill that runs elsewhere has stored the range, or the signal aborts. */
export async function runWorker({ config, log, signal }: WorkersContext, range: Span): Promise<void> {
  const { chainId, clickhouseCluster } = config;
  const urls = needNodeUrls(config, 'a node that has these blocks');
  const serverUrl = config.clickhouseUrl ?? (await findRunningServer(config.dataDir, log))?.writerUrl;
  if (serverUrl === undefined)
    throw new AppError(
      'bad_config',
      'CLICKHOUSE_URL: got nothing; allowed: the URL of the database of the backfill',
    );
  const url = databaseUrl(serverUrl, listChains(config)[0]);
  const rpc = createEndpointPool({ urls, chainId, log });
  const database = openDatabase({ url, distributed: clickhouseCluster !== null });
  const stagedBlocks = new StagedBlocks(url);
  try {
    await checkChainId(rpc, chainId, signal);
    const source = createBlockSource({ pool: rpc, log, proof: config.proof });
    const worker = new StageWorker({
      source,
      tip: tipOf(source, config, log),
      staged: stagedBlocks,
      readFinalTo: () => readFinalTo(database, chainId),
      range,
      log,
      clock: systemClock(),
    });
    await worker.run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all([stagedBlocks.close(), database.close(), rpc.close()]);
  }
}

function tipOf(source: BlockSource, { finality, chain }: Config, log: Logger): FinalTip {
  return new FinalTip(source, createFinality(source, finality, log, chain.confirmations));
}

/** The worker processes of this process. They end when it ends, because their channel to it closes. */
class Crew {
  private readonly running = new Set<ChildProcess>();
  private isEnding = false;

  constructor(
    private readonly log: Logger,
    private readonly signal: AbortSignal,
  ) {}

  get size(): number {
    return this.running.size;
  }

  start(count: number, chainId: number, { from, to }: Span): void {
    const program = join(findPackageRoot(), 'dist', 'main.js');
    const range = ['--from', String(from), '--to', String(to)];
    const options = ['backfill', '--worker', '--chain', String(chainId), ...range];
    for (let index = 0; index < count; index += 1) {
      const child = fork(program, options, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      this.running.add(child);
      child.once('error', (error) => this.onEnd(child, { error: error.message }));
      child.once('exit', (code, cause) => this.onEnd(child, { code, signal: cause }));
    }
  }

  /** Asks the workers to end, and kills each worker that runs on. */
  async end(): Promise<void> {
    this.isEnding = true;
    for (const child of this.running) child.kill('SIGTERM');
    for (const killAt = performance.now() + END_MS; this.running.size > 0 && performance.now() < killAt;)
      await delay(20);
    for (const child of this.running) child.kill('SIGKILL');
  }

  private onEnd(child: ChildProcess, ending: Readonly<Record<string, unknown>>): void {
    const isExpected = !this.running.delete(child) || this.isEnding || ending['code'] === 0;
    // Ctrl-C reaches the workers too. A worker that is still starting dies of it, perhaps before this process sees the signal.
    if (isExpected || this.signal.aborted || ending['signal'] === 'SIGINT') return;
    const facts = { pid: child.pid, ...ending, left: this.running.size };
    this.log.warn(facts, 'a worker of the backfill has ended; the others fetch its blocks');
  }
}
