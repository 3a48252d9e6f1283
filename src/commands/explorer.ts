/**
 * Builds the dependencies of the explorer's endpoints: all chains with their heads, contracts, verified sources and
 * signatures.
 */
import { join } from 'node:path';

import type { ByteCache } from '../api/byteCache';
import type { DialectDeps } from '../api/etherscan/action';
import type { ExplorerChain } from '../api/explorerScope';
import { findBuiltInChain } from '../chains/builtIn/builtInChains';
import type { EndpointPool } from '../node/rpc/endpointPool';
import { createAccountState } from '../node/rpc/createAccountState';
import type { Database } from '../clickhouse/client/database';
import type { Config } from '../config';
import type { VerificationQueue } from '../domain/verificationQueue';
import type { Logger } from '../log';
import { createContractReader, type ChainAt, type ContractReader } from '../query/contracts/contracts';
import { createHolderLabels } from '../query/holders/holderLabels';
import { findMarketSupply, keepsAtZero } from '../query/tokens/marketSupply';
import type { MarketTables } from '../query/marketTables';
import { createLogDecoder } from '../query/logs/logDecoder';
import { withNodeCode } from '../query/contracts/nodeCode';
import { rememberState } from '../query/head/rememberState';
import { createSignatureReader } from '../query/contracts/signatures';
import { createTwinArguments } from '../query/contracts/twinArguments';
import { createVerifiedLister } from '../query/contracts/verifiedList';
import { createVerifiedReader, type VerificationStore } from '../query/contracts/verifiedContracts';
import { createNodeCode } from '../contracts/createNodeCode';
import { createNodeRelay } from '../contracts/createNodeRelay';
import { findCompilers, type Compilers } from '../contracts/verify/compilers';
import {
  openCompilerFolder,
  openCompilerMirror,
  type CompilerSource,
} from '../contracts/verify/compilerFolder';
import type { PerChain } from './chains';
import { DESCENDANTS } from './data/importSources';
import type { ChainService } from './openChain';
import { createQueryRunner } from '../clickhouse/client/namedQueries';
import { createChainCode } from '../contracts/chainCode';
import { createVerifiedStore } from '../contracts/storeVerified';
import { createVerifyQueue } from '../contracts/verifyQueue';

interface ExplorerOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly chains: PerChain<ChainService>;
  readonly cache: ByteCache;
  /** The tables of each chain's market, by chain id. */
  readonly markets: ReadonlyMap<number, MarketTables>;
}

export interface Explorer {
  /** What the endpoints of a chain read from. The chain is the default of their chain parameter. */
  depsOf(chainId: number): DialectDeps;
  /** The queue of source verifications. Null before `connect`, or if the API may only read. */
  verifications(): VerificationQueue | null;
  /**
   * `verifiedDb` is the name of the database with the verified contracts, and `writer` writes it. `writer` is null if the
   * API may only read.
   */
  connect(verifiedDb: string, writer: Database | null): void;
  close(): Promise<void>;
}

