/** Builds the ingester of a chain from the settings and runs it until it is stopped. */
import { hostname } from 'node:os';

import { createBlockSource, type BlockSource } from '../node/blocks/blockSource';
import { confirmMajority } from '../node/blocks/confirmMajority';
import { TrustedChain } from '../node/blocks/trustedChain';
import type { WeakBlock } from '../node/proof/proofGuard';
import { systemClock, type Clock } from '../node/rpc/clock';
import { createEndpointPool, type EndpointPool } from '../node/rpc/endpointPool';
import { listNodeFaults } from '../node/rpc/faults/nodeFaults';
import { encodeWriterState, newsOfWriter, type WriterFacts } from '../stream/writerState';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner } from '../clickhouse/client/namedQueries';
import type { Config } from '../config';
import type { ChainBlock } from '../domain/block';
import type { Hex } from '../domain/hex';
import { orientPool, quoteRank } from '../domain/pools/orientPool';
import { errorText, type AppError } from '../errors';
import { PoolSearch } from '../ingest/olderPools/poolSearch';
import { BalanceChecker } from '../ingest/balances/balanceChecker';
import { ManyTokenDiscovery } from '../ingest/pools/discoverManyTokenPools';
import { FoundPools } from '../ingest/pools/foundPools';
import { createClickHouseStore } from '../ingest/store/clickhouseStore';
import { createRangeHashWorker } from '../ingest/repair/rangeHashWorker';
import { createGapStore, type GapStore } from '../ingest/repair/gapStore';
import { reindexBlocks } from '../ingest/repair/reindexBlocks';
import { SecondLook } from '../ingest/repair/secondLook';
import { SenderCheck } from '../ingest/repair/senderCheck';
import type { Mending } from '../ingest/repair/viewCheck';
import { gatedStore, type Gate, confirmGate, type Confirm } from '../ingest/store/gates';
import { pausableGaps, pauseGate } from '../ingest/store/pause';
import { doesNodeAnswer, isNodeUntried, listIngestProblems } from '../ingest/session/problems';
import { logRebuild } from '../ingest/session/progress';
import { readFloors, type Floors } from '../ingest/store/retention';
import { configuredDexes, manyTokenDexes, runIngest, SessionRestart } from '../ingest/session/runIngest';
import {
  beginWork,
  endWork,
  newIngestStatus,
  noteLessProven,
  type IngestStatus,
  backfillProgress,
} from '../ingest/session/status';
import { waitForSilence, WriterBeat } from '../ingest/session/standby';
import { LogLedger, logKeepingGaps, logKeepingStore } from '../ingest/store/logLedger';
import type { Store } from '../ingest/store/store';
import { WriterClaim } from '../ingest/store/writerClaim';
import { listWatched, type ChainDescription } from '../domain/chainDescription';
import type { Logger } from '../log';
import { DexDayWorker } from '../workers/dexDayWorker';
import { ProtocolFeeWorker } from '../workers/protocolFeeWorker';
import { TraitWorker } from '../workers/traitWorker';
import type { PublishedFlip } from '../query/head/headState';
import { createReportedHead, type ReportedHead } from '../query/head/reportedHead';
import type { IngestFigures } from '../metrics';
import { ActiveContracts } from '../contracts/activeContracts';
import { ContractWorker } from '../contracts/contractWorker';
import { needNodeUrls } from './chains';
import { listDifferingBlocks } from './differingBlocks';
import type { Storage } from './storage';

export interface Ingester {
  readonly status: IngestStatus;
  readonly rpc: EndpointPool;
  /** State of the ingester for /readyz. */
  facts(): WriterFacts;
  /** Figures of the ingester for /metrics. */
  figures(): IngestFigures;
  /**
   * Runs until the signal aborts, or until block `stopAt` is in the final tables. With `standby`, first waits until no
   * other process writes the chain. Throws `fenced` if a newer writer takes over.
   */
  run(storage: Storage, signal: AbortSignal, options?: RunOptions): Promise<void>;
  close(): Promise<void>;
}

interface RunOptions {
  readonly stopAt?: number;
  readonly standby?: boolean;
  /** Reads blocks from elsewhere than from the node. Gets the node's source. */
  readonly wrapSource?: (node: BlockSource) => BlockSource;
}

