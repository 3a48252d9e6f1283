/**
 * Builds the API process: HTTP server, tail loop (detects changes of the head) and stream hub (sends events
 * to stream clients). Listens before the database is available.
 */
import type { Server } from 'node:http';

import { createApp } from '../api/app';
import { createByteCache, type ByteCache } from '../api/byteCache';
import { createHttpServer, HTTP_LIMITS } from '../api/httpServer';
import type { ChainFacts } from '../api/marketRoute';
import type { Route } from '../api/route';
import { previewRoutes } from '../api/preview/previewRoutes';
import { listRoutes } from '../api/routes';
import { explorerRoutes } from '../api/explorerRoutes';
import { chains } from '../api/service/chains';
import { healthz } from '../api/service/healthz';
import { metrics as metricsRoute } from '../api/service/metrics';
import { createProblemAges } from '../api/service/problemAges';
import { readReadiness, readyz, type ReadyzDeps } from '../api/service/readyz';
import { activityStream } from '../api/stream/activityStream';
import { webFolder, webRoutes } from '../api/web/webRoutes';
import { findBuiltInChain } from '../chains/builtInChains';
import { createEndpointPool, type EndpointPool } from '../chain/rpc/endpointPool';
import { createNodeHead } from '../chain/head/nodeHead';
import { createNodeState } from '../chain/rpc/nodeState';
import { createDeferredDatabase } from '../clickhouse/client/deferredDatabase';
import { openDatabase, type Database } from '../clickhouse/client/database';
import { READER_TIMEOUT_MS } from '../clickhouse/engine/engineConfig';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { observeDatabase, type ObservedDatabase } from '../clickhouse/client/observedDatabase';
import type { Config } from '../config';
import { steadyNow } from '../domain/steadyTime';
import type { VerificationQueue } from '../domain/verification';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import { createBalanceSeeds } from '../query/holders/balanceSeeds';
import { Directory } from '../query/tokens/directory';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { Hex } from '../domain/hex';
import type { PublishedFlip } from '../query/head/headState';
import { createPrecomputer, type Precomputer } from '../query/head/precomputer';
import { createProvenParts, type ProvenParts } from '../query/head/provenParts';
import { createMarketTables, type MarketTables } from '../query/marketTables';
import type { ReadyProblem } from '../wire/ready';
import { createHub, type Hub } from '../tail/hub';
import { createTailLoop, type TailLoop } from '../tail/tailLoop';
import type { WriterFacts } from '../tail/writerState';
import { createWriterWatch, type WriterWatch } from '../tail/writerWatch';
import { createExplorer, type Explorer } from './explorer';
import { boundHeapGrowth } from './heapGrowth';

interface ApiOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** State of the ingester; absent if this process runs no ingester. */
  readonly ingest?: () => WriterFacts | null;
  /** Problems of other parts: of the embedded database server, or of the ingester of the second chain. */
  readonly moreProblems?: () => readonly ReadyProblem[];
  /** Returns whether the embedded database server has ended. */
  readonly isEngineAway?: () => boolean;
  /** Called with a requested token whose metadata is incomplete. Absent if this process runs no ingester. */
  readonly onIncomplete?: (token: Hex) => void;
}

export interface ApiServer {
  readonly url: string;
  /** The problems that /readyz reports. */
  problems(): readonly ReadyProblem[];
  /** The queue of source verifications. Null before `connect`, or if the API may only read. */
  verifications(): VerificationQueue | null;
  /**
   * Connects the API to its database. Until then, the API answers 503. `writer` is null if the API may only
   * read.
   */
  connect(readUrl: string, writer: Database | null): void;
  /**
   * Reports a write by the ingester of this process. `flip` is the change of the head, or null if the write
   * did not change the head.
   */
  wake(flip: PublishedFlip | null): void;
  /** Ends streams and connections; resolves within a few seconds. */
  close(): Promise<void>;
}

/** Largest number of parallel reads from one database. Further reads wait. */
const READ_CONNECTIONS = 12;
const CLOSE_MS = 2_000;
/** Interval in ms at which the tail loop looks for changes by the writer of another process. */
const POLL_MS = 50;
/** The same if the writer is in this process and reports its changes. */
const POLL_TOLD_MS = 1_000;
/** Interval in ms at which the heartbeats of the stream get the current problems of the service. */
const TELL_PROBLEMS_MS = 1_000;
/** Time limit in ms of a call to the node that an API answer needs. */
const NODE_TIMEOUT_MS = 2_000;
const NODE_CONNECTIONS = 4;

