/**
 * Connects a command to the stored data: an external server, the embedded server of a running program, or an
 * embedded server that starts for the command.
 */
import { engineFolderOf } from '../clickhouse/engine/engineDoor';
import { openDatabase, type Database } from '../clickhouse/client/database';
import { selectNamed } from '../clickhouse/client/namedQueries';
import { nameRow } from '../clickhouse/rows/rowType';
import { startEmbeddedServer } from '../clickhouse/engine/server';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { Logger } from '../log';
import { databaseUrl, listChains, type ChainConfig } from './chains';
import { findRunningServer } from './runningServer';

export interface Attached {
  /** Name of the database of the first chain. */
  readonly name: string;
  /** URL of this database. */
  readonly url: string;
  /** Folder that the embedded server can access; null if CLICKHOUSE_URL is set. */
  readonly engineFolder: string | null;
  /**
   * Process id of the program that runs the embedded server. Null if no program runs it, or if CLICKHOUSE_URL is set.
   */
  readonly ownerPid: number | null;
  /** Connects to a database of this server. The database need not exist yet. `close` ends the connection. */
  open(name: string): Database;
  exists(name: string): Promise<boolean>;
  /** Name of the database of another chain. */
  nameOf(chain: Pick<ChainConfig, 'suffix'>): string;
  close(): Promise<void>;
}

/** Time limit in ms of a statement that reads all rows. */
const REQUEST_TIMEOUT_MS = 3_600_000;

/**
 * Uses the first of these that exists: CLICKHOUSE_URL, the running program of DATA_DIR, a running development
 * chain of DATA_DIR, the stored data of DATA_DIR.
 */
export async function attach(config: Config, log: Logger): Promise<Attached> {
  if (config.clickhouseCluster !== null) {
    const message =
      'CLICKHOUSE_CLUSTER is set, and backup, restore, prune and reindex do not support a cluster. ' +
      'To copy the data, stop the ingester and use BACKUP DATABASE … ON CLUSTER and RESTORE DATABASE … ON CLUSTER. ' +
      'To read blocks again, ingest into an empty database.';
    throw new AppError('bad_config', message);
  }
  const [first] = listChains(config);
  const keepRunning = async (): Promise<void> => undefined;
  if (config.clickhouseUrl !== null) return attachTo(first, config.clickhouseUrl, null, null, keepRunning);
  const running = await findRunningServer(config.dataDir, log);
  if (running !== null)
    return attachTo(first, running.writerUrl, running.engineFolder, running.pid, keepRunning);
  const server = await startEmbeddedServer({ dataDir: config.dataDir, log });
  return attachTo(first, server.writerUrl, engineFolderOf(config.dataDir), null, () => server.stop());
}

function attachTo(
  first: ChainConfig,
  url: string,
  engineFolder: string | null,
  ownerPid: number | null,
  stop: () => Promise<void>,
): Attached {
  const opened: Database[] = [];
  const urlOf = (name: string): string => {
    const target = new URL(url);
    target.pathname = `/${name}`;
    return target.toString();
  };
  const openNamed = (name: string): Database => {
    const database = openDatabase({ url: urlOf(name), requestTimeoutMs: REQUEST_TIMEOUT_MS });
    opened.push(database);
    return database;
  };
  // The connection uses the database `system`, which always exists.
  const system = openNamed('system');
  const nameOf = (chain: Pick<ChainConfig, 'suffix'>): string =>
    new URL(databaseUrl(url, chain)).pathname.replace(/^\/|\/$/g, '') || 'default';
  const name = nameOf(first);
  return {
    name,
    nameOf,
    url: urlOf(name),
    engineFolder,
    ownerPid,
    open: openNamed,
    async exists(name): Promise<boolean> {
      const rows = await selectNamed(system, 'engine/find_database', { name }, nameRow);
      return rows.length > 0;
    },
    async close(): Promise<void> {
      await Promise.all(opened.map((database) => database.close()));
      await stop();
    },
  };
}

/** Writes a number of bytes with a unit, for people. */
export function showBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let valueInUnit = bytes;
  let unit = 0;
  for (; valueInUnit >= 1_024 && unit < units.length - 1; unit += 1) valueInUnit /= 1_024;
  return `${unit === 0 ? valueInUnit : valueInUnit.toFixed(1)} ${units[unit] ?? ''}`;
}