/** Each check of final blocks may send this part of the calls of the pool search. */
const CHECK_PART = 5;

const keepSource = (node: BlockSource): BlockSource => node;

type OnCommit = (flip: PublishedFlip | null) => void;

function openSource(config: Config, pool: EndpointPool, status: IngestStatus, log: Logger): BlockSource {
  const onWeak = (block: WeakBlock): void => noteLessProven(status, block);
  return createBlockSource({ pool, log, proof: config.proof, onWeak });
}

/**
 * Throws bad_config without URLs of a node. Sends no request to the node before `run`. @param onCommit called when
 * readers can see new data, with the change of the head, or null
 */
export function createIngester(config: Config, log: Logger, onCommit: OnCommit = () => undefined): Ingester {
  const urls = needNodeUrls(config, 'JSON-RPC URLs of the chain to ingest');
  const status = newIngestStatus();
  const head = createReportedHead(config.chainId, onCommit);
  const rpc = createEndpointPool({ urls, chainId: config.chainId, log });
  const source = openSource(config, rpc, status, log);
  const clock = systemClock();
  const startedAt = clock.now();
  const facts = (): WriterFacts => factsOf(status, rpc, config.chain, clock.now(), startedAt);
  return {
    status,
    rpc,
    facts,
    figures: () => figuresOf(status, rpc),
    async run(storage, signal, { stopAt, standby = false, wrapSource = keepSource } = {}): Promise<void> {
      const database = storage.writer;
      const { chainId, chain } = config;
      if (standby) {
        status.phase = 'standby';
        await waitForSilence({ database, chainId, clock, log }, signal);
      }
      const claim = new WriterClaim(database, chainId, `${hostname()} ${process.pid}`);
      const fencing = new AbortController();
      const runSignal = AbortSignal.any([signal, fencing.signal]);
      const pauses = { database, clock, log, signal: runSignal };
      const mending = reportMending(status, log, clock, runSignal);
      const trusted = new TrustedChain({ pool: rpc, source }, config.proof.trusted, log);
      const confirm: Confirm = (block) => confirmMajority({ pool: rpc, source }, block, runSignal);
      const link: Confirm = (block) => trusted.check(block, runSignal);
      const { store, gaps, logs } = openStores(config, { database, claim, mending, log, head });
      const foundPools = new FoundPools(database, chainId);
      const active = new ActiveContracts();
      const gates = [confirmGate(confirm, link), pauseGate(pauses), reportGate(head.report, active)];
      const restart = new SessionRestart();
      const ingest = runIngest(
        {
          foundPools,
          store: gatedStore(store, gates),
          confirm,
          gaps: pausableGaps(gaps, pauses),
          keepsAllLogs: (block) => logs.isWholeAt(block),
          rangeHashes: createRangeHashWorker(database, chainId, log),
          rpc,
          source: wrapSource(source),
          chain,
          startBlock: config.startBlock,
          finality: config.finality,
          status,
          log,
          clock,
          terminal: process.stderr,
          stopAt,
          restart,
          onFailure: (error) => mendEngine(error, storage, log),
        },
        runSignal,
      );
      const deps = { database, rpc, source, chainId, status, log, clock, foundPools, restart, head, active };
      const workers = stopAt === undefined ? createWorkers(config, storage, deps) : [];
      const onFenced = (error: AppError): void => fencing.abort(error);
      const writerBeat = new WriterBeat({ claim, clock, log, onFenced, ...beatContents(facts) });
      await runBeside([writerBeat, ...workers], ingest, runSignal);
      if (fencing.signal.aborted && !signal.aborted) {
        reportFenced(status, errorText(fencing.signal.reason), clock.now(), log);
        throw fencing.signal.reason;
      }
    },
    close: () => rpc.close(),
  };
}

/** What the signs of life say. */
function beatContents(facts: () => WriterFacts): { state(): string; news(): string } {
  return { state: () => encodeWriterState(facts()), news: () => newsOfWriter(facts()) };
}