export async function startApi(options: ApiOptions): Promise<ApiServer> {
  const endBound = boundHeapGrowth();
  const { config, log, metrics } = options;
  const database = createDeferredDatabase();
  const parts = createParts(options, createQueryRunner(database, { observe: metrics.observeQuery }));
  const { hub, tail, rpc } = parts;
  const explorer = createExplorer({ config, log, metrics, ...parts, isReader: parts.writer !== null });
  const facts = listFacts(options, parts, explorer);
  const app = createApp({
    routes: listApiRoutes(options, parts, explorer, facts),
    head: parts.head,
    onReader: () => tail.demand(),
    log,
    corsOrigin: config.corsOrigin,
    rateLimitPerMinute: config.rateLimitPerMinute,
    load: config.load,
    trustedProxies: config.trustedProxies,
    observe: metrics.observeRequest,
  });
  watchParts(metrics, parts, facts);
  const server = createHttpServer(app.callback(), {
    ...HTTP_LIMITS,
    trustedProxies: config.trustedProxies,
  });
  const url = await listen(server, config);
  const metricsServer = await serveMetrics(options);
  const stop = new AbortController();
  const telling = setInterval(() => hub.tellProblems(readReadiness(facts).problems), TELL_PROBLEMS_MS);
  telling.unref();
  let tailing: Promise<unknown> = Promise.resolve();
  log.info({ url }, 'API listening');
  return {
    url,
    problems: () => readReadiness(facts).problems,
    verifications: () => explorer.deps.verifications?.() ?? null,
    connect(readUrl, writer) {
      const reads = openReads(config, readUrl);
      metrics.watchQueue('reads', reads.underWay);
      database.give(reads);
      explorer.connect(readUrl, writer);
      tailing = Promise.all([tail.run(stop.signal), parts.writer?.run(stop.signal)]);
    },
    wake: (flip) => tail.wake(flip),
    async close() {
      endBound();
      clearInterval(telling);
      stop.abort();
      hub.close();
      await closeServer(server);
      if (metricsServer !== null) await closeServer(metricsServer);
      await tailing;
      await explorer.close();
      await rpc?.close();
      await database.close();
    },
  };
}

/** The objects that the endpoints read from. */
interface Parts {
  readonly chain: ChainFacts;
  readonly runner: QueryRunner;
  readonly hub: Hub;
  readonly precomputer: Precomputer;
  readonly tail: TailLoop;
  readonly head: () => HeadSnapshot | null;
  readonly market: MarketTables;
  readonly cache: ByteCache;
  readonly rpc: EndpointPool | null;
  readonly proven: ProvenParts;
  /** The ingester of another process; null if this process ingests. */
  readonly writer: WriterWatch | null;
}

function createParts({ config, log, metrics, ingest }: ApiOptions, runner: QueryRunner): Parts {
  const chain = { ...config.chain, chainId: config.chainId };
  const hub = createHub({ observeDrops: metrics.countDrops });
  const precomputer = createPrecomputer();
  const directory = new Directory(runner);
  const tail = createTailLoop({
    runner,
    chainId: config.chainId,
    hub,
    log,
    directory,
    onHead: (head) => precomputer.onHead(head),
    // If the ingester of this process reports its writes, the tail loop polls the database less often.
    pollMs: ingest === undefined ? POLL_MS : POLL_TOLD_MS,
  });
  return {
    chain,
    runner,
    hub,
    precomputer,
    tail,
    head: () => tail.current(),
    market: createMarketTables(runner, chain, directory),
    cache: createByteCache(),
    rpc: openNode(config, log),
    proven: createProvenParts(runner, config.chainId),
    writer:
      ingest === undefined
        ? createWriterWatch({ runner, chainId: config.chainId, log, now: steadyNow })
        : null,
  };
}

/** Collects the facts from which /readyz computes its answer. */
function listFacts(
  { log, ingest, moreProblems, isEngineAway }: ApiOptions,
  { head, tail, rpc, proven, writer }: Parts,
  explorer: Explorer,
): ReadyzDeps {
  return {
    head,
    ages: createProblemAges(steadyNow),
    proof: () => proven.newest(head()),
    tail: () => tail.facts(),
    ...(writer === null ? {} : { writer }),
    ...(ingest === undefined ? (rpc === null ? {} : { node: createNodeHead({ rpc, log }) }) : { ingest }),
    more: () => [...(moreProblems?.() ?? []), ...explorer.secondProblems()],
    ...(isEngineAway === undefined ? {} : { isEngineAway }),
  };
}

