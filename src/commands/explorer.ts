/**
 * Builds the dependencies of the explorer's endpoints: both chains with their heads, contracts, verified sources and
 * signatures.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ByteCache } from '../api/byteCache';
import type { DialectDeps } from '../api/etherscan/action';
import type { ExplorerChain } from '../api/explorerRoute';
import { findBuiltInChain } from '../chains/builtInChains';
import { createEndpointPool, type EndpointPool } from '../chain/rpc/endpointPool';
import { createNodeState } from '../chain/rpc/nodeState';
import { openDatabase, type Database } from '../clickhouse/client/database';
import { createDeferredDatabase } from '../clickhouse/client/deferredDatabase';
import { READER_TIMEOUT_MS } from '../clickhouse/engine/engineConfig';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import type { Config } from '../config';
import { steadyNow } from '../domain/steadyTime';
import type { VerificationQueue } from '../domain/verification';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import { createBlockHashes } from '../query/head/blockHashes';
import { createContractReader, type ChainAt } from '../query/contracts/contracts';
import { Directory } from '../query/tokens/directory';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import { createHolderLabels } from '../query/holders/holderLabels';
import { findMarketSupply } from '../query/tokens/marketSupply';
import type { MarketTables } from '../query/marketTables';
import { readChangeMark } from '../query/head/headState';
import { createLogCounts } from '../query/logs/logCounts';
import { createLogDecoder } from '../query/logs/logDecoder';
import { withNodeCode } from '../query/contracts/nodeCode';
import { rememberState } from '../query/head/rememberState';
import { createSignatureReader } from '../query/contracts/signatures';
import { createTwinArguments } from '../query/contracts/twinArguments';
import { createVerifiedLister } from '../query/contracts/verifiedList';
import { createVerifiedReader } from '../query/contracts/verifiedContracts';
import { createNodeCode } from '../sources/createNodeCode';
import { createNodeReads } from '../sources/nodeReads';
import { createHub } from '../tail/hub';
import { createTailLoop, type TailLoop } from '../tail/tailLoop';
import { createWriterWatch } from '../tail/writerWatch';
import { findCompilers } from '../sources/verify/compilers';
import {
  openCompilerFolder,
  openCompilerMirror,
  type CompilerSource,
} from '../sources/verify/compilerFolder';
import { openVerifyQueue } from './openVerifyQueue';
import type { ReadyProblem } from '../wire/ready';
import { hasSecondChain, listSecondView, SECOND_CHAIN_ID, secondDatabaseUrl } from './secondChain';

interface ExplorerOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Query runner of the market chain. */
  readonly runner: QueryRunner;
  readonly head: () => HeadSnapshot | null;
  readonly cache: ByteCache;
  readonly market: Pick<MarketTables, 'directory' | 'pairs' | 'holders' | 'tokens'>;
  /** Connection to the market chain's node for API requests; null without a node. */
  readonly rpc: EndpointPool | null;
  /** Whether another process ingests. */
  readonly isReader: boolean;
}

export interface Explorer {
  readonly deps: DialectDeps;
  /** Connects to the databases on the server of `readUrl`. `writer` is null if the API may only read. */
  connect(readUrl: string, writer: Database | null): void;
  /** Problems of the second chain's ingester, if another process runs it. */
  secondProblems(): readonly ReadyProblem[];
  close(): Promise<void>;
}

/** Chains that requests may name besides the market chain, which is the default. */
const OTHER_CHAIN_IDS = [369, SECOND_CHAIN_ID];
const SECOND_CONNECTIONS = 6;
/** Interval in ms between checks for the second chain's database. */
const LOOK_MS = 5_000;
const NODE_OPTIONS = { timeoutMs: 2_000, roundsMax: 1, connectionsMax: 4 };

export function createExplorer(options: ExplorerOptions): Explorer {
  const { config, log, runner, cache } = options;
  const second = config.chainId === SECOND_CHAIN_ID ? null : createSecond(options);
  const market: ExplorerChain = chainOf(config.chainId, runner, options.market.directory, options.head);
  const findChain = (chainId: number): ExplorerChain | null =>
    chainId === config.chainId ? market : chainId === SECOND_CHAIN_ID ? (second?.chain() ?? null) : null;
  let verifiedDb = 'default';
  let verifications: VerificationQueue | null = null;
  const verified = createVerifiedReader(runner);
  const signatures = createSignatureReader(runner);
  // If the market chain is the second chain itself, its entry comes last and replaces the earlier entry.
  const nodes = new Map([
    [SECOND_CHAIN_ID, second?.rpc ?? null],
    [config.chainId, options.rpc],
  ]);
  const reads = createReads(nodes, log);
  const stored = createContractReader(
    (chainId) => findSnapshot(findChain(chainId)),
    () => verifiedDb,
  );
  const contracts = withNodeCode(
    stored,
    reads.nodeCodeOf,
    (chainId) => findChain(chainId)?.head()?.version ?? '',
  );
  const decoder = createLogDecoder({ verified, signatures });
  return {
    deps: {
      chainIds: [...new Set([config.chainId, ...OTHER_CHAIN_IDS])],
      chainNameOf: (chainId) =>
        chainId === config.chainId ? config.chain.name : (findBuiltInChain(chainId)?.name ?? null),
      findChain,
      cache,
      contracts,
      verified,
      verifiedList: createVerifiedLister(runner),
      twinArguments: createTwinArguments({ contracts, verified, readsOf: reads.readsOf }),
      signatures,
      decoder,
      get verifiedDb() {
        return verifiedDb;
      },
      ...reads,
      ...marketFacts(options),
      verifications: () => verifications,
    },
    connect(readUrl, writer) {
      const onStored = (): void => {
        decoder.forget();
        cache.forgetAll();
      };
      const compilers = findCompilers(
        { niceness: config.compilerNiceness },
        undefined,
        openCompilerSources(config),
      );
      const parts = { reader: verified, contracts, nodes, compilers, log, onStored };
      if (writer !== null) verifications = openVerifyQueue({ ...parts, writer });
      verifiedDb = new URL(readUrl).pathname.slice(1) || 'default';
      second?.connect(secondDatabaseUrl(readUrl));
    },
    secondProblems: () => second?.problems() ?? [],
    async close() {
      await verifications?.close();
      await second?.close();
      log.debug('the explorer is closed');
    },
  };
}

