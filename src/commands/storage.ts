/** Opens the configured database: an external server, or an embedded server started here. */
import { z } from 'zod';

import { isRestoreWaiting, placeRestored } from '../clickhouse/engine/backup';
import { findCluster, openClusterDatabase, type ClusterServers } from '../clickhouse/client/cluster';
import { migrate } from '../clickhouse/schema/migrate';
import { openDatabase, type Database } from '../clickhouse/client/database';
import { createQueryRunner, selectNamed } from '../clickhouse/client/namedQueries';
import { startEmbeddedServer, type EmbeddedServer } from '../clickhouse/engine/server';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { Logger } from '../log';
import { seedSignatures } from '../contracts/seedSignatures';
import { findRunningServer } from './runningServer';
import { databaseUrl, listChains, verifiedDatabase } from './chains';

export interface Storage {
  /** The database of the first chain. */
  readonly writer: Database;
  /** URL of the database of the first chain, for further connections. */
  readonly url: string;
  /** The databases of all chains that this program can ingest, by chain id. */
  readonly writers: ReadonlyMap<number, Database>;
  /** Why the schema of a chain's database could not be updated, by chain id. Empty unless `mayMissChains`. */
  readonly failures: ReadonlyMap<number, unknown>;
  /** Creates the database of a chain of `writers`, and updates its schema. */
  prepare(chainId: number): Promise<void>;
  /** URL for reads. It names the database without the suffix of a chain. */
  readonly readUrl: string;
  /** Name of the database with the verified contracts of all chains: the database of the first chain. */
  readonly verifiedDb: string;
  /** Whether the user of CLICKHOUSE_URL may only read. Then the program leaves the schema unchanged. */
  readonly readOnly: boolean;
  /** The embedded server. Null if CLICKHOUSE_URL is set, or if another program runs the embedded server. */
  readonly server: EmbeddedServer | null;
  close(): Promise<void>;
}

interface StorageNeeds {
  /** True if a read-only user is enough for the command. */
  readonly mayBeReadOnly?: boolean;
  /** True if a chain of CHAINS may fail while others go on. If all fail, opening the storage fails. */
  readonly mayMissChains?: boolean;
  /** True if the command may use the embedded server of another running program. */
  readonly mayShareServer?: boolean;
  /** Cancels the opening between two steps. */
  readonly signal?: AbortSignal;
}

/** Connects and updates the schema. Rejects if the database does not answer, or if it is read-only and the
 * command writes. */