function reportFenced(status: IngestStatus, problem: string, now: number, log: Logger): void {
  status.phase = 'stopped';
  status.problem = problem;
  status.problemDetail = null;
  status.problemSince = now;
  log.fatal({ error: problem }, 'a newer writer took over; the ingester stops');
}

interface StoreParts {
  readonly database: Database;
  readonly claim: WriterClaim;
  readonly mending: Mending;
  readonly log: Logger;
  readonly head: ReportedHead;
}

/** Opens the stores of blocks and of lost rows. They also store the changes of EXPLORER. */
function openStores(
  { chainId, explorer: keepsAllLogs }: Config,
  { database, claim, mending, log, head }: StoreParts,
): { readonly store: Store; readonly gaps: GapStore; readonly logs: LogLedger } {
  const floors = (): Promise<Floors> => readFloors(database);
  const logs = new LogLedger(database, claim);
  const store = createClickHouseStore(database, chainId, floors, mending, claim);
  const gaps = createGapStore(database, chainId, floors, claim);
  const onChange = (): void => head.report(null);
  return {
    store: logKeepingStore(store, logs, { whole: keepsAllLogs, log, onChange }),
    gaps: logKeepingGaps(gaps, logs),
    logs,
  };
}

function reportMending(status: IngestStatus, log: Logger, clock: Clock, signal: AbortSignal): Mending {
  return {
    signal,
    onLost: (lost) => log.error(lost, 'aggregates differ from the stored rows; rebuilding them'),
    onProgress: logRebuild(log, () => clock.now()),
    onMended: (lost) => {
      status.mends += 1;
      log.warn(lost, 'aggregates were rebuilt');
    },
  };
}

type WorkerDeps = Omit<SearchDeps, 'rpc' | 'status'> &
  Pick<Ingester, 'rpc' | 'status'> & {
    readonly source: BlockSource;
    readonly foundPools: FoundPools;
    readonly restart: SessionRestart;
    readonly head: ReportedHead;
    readonly active: ActiveContracts;
  };

/**
 * The background tasks of an ingester that follows the head. All begin at once, so each waits by itself until the status
 * has the phase `follow`. A backfill has none.
 */
function createWorkers(
  config: Config,
  storage: Storage,
  { foundPools, restart, head, active, ...deps }: WorkerDeps,
): Worker[] {
  const { verifiedDb } = storage;
  // Publishes the head under a new version, so that readers drop their cached answers and read again.
  const onChange = (): void => foundPools.refresh();
  const workers: Worker[] = [
    new BalanceChecker({ ...deps, onChange }),
    new ContractWorker({ ...deps, active, verifiedDb, now: () => deps.clock.now() }),
  ];
  const { anchors, wrappedNative, forkBlock = null, dexes } = config.chain;
  if (dexes.length > 0) {
    const runner = createQueryRunner(deps.database);
    const workerDeps = { ...deps, readHead: () => head.read(runner), onChange };
    workers.push(new TraitWorker({ ...workerDeps, forkBlock }));
    workers.push(new ProtocolFeeWorker(workerDeps));
    workers.push(new DexDayWorker({ ...workerDeps, sources: { anchors, wrappedNative } }));
  }
  if (config.historyCallsPerSecond > 0) {
    workers.push(createPoolSearch(config, deps, foundPools));
    workers.push(
      ...createChecks(config, { ...deps, onChange }, () =>
        restart.request('rows of final blocks were replaced; the session reads them again'),
      ),
    );
  }
  return workers;
}

/** The tasks that compare stored final blocks with the node, and correct them. */
function createChecks(
  config: Config,
  deps: Omit<WorkerDeps, 'foundPools' | 'restart' | 'head' | 'active'> & { readonly onChange: () => void },
  restart: () => void,
): [SecondLook, SenderCheck] {
  const { database, rpc, source, status, clock, log } = deps;
  const { chain } = config;
  const repair = async (from: number, to: number, signal: AbortSignal): Promise<void> => {
    beginWork(status, { kind: 'refill', from, to }, clock.now());
    try {
      await reindexBlocks({ database, rpc, source, chain, log, signal }, { from, to, replace: true });
    } finally {
      endWork(status, 'refill');
    }
    status.refills += 1;
    restart();
    deps.onChange();
  };
  const checkDeps = {
    ...deps,
    callsPerSecond: config.historyCallsPerSecond / CHECK_PART,
    // `reindex` refuses a cluster.
    repair: config.clickhouseCluster === null ? repair : null,
  };
  const listDiffering = (blocks: readonly ChainBlock[]): Promise<number[]> =>
    listDifferingBlocks(database, chain, blocks);
  return [new SecondLook({ ...checkDeps, pool: rpc, listDiffering }), new SenderCheck(checkDeps)];
}

