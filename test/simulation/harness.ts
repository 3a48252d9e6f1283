/** Runs the real ingest session over the simulated chain and a calm node, and compares the stored rows with the oracle. */
import type { Database } from '../../src/clickhouse/client/database';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import type { BlockSource } from '../../src/node/blocks/blockSource';
import type { EthCalls } from '../../src/node/calls/askContracts';
import { IngestSession } from '../../src/ingest/session/session';
import type { SessionLimits } from '../../src/ingest/session/sessionLimits';
import { newIngestStatus } from '../../src/ingest/session/status';
import { createLog } from '../../src/log';
import { Random } from '../support/random';
import type { SimChain } from './chain/simChain';
import { SIM_DESCRIPTION } from './chain/simDescription';
import { headerOf, simFinality, simSource, type Branch } from './chain/simNode';
import type { ChainBlock } from '../../src/domain/block';
import type { ChainDescription } from '../../src/domain/chainDescription';
import { checkStored } from './compare/checkOnEngine';
import { readTip } from './compare/storedContent';
import { calmCalls, simDecoding } from './compare/straightRun';

interface SessionOptions {
  /** Blocks at least this far below the head are final. */
  readonly depth: number;
  readonly commitSeed: number;
  readonly firstBlock?: number;
  readonly limits?: Partial<SessionLimits>;
  /** Replaces the check of senders of the calm node. */
  readonly checkSenders?: BlockSource['checkSenders'];
}

/** Opens a session as the product does, starting at the first block or at a later block. */
export function openSession(
  chain: SimChain,
  database: Database,
  { firstBlock = 1, ...options }: SessionOptions,
): Promise<IngestSession> {
  const rpc = calmCalls(chain, (tag) => (tag === 'latest' ? chain.head : chain.at(Number(tag)))?.hash);
  return openCalmSession(chain, database, { ...options, rpc, base: chain.at(firstBlock - 1)! });
}

/** Opens a session over any chain in memory. `rpc` answers calls of its contracts. */
export function openCalmSession(
  chain: Branch,
  database: Database,
  options: Omit<SessionOptions, 'firstBlock'> & {
    readonly rpc: EthCalls;
    readonly base: ChainBlock;
    readonly description?: ChainDescription;
  },
): Promise<IngestSession> {
  const { rpc, base, depth, commitSeed, limits, checkSenders, description = SIM_DESCRIPTION } = options;
  const commits = new Random(commitSeed);
  const deps = {
    ...simDecoding(rpc, description),
    store: createClickHouseStore(database, description.chainId),
    rpc,
    source: { ...simSource(chain), ...(checkSenders === undefined ? {} : { checkSenders }) },
    finality: simFinality(depth),
    status: newIngestStatus(),
    log: createLog('silent', false),
    now: () => 0,
    limits,
    newCommit: () => 1 + Math.floor(commits.next() * 2 ** 52),
  };
  return IngestSession.open(deps, () => Promise.resolve(base), new AbortController().signal);
}

/** Ingests the chain up to its head. Returns the session for further use. */
export async function storeChain(chain: SimChain, database: Database): Promise<IngestSession> {
  const session = await openSession(chain, database, { depth: 20, commitSeed: 1 });
  await session.advanceTo(headerOf(chain.head));
  return session;
}

/** Lists each stored row that contradicts the canonical chain, one line each. */
export async function findDifferences(chain: SimChain, database: Database): Promise<string[]> {
  const tip = await readTip(database);
  if (tip === null) return ['the store is empty'];
  if (tip.hash !== chain.head.hash)
    return [`the stored tip is ${tip.number} ${tip.hash}, the chain ends at ${chain.head.number}`];
  return (await checkStored(database, chain, tip)).wrong;
}
