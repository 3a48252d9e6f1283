/** Builds the API process: HTTP server, tail loop, stream hub. Listens before there is a database. */
import { createServer, type Server } from 'node:http';

import { createApp } from '../api/app';
import { createByteCache } from '../api/byteCache';
import { listRoutes } from '../api/routes';
import { healthz } from '../api/service/healthz';
import { metrics as metricsRoute } from '../api/service/metrics';
import { readyz, type IngestFacts } from '../api/service/readyz';
import { activityStream } from '../api/stream/activityStream';
import { createDeferredDatabase } from '../clickhouse/deferredDatabase';
import { openDatabase } from '../clickhouse/database';
import { createQueryRunner } from '../clickhouse/namedQueries';
import type { Config } from '../config';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import { ActivityCounter } from '../query/activity';
import { createAuditTables } from '../query/auditTables';
import { createDexTables } from '../query/dexTable';
import type { HeadSnapshot } from '../query/headSnapshot';
import { createHolderTables } from '../query/holders';
import { createWarmer } from '../query/keepWarm';
import { createPairTables } from '../query/pairTable';
import { createPoolDirectory } from '../query/poolDirectory';
import { createTokenPrices } from '../query/tokenPrices';
import { createTokenTables } from '../query/tokenTable';
import { createHub } from '../tail/hub';
import { createTailLoop } from '../tail/tailLoop';

export interface ApiOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** What this process' own ingester says; absent when it has none. */
  readonly ingest?: () => IngestFacts | null;
}

export interface ApiServer {
  readonly url: string;
  /** Gives the API its database; until then it answers 503. */
  connect(readUrl: string): void;
  /** Ends streams and connections; resolves within a few seconds. */
  close(): Promise<void>;
}

/** Reads from one database in parallel at most; more wait their turn. */
const READ_CONNECTIONS = 12;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const HEADER_BYTES_MAX = 16_384;
const CLOSE_MS = 2_000;

export async function startApi({ config, log, metrics, ingest }: ApiOptions): Promise<ApiServer> {
  const database = createDeferredDatabase();
  const runner = createQueryRunner(database, { checkRows: false, observe: metrics.observeQuery });
  const hub = createHub({ observeDrops: metrics.countDrops });
  const warmer = createWarmer();
  const onHead = (head: HeadSnapshot): void => warmer.onHead(head);
  const tail = createTailLoop({ runner, chainId: config.chainId, hub, log, onHead });
  const service = [
    healthz(),
    readyz({
      head: () => tail.current(),
      tail: () => tail.facts(),
      ...(ingest === undefined ? {} : { ingest }),
    }),
    metricsRoute({ metrics }),
    activityStream({ runner, chainId: config.chainId, tail, hub, log }),
  ];
  const prices = createTokenPrices(runner, config.chainId, config.chain);
  const pairs = createPairTables(runner, config.chainId, prices, config.chain.dexes);
  const holders = createHolderTables(runner, pairs);
  const market = {
    runner,
    head: () => tail.current(),
    cache: createByteCache(),
    directory: createPoolDirectory(runner, pairs),
    pairs: warmer.watch(pairs),
    tokens: warmer.watch(createTokenTables(runner, config.chainId, pairs, holders)),
    audits: warmer.watch(createAuditTables(runner, config.chainId, pairs)),
    dexes: warmer.watch(createDexTables(runner, config.chainId, config.chain.dexes, pairs)),
    holders: warmer.watch(holders),
    activityCounter: new ActivityCounter(runner),
    chain: { ...config.chain, chainId: config.chainId },
  };
  const app = createApp({
    routes: listRoutes(market, service),
    head: () => tail.current(),
    log,
    corsOrigin: config.corsOrigin,
    rateLimitPerMinute: config.rateLimitPerMinute,
    observe: metrics.observeRequest,
  });
  metrics.watchHead(() => tail.current());
  metrics.watchStreams(() => hub.clientCount());
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, app.callback());
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  const url = await listen(server, config);
  const stop = new AbortController();
  const tailing = tail.run(stop.signal);
  log.info({ url }, 'API listening');
  return {
    url,
    connect: (readUrl) => database.give(openDatabase({ url: readUrl, maxConnections: READ_CONNECTIONS })),
    async close() {
      stop.abort();
      hub.close();
      await closeServer(server);
      await tailing;
      await database.close();
    },
  };
}

function listen(server: Server, { host, port }: Config): Promise<string> {
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