/** Reports each commit, and the contracts of new head blocks. */
function reportGate(onCommit: OnCommit, active: ActiveContracts): Gate {
  return {
    after(commit) {
      for (const { rows } of commit.kind === 'head' ? commit.flip.fresh : [])
        active.note(rows.ref.number, [...rows.logs, ...rows.created_contracts]);
      if (commit.kind !== 'start') onCommit(commit.kind === 'head' ? commit.flip : null);
    },
  };
}

interface Worker {
  run(signal: AbortSignal): Promise<void>;
}

type SearchDeps = Pick<
  ConstructorParameters<typeof PoolSearch>[0],
  'database' | 'rpc' | 'chainId' | 'status' | 'log' | 'clock'
>;

function createPoolSearch(config: Config, deps: SearchDeps, foundPools: FoundPools): PoolSearch {
  const { chain } = config;
  const manyTokens = manyTokenDexes(chain);
  const baseIsToken0 = (token0: Hex, token1: Hex): boolean => orientPool(chain, token0, token1);
  return new PoolSearch({
    ...deps,
    found: foundPools,
    baseIsToken0,
    // The events of pools with ids do not tell the balances that a pool had before.
    dexes: {
      pairs: configuredDexes(chain).filter(({ protocol }) => protocol.poolOf === undefined),
      manyTokens,
    },
    manyTokenDiscovery: new ManyTokenDiscovery({
      ...deps,
      dexes: manyTokens,
      baseIsToken0,
      quoteRank: (token) => quoteRank(chain, token),
    }),
    now: () => Date.now(),
    callsPerSecond: config.historyCallsPerSecond,
    watched: listWatched(chain).map(({ address }) => address),
  });
}

/** Runs workers alongside the ingester and stops them when it ends. */
async function runBeside(
  workers: readonly Worker[],
  ingest: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const workersEnd = new AbortController();
  const workerRuns = workers.map((worker) => worker.run(AbortSignal.any([signal, workersEnd.signal])));
  try {
    await ingest;
  } finally {
    workersEnd.abort();
    await Promise.all(workerRuns);
  }
}

/**
 * If ClickHouse fails to write the file of deduplication tokens of a table, the table refuses every insert
 * until a restart (ClickHouse #118350).
 */
const STUCK_LOG = /Cannot write to (canceled|finalized) buffer/;

async function mendEngine(error: unknown, { server }: Storage, log: Logger): Promise<void> {
  if (server === null || !STUCK_LOG.test(errorText(error))) return;
  try {
    await server.restart('ClickHouse cannot write a deduplication log until a restart');
  } catch (failure) {
    log.error({ error: errorText(failure) }, 'restarting the embedded ClickHouse failed');
  }
}

function factsOf(
  status: IngestStatus,
  rpc: EndpointPool,
  chain: ChainDescription,
  now: number,
  startedAt: number,
): WriterFacts {
  const health = rpc.health();
  const problems = listIngestProblems(status, health, { now, wallMs: Date.now() }, chain);
  const nodeAnswers = doesNodeAnswer(health, now);
  const nodeFaults = nodeAnswers || isNodeUntried(health, now - startedAt) ? [] : listNodeFaults(health);
  const backfill = backfillProgress(status, now);
  return { nodeHead: health.head ?? status.nodeHead, nodeAnswers, nodeFaults, problems, backfill };
}

function figuresOf(status: IngestStatus, rpc: EndpointPool): IngestFigures {
  const { head, mismatches, endpoints } = rpc.health();
  return { ...status, nodeHead: head ?? status.nodeHead, mismatches, endpoints };
}