export async function openStorage(
  config: Config,
  log: Logger,
  { mayBeReadOnly = false, mayShareServer = false, mayMissChains = false, signal }: StorageNeeds = {},
): Promise<Storage> {
  checkCluster(config);
  const { server, writeUrl } = await findServer(config, log, mayShareServer);
  const readOnly = server === null && (await isReadOnly(writeUrl, mayBeReadOnly));
  const name = config.clickhouseCluster;
  const cluster = name === null || readOnly ? null : await findCluster(writeUrl, name);
  const readUrl = config.clickhouseReadUrl ?? server?.readerUrl ?? writeUrl;
  const openAt = (url: string): Database => {
    const options = { url, requestTimeoutMs: 120_000, distributed: name !== null };
    return cluster === null ? openDatabase(options) : openClusterDatabase(cluster, options);
  };
  const chains = listChains(config).filter(
    ({ isFirst, hasMarket, rpcUrls }) => isFirst || (!readOnly && (hasMarket || rpcUrls !== null)),
  );
  const [first] = listChains(config);
  const url = databaseUrl(writeUrl, first);
  // The embedded server has created the database without a suffix, through which the first one is created.
  const from = config.clickhouseUrl === null ? new URL(writeUrl).pathname : undefined;
  const writer = openAt(url);
  const writers = new Map(
    chains.map((chain) => [chain.chainId, chain.isFirst ? writer : openAt(databaseUrl(writeUrl, chain))]),
  );
  const prepare = async (chainId: number): Promise<void> => {
    const [chain, database] = [chains.find((each) => each.chainId === chainId), writers.get(chainId)];
    if (readOnly || chain === undefined || database === undefined) return;
    const ownUrl = databaseUrl(writeUrl, chain);
    await createEverywhere(cluster, ownUrl, chain.isFirst ? from : new URL(url).pathname);
    await updateSchema(database, ownUrl, { cluster, isOurs: server !== null }, log);
    signal?.throwIfAborted();
    if (chain.isFirst) await seedSignatures(database, createQueryRunner(database));
  };
  const close = async (): Promise<void> => {
    for (const database of writers.values()) await database.close();
    await server?.stop();
  };
  try {
    const isEachNeeded = !mayMissChains || !config.hasChainList;
    const failures = await prepareAll([...writers.keys()], prepare, { isEachNeeded, signal });
    const verifiedDb = verifiedDatabase(readUrl, config);
    return { writer, url, writers, failures, prepare, readUrl, verifiedDb, readOnly, server, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Prepares each chain, the first one first. Resolves to the failures of chains while another chain can go on. */
async function prepareAll(
  chainIds: readonly number[],
  prepare: (chainId: number) => Promise<void>,
  { isEachNeeded, signal }: { readonly isEachNeeded: boolean; readonly signal: AbortSignal | undefined },
): Promise<ReadonlyMap<number, unknown>> {
  const failures = new Map<number, unknown>();
  for (const chainId of chainIds) {
    signal?.throwIfAborted();
    try {
      await prepare(chainId);
    } catch (error) {
      failures.set(chainId, error);
      if (isEachNeeded || signal?.aborted === true || failures.size === chainIds.length)
        throw chainIds.length === 1 ? error : nameChain(error, chainId);
    }
  }
  return failures;
}

/** The error of this program with the chain in its text. */
function nameChain(error: unknown, chainId: number): unknown {
  if (!(error instanceof AppError)) return error;
  return new AppError(error.code, `chain ${chainId}: ${error.message}`, { cause: error });
}

function checkCluster({ clickhouseCluster, clickhouseUrl }: Config): void {
  if (clickhouseCluster === null || clickhouseUrl !== null) return;
  throw new AppError(
    'bad_config',
    'CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL: set it to the URL of one server of the cluster',
  );
}

/**
 * Returns the URLs of the configured server, of the embedded server of another program if `mayShareServer`,
 * or of an embedded server that this program starts.
 */
async function findServer(
  { clickhouseUrl, dataDir }: Config,
  log: Logger,
  mayShareServer: boolean,
): Promise<{ server: EmbeddedServer | null; writeUrl: string }> {
  if (clickhouseUrl !== null) return { server: null, writeUrl: clickhouseUrl };
  const running = mayShareServer ? await findRunningServer(dataDir, log) : null;
  if (running !== null) return { server: null, writeUrl: running.writerUrl };
  const server = await startEmbeddedServer({ dataDir, log });
  return { server, writeUrl: server.writerUrl };
}

/** Creates or updates the schema. `isOurs` means that this program started the server. */
async function updateSchema(
  database: Database,
  url: string,
  { cluster, isOurs }: { readonly cluster: ClusterServers | null; readonly isOurs: boolean },
  log: Logger,
): Promise<void> {
  if (cluster === null) await finishRestore(url, isOurs, log);
  await migrate(database, log);
}

/**
 * Finishes a restore that a crash interrupted, before anything creates tables in the database. Runs only on the
 * embedded server: on an external server, two programs could start at once and drop each other's database.
 */
async function finishRestore(url: string, isOurs: boolean, log: Logger): Promise<void> {
  const target = new URL(url);
  const name = target.pathname.slice(1) || 'default';
  target.pathname = '/system';
  const database = openDatabase({ url: target.toString(), requestTimeoutMs: 120_000 });
  try {
    if (!(await isRestoreWaiting(database, name))) return;
    if (!isOurs)
      throw new AppError(
        'bad_config',
        `a restore of the database ${name} was interrupted: run the restore command again`,
      );
    await placeRestored(database, name);
    log.warn({ database: name }, 'a restore was interrupted; the restored database is now in place');
  } finally {
    await database.close();
  }
}

/** Returns whether the user may only read. Rejects if the command needs to write. */
async function isReadOnly(url: string, mayBeReadOnly: boolean): Promise<boolean> {
  const readOnly = await mayOnlyRead(url);
  if (readOnly && !mayBeReadOnly) {
    throw new AppError(
      'bad_config',
      'the user of CLICKHOUSE_URL may only read, but this command writes: use another user',
    );
  }
  return readOnly;
}

/** Whether the user's profile forbids writing. */
async function mayOnlyRead(url: string): Promise<boolean> {
  const defaultUrl = new URL(url);
  defaultUrl.pathname = '/default';
  const database = openDatabase({ url: defaultUrl.toString() });
  try {
    const shape = z.object({ readonly: z.string() });
    const [row] = await selectNamed(database, 'engine/read_rights', {}, shape);
    return row?.readonly !== '0';
  } finally {
    await database.close();
  }
}

/** Creates the database. On a cluster, creates it on every server. */
async function createEverywhere(cluster: ClusterServers | null, url: string, from?: string): Promise<void> {
  if (cluster === null) return createDatabase(url, from);
  for (const server of cluster.servers) {
    const serverUrl = new URL(server.url);
    serverUrl.pathname = new URL(url).pathname;
    await createDatabase(serverUrl.toString(), from);
  }
}

/** Creates the database through a connection to `from`. The user needs the right to create it. */
async function createDatabase(url: string, from = '/default'): Promise<void> {
  const target = new URL(url);
  const name = target.pathname.slice(1) || 'default';
  if (!/^\w+$/.test(name))
    throw new AppError(
      'bad_config',
      `CLICKHOUSE_URL: got the database name "${name}"; allowed: letters, digits and _`,
    );
  target.pathname = from;
  const database = openDatabase({ url: target.toString() });
  try {
    await database.command('create database', `CREATE DATABASE IF NOT EXISTS ${name}`);
  } finally {
    await database.close();
  }
}

/** Problems of the embedded server. Empty for an external server. */
export function listEngineProblems(storage: Storage | null): { code: string; message: string }[] {
  const status = storage?.server?.status();
  if (status === undefined || status.state === 'up' || status.state === 'stopped') return [];
  return [
    {
      code: `engine_${status.state}`,
      message: `The embedded ClickHouse is ${status.state}: ${status.reason}`,
    },
  ];
}
