/**
 * Builds the API process: HTTP server, tail loop (detects changes of the head) and stream hub (sends events
 * to stream clients). Listens before the database is available.
 */
import type { Server } from 'node:http';

import { createApp } from '../api/app';
import { createByteCache } from '../api/byteCache';
import { createHttpServer, HTTP_LIMITS } from '../api/httpServer';
import { createPreviewPainter } from '../api/preview/previewPainter';
import { metrics as metricsRoute } from '../api/service/metrics';
import { readReadiness } from '../api/service/readyz';
import type { Database } from '../clickhouse/client/database';
import type { Config } from '../config';
import type { VerificationQueue } from '../domain/verificationQueue';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import type { ReadyProblem } from '../wire/ready';
import { databaseUrl, verifiedDatabase, type PerChain } from './chains';
import { createExplorer } from './explorer';
import { boundHeapGrowth } from './heapGrowth';
import { openChains, type ChainService } from './openChain';
import { openParts, serveChain, type ChainParts } from './serveChain';

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
  /** The problems that /readyz of the first chain reports. */
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
  const { config, log, metrics, engineProblems = () => [] } = options;
  const { chains = openChains(config, { log, metrics, ingests: false }) } = options;
  const open = (chain: ChainService): ChainParts =>
    openParts(chain, { engineProblems, others: chains.filter((other) => other !== chain) });
  const [firstChain, ...otherChains] = chains;
  const [first, ...others]: PerChain<ChainParts> = [open(firstChain), ...otherChains.map(open)];
  const listStored = (): ChainParts[] => [first, ...others].filter(({ chain }) => chain.isStored());
  const cache = createByteCache();
  const markets = new Map([first, ...others].map(({ chain, tables }) => [chain.chainId, tables]));
  const explorer = createExplorer({ config, log, chains, cache, markets });
  const shared = { config, metrics, cache, explorer, painter: createPreviewPainter(), listStored };
  const firstServed = serveChain(first, shared);
  const otherServed = others.map((each) => ({
    isStored: each.chain.isStored,
    served: serveChain(each, shared),
  }));
  const app = createApp({
    ...firstServed,
    chains: () => [firstServed, ...otherServed.flatMap(({ isStored, served }) => (isStored() ? served : []))],
    log,
    corsOrigin: config.corsOrigin,
    rateLimitPerMinute: config.rateLimitPerMinute,
    load: config.load,
    trustedProxies: config.trustedProxies,
    observe: metrics.observeRequest,
  });
  const listProblems = (): readonly ReadyProblem[] => readReadiness(first.facts).problems;
  for (const chain of chains) watchParts(metrics, chain);
  metrics.watchProblems(() => listProblems().map(({ code }) => code));
  watchChains(metrics, listStored);
  const server = createHttpServer(app.callback(), {
    ...HTTP_LIMITS,
    trustedProxies: config.trustedProxies,
  });
  const url = await listen(server, config);
  const metricsServer = await serveMetrics(options);
  const problemTimer = setInterval(() => {
    for (const { chain, facts } of listStored()) chain.hub.tellProblems(readReadiness(facts).problems);
  }, TELL_PROBLEMS_MS);
  problemTimer.unref();
  log.info({ url }, 'API listening');
  return {
    url,
    problems: listProblems,
    verifications: explorer.verifications,
    connect(readUrl, writer) {
      for (const chain of chains) chain.connect(databaseUrl(readUrl, chain.config));
      explorer.connect(verifiedDatabase(readUrl, config), writer);
    },
    async close() {
      endBound();
      clearInterval(problemTimer);
      for (const { hub } of chains) hub.close();
      await closeServer(server);
      if (metricsServer !== null) await closeServer(metricsServer);
      await explorer.close();
      for (const chain of chains) await chain.close();
    },
  };
}

function watchParts(metrics: Metrics, { chainId, hub, head, rpc, proven }: ChainService): void {
  metrics.watchProof(chainId, () => proven.all(head()));
  metrics.watchQueue('stream', () => hub.queuedMessages());
  if (rpc !== null) metrics.watchRpc(chainId, 'api', () => rpc.traffic());
}

/** Figures of the chains that this service has data of. */
function watchChains(metrics: Metrics, listStored: () => readonly ChainParts[]): void {
  metrics.watchChains(() =>
    listStored().map(({ chain: { chainId, hub }, facts }) => {
      const { head, node } = readReadiness(facts).checks;
      return {
        chainId,
        block: head.block_number,
        finalBlock: head.final_block,
        ageSeconds: head.age_seconds,
        behindBlocks: node?.behind_blocks ?? null,
        streams: hub.clientCount(),
        heldBytes: hub.heldBytes(),
      };
    }),
  );
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
