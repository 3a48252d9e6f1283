/**
 * Builds the API process: HTTP server, tail loop (detects changes of the head) and stream hub (sends events
 * to stream clients). Listens before the database is available.
 */
import type { Server } from 'node:http';

import { createApp } from '../api/app';
import { createByteCache, type ByteCache } from '../api/byteCache';
import { createHttpServer, HTTP_LIMITS } from '../api/httpServer';
import type { Route } from '../api/route';
import { previewRoutes } from '../api/preview/previewRoutes';
import { listRoutes, explorerRoutes } from '../api/routes';
import { chains as chainList } from '../api/service/chains';
import { healthz } from '../api/service/healthz';
import { metrics as metricsRoute } from '../api/service/metrics';
import { rangeHash } from '../api/service/rangeHash';
import { readReadiness, readyz, type ReadyzDeps, createProblemAges } from '../api/service/readyz';
import { activityStream } from '../api/stream/activityStream';
import { webFolder, webRoutes } from '../api/web/webRoutes';
import { createHeadProbe } from '../node/head/headProbe';
import { createAccountState } from '../node/rpc/createAccountState';
import type { Database } from '../clickhouse/client/database';
import type { Config } from '../config';
import type { Hex } from '../domain/hex';
import { steadyNow } from '../domain/time/steadyTime';
import type { VerificationQueue } from '../domain/verificationQueue';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import { createBalanceSeeds } from '../query/holders/balanceSeeds';
import { sumBlocks } from '../ingest/repair/sumBlocks';
import { noteAsked } from '../ingest/session/status';
import { createMarketTables, type MarketTables } from '../query/marketTables';
import type { ReadyProblem } from '../wire/ready';
import { databaseUrl, type PerChain } from './chains';
import { createExplorer, type Explorer } from './explorer';
import { boundHeapGrowth } from './heapGrowth';
import { openChains, type ChainService } from './openChain';

interface ApiOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The chains to serve, by default all chains of the settings without ingesters. The API closes them. */
  readonly chains?: PerChain<ChainService>;
  /** Problems of the embedded database server. */
  readonly engineProblems?: () => readonly ReadyProblem[];
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
  /** Ends streams and connections; resolves within a few seconds. */
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;
/** Interval in ms at which the heartbeats of the stream get the current problems of the service. */
const TELL_PROBLEMS_MS = 1_000;

export async function startApi(options: ApiOptions): Promise<ApiServer> {
  const endBound = boundHeapGrowth();
  const { config, log, metrics } = options;
  const { chains = openChains(config, { log, metrics, ingests: false }) } = options;
  const [market] = chains;
  const cache = createByteCache();
  const tables = createMarketTables(
    market.runner,
    { ...config.chain, chainId: config.chainId },
    market.directory,
    market.proven,
  );
  const explorer = createExplorer({ config, log, chains, cache, market: tables });
  const facts = listFacts(options, chains);
  const app = createApp({
    routes: listApiRoutes(options, { chains, tables, cache, explorer, facts }),
    head: market.head,
    onReader: () => market.tail.demand(),
    log,
    corsOrigin: config.corsOrigin,
    rateLimitPerMinute: config.rateLimitPerMinute,
    load: config.load,
    trustedProxies: config.trustedProxies,
    observe: metrics.observeRequest,
  });
  watchParts(metrics, market, facts);
  const server = createHttpServer(app.callback(), {
    ...HTTP_LIMITS,
    trustedProxies: config.trustedProxies,
  });
  const url = await listen(server, config);
  const metricsServer = await serveMetrics(options);
  const problemTimer = setInterval(
    () => market.hub.tellProblems(readReadiness(facts).problems),
    TELL_PROBLEMS_MS,
  );
  problemTimer.unref();
  log.info({ url }, 'API listening');
  return {
    url,
    problems: () => readReadiness(facts).problems,
    verifications: () => explorer.deps.verifications?.() ?? null,
    connect(readUrl, writer) {
      for (const chain of chains) chain.connect(databaseUrl(readUrl, chain.config));
      explorer.connect(readUrl, writer);
    },
    async close() {
      endBound();
      clearInterval(problemTimer);
      market.hub.close();
      await closeServer(server);
      if (metricsServer !== null) await closeServer(metricsServer);
      await explorer.close();
      for (const chain of chains) await chain.close();
    },
  };
}

/** Collects the facts from which /readyz computes its answer. */
function listFacts(
  { log, engineProblems = () => [] }: ApiOptions,
  [{ head, tail, rpc, proven, writer, ingester }, ...otherChains]: PerChain<ChainService>,
): ReadyzDeps {
  return {
    head,
    ages: createProblemAges(steadyNow),
    proof: () => proven.newest(head()),
    tail: () => tail.facts(),
    ...(writer === null ? {} : { writer }),
    ...(ingester !== null
      ? { ingest: ingester.facts }
      : rpc === null
        ? {}
        : { node: createHeadProbe({ rpc, log }) }),
    more: () => [...engineProblems(), ...otherChains.flatMap((chain) => chain.problems())],
    isEngineAway: () => engineProblems().length > 0,
  };
}

/** The objects that the endpoints read from. */
interface Parts {
  readonly chains: PerChain<ChainService>;
  readonly tables: MarketTables;
  readonly cache: ByteCache;
  readonly explorer: Explorer;
  readonly facts: ReadyzDeps;
}

function listApiRoutes(
  { config, log, metrics }: ApiOptions,
  { chains, tables, cache, explorer, facts }: Parts,
): Route[] {
  const [market, ...otherChains] = chains;
  const { precomputer, head, rpc, proven, ingester } = market;
  // The tables of a new head, in the order in which the precomputer builds them before the first request.
  const watchedTables = {
    pairs: precomputer.watch(tables.pairs),
    tokens: precomputer.watch(tables.tokens),
    audits: precomputer.watch(tables.audits),
    dexes: precomputer.watch(tables.dexes),
    holders: precomputer.watch(tables.holders),
  };
  const node = rpc === null ? null : createAccountState({ rpc, log });
  const wallets = { node, seeds: createBalanceSeeds() };
  const chain = { ...config.chain, chainId: config.chainId };
  const onIncomplete = (token: Hex): void => {
    if (ingester !== null) noteAsked(ingester.status, token);
  };
  const deps = { ...tables, ...watchedTables, head, cache, wallets, chain, onIncomplete };
  const routes = listRoutes(deps, [
    ...explorerRoutes(explorer.deps),
    healthz(),
    readyz(facts),
    chainList({
      ready: facts,
      proof: () => proven.newest(head()),
      market: chain,
      otherChains: () =>
        otherChains
          .filter((otherChain) => otherChain.isStored())
          .map((otherChain) => ({ ...otherChain.config.chain, head: otherChain.head() })),
    }),
    rangeHash(deps, async (span) => {
      const sums = await sumBlocks(market.reads(), config.chainId, span);
      const tables = [...sums].map(([name, sum]) => ({ name, sum: String(sum) }));
      return tables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    }),
    metricsRoute({ metrics, readers: config.metrics === null ? 'local' : 'none' }),
    activityStream({ ...market, log }),
  ]);
  const views = webRoutes(webFolder(), { ...deps, publicUrl: config.publicUrl });
  return [...routes, ...views, ...previewRoutes(deps)];
}

function watchParts(metrics: Metrics, { hub, head, rpc, proven }: ChainService, facts: ReadyzDeps): void {
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
      const listenedPort = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${listenedPort}`);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const forceTimer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(forceTimer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
