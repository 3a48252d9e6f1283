/**
 * Opens one chain: its ingester, its node, the connection of the API to its database, and the loop that follows its
 * newest block. The database may become known later; until then, reads throw `unavailable`.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { ExplorerChain } from '../api/explorerScope';
import { createEndpointPool, type EndpointPool } from '../node/rpc/endpointPool';
import { openDatabase, type Database } from '../clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { observeDatabase } from '../clickhouse/client/observedDatabase';
import { READER_TIMEOUT_MS } from '../clickhouse/engine/engineConfig';
import type { Config } from '../config';
import { steadyNow } from '../domain/time/steadyTime';
import { AppError } from '../errors';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import { createBlockHashes } from '../query/head/blockHashes';
import { readChangeMark } from '../query/head/headState';
import { createPrecomputer, type Precomputer } from '../query/head/precomputer';
import { createProvenParts, type ProvenParts } from '../query/head/provenParts';
import { createPoolNames } from '../query/pairs/poolNames';
import { createLogCounts } from '../query/logs/logCounts';
import { Directory } from '../query/tokens/directory';
import { createHub, type Hub } from '../stream/hub';
import { createTailLoop, type TailLoop } from '../stream/tailLoop';
import { createWriterWatch, type WriterWatch } from '../stream/writerWatch';
import type { ReadyProblem } from '../wire/ready';
import { listChainProblems, listChains, type ChainConfig, type PerChain } from './chains';
import { createIngester, type Ingester } from './ingest';

export interface ChainService extends ExplorerChain {
  readonly config: ChainConfig;
  /** The log of the program. With several chains, each line names the chain. */
  readonly log: Logger;
  /** Null if this process does not ingest the chain. */
  readonly ingester: Ingester | null;
  readonly directory: Directory;
  readonly hub: Hub;
  readonly precomputer: Precomputer;
  readonly tail: TailLoop;
  /** Connection to the node for API requests, which never slow the ingester. Null if no node is configured. */
  readonly rpc: EndpointPool | null;
  /** The ingester of another process; null if this process ingests. */
  readonly writer: WriterWatch | null;
  readonly proven: ProvenParts;
  /** False while the database of an explorer chain does not exist and no ingester creates it. */
  isStored(): boolean;
  /** The problems of the chain's ingester, for /readyz of other chains. */
  problems(): readonly ReadyProblem[];
  /** The chain's database for reads. @throws AppError `unavailable` before `connect` */
  reads(): Database;
  /** Connects to the chain's database for reads. */
  connect(url: string): void;
  close(): Promise<void>;
}

interface ChainOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether this process ingests. It then ingests each chain with a node. */
  readonly ingests: boolean;
}

/** Largest number of parallel reads from the database of the first chain and of another chain. Further reads wait. */
const READ_CONNECTIONS = { first: 12, other: 6 };
/** Interval in ms at which the tail loop looks for changes by the writer of another process. */
const POLL_MS = 50;
/** The same if this process has an ingester, which reports its changes while it writes. */
const POLL_TOLD_MS = 1_000;
/** Interval in ms between checks whether the database of an explorer chain exists. */
const LOOK_MS = 5_000;
/** Limits of calls to the node that an API answer needs. */
const NODE_OPTIONS = { timeoutMs: 2_000, roundsMax: 1, connectionsMax: 4 };

/** Opens all chains of the settings. Throws bad_config if a chain with a market should be ingested and has no node. */
export function openChains(config: Config, options: ChainOptions): PerChain<ChainService> {
  const [first, ...others] = listChains(config);
  return [openChain(first, options), ...others.map((each) => openChain(each, options))];
}

function openChain(config: ChainConfig, { log: parent, metrics, ingests }: ChainOptions): ChainService {
  const { chainId, rpcUrls, isFirst, hasMarket } = config;
  const log = isFirst && !config.hasChainList ? parent : parent.child({ chainId });
  let database: Database | null = null;
  const reads = (): Database => {
    if (database === null) throw new AppError('unavailable', 'the database is still starting');
    return database;
  };
  const runner = createQueryRunner(reads, { observe: metrics.observeQuery });
  let isTailing = false;
  const ingester =
    ingests && (hasMarket || rpcUrls !== null)
      ? createIngester(config, log, (flip) => isTailing && tail.wake(flip))
      : null;
  const directory = new Directory(runner);
  const poolNames = createPoolNames(runner, config.chain.dexes);
  const hub = createHub({ observeDrops: metrics.countDrops });
  const precomputer = createPrecomputer();
  const tail = createTailLoop({
    runner,
    chainId,
    hub,
    log,
    directory,
    poolNames,
    onHead: (head) => precomputer.onHead(head),
    pollMs: ingester === null ? POLL_MS : POLL_TOLD_MS,
    writer: ingester === null ? null : writerOf(ingester, () => database),
  });
  const rpc = rpcUrls === null ? null : createEndpointPool({ urls: rpcUrls, chainId, log, ...NODE_OPTIONS });
  const writer = ingests ? null : createWriterWatch({ runner, chainId, log, now: steadyNow });
  const stop = new AbortController();
  let isStored = hasMarket || rpcUrls !== null;
  let running: Promise<unknown> = Promise.resolve();
  const follow = async (): Promise<void> => {
    if (!hasMarket) await untilStored(runner, stop.signal);
    if (stop.signal.aborted) return;
    isStored = true;
    isTailing = true;
    await tail.run(stop.signal);
  };
  return {
    config,
    log,
    ...{ chainId, runner, directory, poolNames, hub, precomputer, tail, rpc, writer, ingester },
    hashes: createBlockHashes({ chainId, runner }),
    logCounts: createLogCounts({ chainId, runner }),
    proven: createProvenParts(runner, chainId),
    head: () => tail.current(),
    isStored: () => isStored,
    reads,
    problems() {
      const view = ingester === null ? writer?.view() : { facts: ingester.facts(), problems: [] };
      return listChainProblems(config, view ?? null);
    },
    connect(url) {
      database = openReads(config, url, metrics);
      running = Promise.all([follow(), writer?.run(stop.signal)]);
    },
    async close() {
      stop.abort();
      hub.close();
      await running;
      await ingester?.close();
      await rpc?.close();
      await database?.close();
    },
  };
}

/** An ingester that waits, failed or ended reports no changes: another process may write. */
function writerOf({ status }: Ingester, database: () => Database | null) {
  return {
    isTelling: () => status.phase === 'follow' || status.phase === 'backfill',
    async ping() {
      if ((await database()?.ping()) !== true)
        throw new AppError('unavailable', 'the database does not answer');
    },
  };
}

function openReads(
  { isFirst, clickhouseCluster }: ChainConfig,
  url: string,
  { watchQueue }: Metrics,
): Database {
  const database = openDatabase({
    url,
    requestTimeoutMs: READER_TIMEOUT_MS,
    maxConnections: READ_CONNECTIONS[isFirst ? 'first' : 'other'],
    distributed: clickhouseCluster !== null,
  });
  // The observed database counts the running statements. Their times are not needed, because the query runner
  // measures each statement.
  const reads = observeDatabase(database, { finished: () => undefined });
  watchQueue('reads', reads.underWay);
  return reads;
}

/**
 * Waits until the database of an explorer chain exists. Another process may create it at any time, so a missing
 * database is not an error.
 */
async function untilStored(runner: QueryRunner, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return void (await readChangeMark(runner));
    } catch {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