/**
 * The compilers of the folder SOLC_DIR and of the mirror SOLC_MIRROR. Compilers from the mirror are downloaded
 * into the data folder.
 */
function openCompilerSources({ solcDir, solcMirror, dataDir }: Config): CompilerSource[] {
  return [
    ...(solcDir === null ? [] : [openCompilerFolder(solcDir)]),
    ...(solcMirror === null ? [] : [openCompilerMirror(solcMirror, join(dataDir, 'compilers'))]),
  ];
}

type DepsOf<K extends keyof DialectDeps> = Required<Pick<DialectDeps, K>>;

/** Builds, for each chain, the functions that read from its node for answers. */
function createReads(
  nodes: ReadonlyMap<number, EndpointPool | null>,
  log: Logger,
): DepsOf<'nodeCodeOf' | 'nodeOf' | 'readsOf'> {
  const reads = new Map(
    [...nodes].flatMap(([chainId, rpc]) => {
      if (rpc === null) return [];
      const state = rememberState(createNodeState({ rpc, log }));
      return [[chainId, { code: createNodeCode(rpc), state, reads: createNodeReads(rpc) }] as const];
    }),
  );
  return {
    nodeCodeOf: (chainId) => reads.get(chainId)?.code ?? null,
    nodeOf: (chainId) => reads.get(chainId)?.state ?? null,
    readsOf: (chainId) => reads.get(chainId)?.reads ?? null,
  };
}

/** Names, supplies and prices exist only for the market chain. */
function marketFacts({
  config,
  market,
}: ExplorerOptions): DepsOf<'namesOf' | 'supplyOf' | 'nativeUsdOf' | 'labelsOf'> {
  const isMarket = (chainId: number): boolean => chainId === config.chainId;
  const labels = createHolderLabels(config.chain);
  return {
    labelsOf: async (chainId, head) => (isMarket(chainId) ? labels(await market.pairs.at(head)) : () => null),
    namesOf: (chainId) =>
      isMarket(chainId)
        ? { dexes: config.chain.dexes, pairs: () => market.pairs.latest()?.entries ?? [] }
        : { dexes: [], pairs: () => [] },
    supplyOf: async (chainId, head, token) =>
      isMarket(chainId) ? findMarketSupply(market, head, token) : null,
    nativeUsdOf: async (chainId, head) =>
      isMarket(chainId) ? (await market.pairs.at(head)).prices.nativeUsd : null,
  };
}

function findSnapshot(chain: ExplorerChain | null): ReturnType<ChainAt> {
  const head = chain?.head() ?? null;
  return chain === null || head === null ? null : { source: chain, head };
}

function chainOf(
  chainId: number,
  runner: QueryRunner,
  directory: Directory,
  head: () => HeadSnapshot | null,
): ExplorerChain {
  return {
    chainId,
    runner,
    head,
    hashes: createBlockHashes({ chainId, runner }),
    logCounts: createLogCounts({ chainId, runner }),
    directory,
  };
}

interface Second {
  /**
   * The data of the second chain. Null while its database does not exist and no ingester in this process creates
   * it.
   */
  chain(): ExplorerChain | null;
  readonly rpc: EndpointPool | null;
  connect(readUrl: string): void;
  problems(): readonly ReadyProblem[];
  close(): Promise<void>;
}

function createSecond({ config, log, metrics, isReader }: ExplorerOptions): Second {
  const database = createDeferredDatabase();
  const runner = createQueryRunner(database, { observe: metrics.observeQuery });
  const hub = createHub({ observeDrops: () => undefined });
  const chainId = SECOND_CHAIN_ID;
  const tail = createTailLoop({ runner, chainId, hub, log: log.child({ chainId }) });
  const chain = chainOf(chainId, runner, new Directory(runner), () => tail.current());
  const urls = config.rpcUrls943;
  const rpc = urls === null ? null : createEndpointPool({ urls, chainId, log, ...NODE_OPTIONS });
  const writer = isReader ? createWriterWatch({ runner, chainId, log, now: steadyNow }) : null;
  const stop = new AbortController();
  let found = hasSecondChain(config);
  let running: Promise<unknown> | null = null;
  return {
    chain: () => (found ? chain : null),
    rpc,
    connect(readUrl) {
      const distributed = config.clickhouseCluster !== null;
      const place = { url: readUrl, maxConnections: SECOND_CONNECTIONS, distributed };
      database.give(openDatabase({ ...place, requestTimeoutMs: READER_TIMEOUT_MS }));
      const onFound = (): void => void (found = true);
      running = Promise.all([tailOnceThere(runner, tail, stop.signal, onFound), writer?.run(stop.signal)]);
    },
    problems: () => listSecondView(writer?.view() ?? null),
    async close() {
      stop.abort();
      hub.close();
      await running;
      await rpc?.close();
      await database.close();
    },
  };
}

/**
 * Waits until the database exists. Another process may create it at any time, so a missing database is not an
 * error.
 */
async function tailOnceThere(
  runner: QueryRunner,
  tail: TailLoop,
  signal: AbortSignal,
  onFound: () => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await readChangeMark(runner);
      onFound();
      return await tail.run(signal);
    } catch {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