function listApiRoutes(
  { config, log, metrics, onIncomplete = () => undefined }: ApiOptions,
  parts: Parts,
  explorer: Explorer,
  facts: ReadyzDeps,
): Route[] {
  const { chain, precomputer, head, market, cache, rpc, proven } = parts;
  // The tables of a new head, in the order in which the precomputer builds them before the first request.
  const warm = {
    pairs: precomputer.watch(market.pairs),
    tokens: precomputer.watch(market.tokens),
    audits: precomputer.watch(market.audits),
    dexes: precomputer.watch(market.dexes),
    holders: precomputer.watch(market.holders),
  };
  const node = rpc === null ? null : createNodeState({ rpc, log });
  const wallets = { node, seeds: createBalanceSeeds() };
  const deps = { ...market, ...warm, head, cache, wallets, chain, onIncomplete };
  const routes = listRoutes(deps, [
    ...explorerRoutes(explorer.deps),
    healthz(),
    readyz(facts),
    chains({
      ready: facts,
      proof: () => proven.newest(head()),
      market: { ...config.chain, chainId: config.chainId },
      others: () => listOthers(explorer),
    }),
    metricsRoute({ metrics, readers: config.metrics === null ? 'local' : 'none' }),
    activityStream({ ...parts, chainId: chain.chainId, log }),
  ]);
  const views = webRoutes(webFolder(), { ...deps, publicUrl: config.publicUrl });
  return [...routes, ...views, ...previewRoutes(deps)];
}

function listOthers({ deps }: Explorer): ReturnType<Parameters<typeof chains>[0]['others']> {
  return deps.chainIds.slice(1).flatMap((chainId) => {
    const chain = deps.findChain(chainId);
    const description = findBuiltInChain(chainId);
    if (chain === null || description === null) return [];
    return [{ ...description, head: chain.head() }];
  });
}

function watchParts(metrics: Metrics, { hub, head, rpc, proven }: Parts, facts: ReadyzDeps): void {
  metrics.watchHead(head);
  metrics.watchProof(() => proven.all(head()));
  metrics.watchStreams(
    () => hub.clientCount(),
    () => hub.heldBytes(),
  );
  metrics.watchQueue('stream', () => hub.queuedMessages());
  if (rpc !== null) metrics.watchRpc('api', () => rpc.traffic());
  metrics.watchProblems(() => readReadiness(facts).problems.map(({ code }) => code));
}

function openReads({ clickhouseCluster }: Config, url: string): ObservedDatabase {
  const database = openDatabase({
    url,
    requestTimeoutMs: READER_TIMEOUT_MS,
    maxConnections: READ_CONNECTIONS,
    distributed: clickhouseCluster !== null,
  });
  // The observed database counts the running statements. Their times are not needed, because the query runner
  // measures each statement.
  return observeDatabase(database, { finished: () => undefined });
}

/** A separate connection pool to the node, so API requests never slow the ingester. Null if no node is
 * configured. */
function openNode({ rpcUrls, chainId }: Config, log: Logger): EndpointPool | null {
  if (rpcUrls === null) return null;
  const options = { timeoutMs: NODE_TIMEOUT_MS, roundsMax: 1, connectionsMax: NODE_CONNECTIONS };
  return createEndpointPool({ urls: rpcUrls, chainId, log, ...options });
}

/** Serves /metrics at its own address. Null if the settings name none. */
async function serveMetrics({ config, log, metrics }: ApiOptions): Promise<Server | null> {
  if (config.metrics === null) return null;
  const app = createApp({
    routes: [metricsRoute({ metrics, readers: 'all' })],
    head: () => null,
    log,
    corsOrigin: config.corsOrigin,
    rateLimitPerMinute: 0,
  });
  const server = createHttpServer(app.callback());
  const url = await listen(server, config.metrics);
  log.info({ url }, 'metrics listening');
  return server;
}

function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new AppError('bad_config', `cannot listen on ${host}:${port}: ${errorText(error)}`, { cause: error }),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      const actual = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${actual}`);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
