/** Builds the ingester of the market chain from the settings and runs it until told to stop. */
import { createBlockSource } from '../chain/blockSource';
import { systemClock } from '../chain/clock';
import { createEndpointPool, type EndpointPool } from '../chain/endpointPool';
import type { IngestFacts } from '../api/service/readyz';
import type { Config } from '../config';
import { AppError, errorText } from '../errors';
import { createClickHouseStore } from '../ingest/clickhouseStore';
import { runIngest } from '../ingest/runIngest';
import { newIngestStatus, type IngestStatus } from '../ingest/status';
import type { Logger } from '../log';
import type { Storage } from './storage';

/** A node that has not answered for so long does not answer. */
const NODE_SILENCE_MS = 60_000;

export interface Ingester {
  readonly status: IngestStatus;
  readonly rpc: EndpointPool;
  /** What /readyz says of this ingester. */
  facts(): IngestFacts;
  /** Until the signal aborts, or until block `stopAt` is in the final tables. */
  run(storage: Storage, signal: AbortSignal, stopAt?: number): Promise<void>;
  close(): Promise<void>;
}

/** Throws bad_config without RPC_URL. Nothing is asked of the node before `run`. */
export function createIngester(config: Config, log: Logger): Ingester {
  if (config.rpcUrls === null) {
    throw new AppError(
      'bad_config',
      'RPC_URL is not set: name the JSON-RPC endpoint(s) of the chain to ingest',
    );
  }
  const status = newIngestStatus();
  const rpc = createEndpointPool({ urls: config.rpcUrls, chainId: config.chainId, log });
  const source = createBlockSource({ pool: rpc, log });
  const clock = systemClock();
  return {
    status,
    rpc,
    facts: () => factsOf(status, rpc, clock.now()),
    run: (storage, signal, stopAt) =>
      runIngest(
        {
          store: createClickHouseStore(storage.writer, config.chainId),
          rpc,
          source,
          chain: config.chain,
          startBlock: config.startBlock,
          finality: config.finality,
          status,
          log,
          clock,
          terminal: process.stderr,
          stopAt,
          onFailure: (error) => mendEngine(error, storage, log),
        },
        signal,
      ),
    close: () => rpc.close(),
  };
}

/** A table whose deduplication log once failed to be written refuses every insert until a restart (ClickHouse #118350). */
const STUCK_LOG = /Cannot write to (canceled|finalized) buffer/;

async function mendEngine(error: unknown, { server }: Storage, log: Logger): Promise<void> {
  if (server === null || !STUCK_LOG.test(errorText(error))) return;
  try {
    await server.restart('a deduplication log cannot be written any more');
  } catch (failure) {
    log.error({ error: errorText(failure) }, 'the engine could not be restarted');
  }
}

function factsOf(status: IngestStatus, rpc: EndpointPool, now: number): IngestFacts {
  const health = rpc.health();
  const nodeAnswers = health.lastGoodAt !== null && now - health.lastGoodAt < NODE_SILENCE_MS;
  const problems: { code: string; message: string }[] = [];
  if (status.problem !== null) {
    const code = status.phase === 'stopped' ? 'ingest_stopped' : 'ingest_failing';
    problems.push({ code, message: status.problem });
  }
  for (const endpoint of health.endpoints) {
    if (endpoint.state === 'ok') continue;
    const why = endpoint.lastError === null ? '' : `: ${endpoint.lastError}`;
    problems.push({
      code: `node_${endpoint.state}`,
      message: `endpoint ${endpoint.name} is ${endpoint.state}${why}`,
    });
  }
  return { nodeHead: health.head ?? status.nodeHead, nodeAnswers, problems };
}