export function createExplorer(options: ExplorerOptions): Explorer {
  const { config, log, chains, cache } = options;
  const { runner } = chains[0];
  const findChain = (chainId: number): ExplorerChain | null =>
    chains.find((chain) => chain.chainId === chainId && chain.isStored()) ?? null;
  let verifiedDb = 'default';
  let verifications: VerificationQueue | null = null;
  const verified = createVerifiedReader(runner);
  const signatures = createSignatureReader(runner);
  const nodes = new Map(chains.map(({ chainId, rpc }) => [chainId, rpc]));
  const reads = createReads(chains);
  const storedContracts = createContractReader(
    (chainId) => findSnapshot(findChain(chainId)),
    () => verifiedDb,
  );
  const contracts = withNodeCode(
    storedContracts,
    reads.nodeCodeOf,
    (chainId) => findChain(chainId)?.head()?.version ?? '',
  );
  const decoder = createLogDecoder({ verified, signatures });
  const facts = marketFacts(options);
  return {
    depsOf: (chainId) => ({
      // A request may also name a chain of DESCENDANTS that this service does not store.
      chainIds: [
        ...new Set([chainId, config.chainId, ...DESCENDANTS, ...chains.slice(1).map((each) => each.chainId)]),
      ],
      chainNameOf: (id) =>
        chains.find((chain) => chain.chainId === id)?.config.chain.name ?? findBuiltInChain(id)?.name ?? null,
      findChain,
      cache,
      contracts,
      verified,
      verifiedList: createVerifiedLister(runner),
      twinArguments: createTwinArguments({ contracts, verified, relayOf: reads.relayOf }),
      signatures,
      decoder,
      get verifiedDb() {
        return verifiedDb;
      },
      ...reads,
      ...facts,
      verifications: () => verifications,
    }),
    verifications: () => verifications,
    connect(database, writer) {
      verifiedDb = database;
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
    },
    async close() {
      await verifications?.close();
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
function createReads(chains: PerChain<ChainService>): DepsOf<'nodeCodeOf' | 'nodeOf' | 'relayOf'> {
  const reads = new Map(
    chains.flatMap(({ chainId, rpc, log }) => {
      if (rpc === null) return [];
      const state = rememberState(createAccountState({ rpc, log }));
      return [[chainId, { code: createNodeCode(rpc), state, relay: createNodeRelay(rpc) }] as const];
    }),
  );
  return {
    nodeCodeOf: (chainId) => reads.get(chainId)?.code ?? null,
    nodeOf: (chainId) => reads.get(chainId)?.state ?? null,
    relayOf: (chainId) => reads.get(chainId)?.relay ?? null,
  };
}

/** Names, supplies and prices of the market of a chain. */
function marketFacts({
  chains,
  markets,
}: ExplorerOptions): DepsOf<'namesOf' | 'supplyOf' | 'keepsAtZero' | 'nativeUsdOf' | 'labelsOf'> {
  const labels = new Map(
    chains.map(({ chainId, config: { chain } }) => [chainId, createHolderLabels(chain)]),
  );
  const dexes = new Map(chains.map(({ chainId, config: { chain } }) => [chainId, chain.dexes]));
  return {
    labelsOf: async (chainId, head) => {
      const table = await markets.get(chainId)?.pairs.at(head);
      return (table === undefined ? undefined : labels.get(chainId)?.(table)) ?? (() => null);
    },
    namesOf: (chainId) => ({
      dexes: dexes.get(chainId) ?? [],
      pairs: () => markets.get(chainId)?.pairs.latest()?.entries ?? [],
    }),
    supplyOf: async (chainId, head, token) => {
      const market = markets.get(chainId);
      return market === undefined ? null : findMarketSupply(market, head, token);
    },
    keepsAtZero: async (chainId, head, token) => {
      const market = markets.get(chainId);
      return market !== undefined && keepsAtZero(market, head, token);
    },
    nativeUsdOf: async (chainId, head) =>
      (await markets.get(chainId)?.pairs.at(head))?.prices.nativeUsd ?? null,
  };
}

function findSnapshot(chain: ExplorerChain | null): ReturnType<ChainAt> {
  const head = chain?.head() ?? null;
  return chain === null || head === null ? null : { source: chain, head };
}

/** What the verification queue of an API that may write is built from. */
interface VerifyQueueParts {
  /** Writer of the first chain's database, which holds the verified contracts of all chains. */
  readonly writer: Database;
  readonly reader: VerificationStore;
  readonly contracts: ContractReader;
  /** Node pools by chain; null if no node is configured. */
  readonly nodes: ReadonlyMap<number, EndpointPool | null>;
  readonly compilers: Compilers;
  readonly log: Logger;
  /** Called after a verification is stored. */
  readonly onStored: () => void;
}

function openVerifyQueue({
  writer,
  reader,
  contracts,
  nodes,
  compilers,
  log,
  onStored,
}: VerifyQueueParts): VerificationQueue {
  const openNodes = [...nodes].flatMap(([chainId, pool]) =>
    pool === null ? [] : [[chainId, pool] as const],
  );
  const verified = createVerifiedStore(writer, createQueryRunner(writer));
  return createVerifyQueue({
    compilers,
    chain: createChainCode(new Map(openNodes)),
    reader,
    store: {
      async store(records) {
        const result = await verified.store(records);
        onStored();
        return result;
      },
    },
    findCreationTransaction: async ({ chainId, address }) =>
      (await contracts.find(chainId, address))?.creation?.txHash ?? null,
    log,
  });
}
