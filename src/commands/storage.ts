/** Opens the database that the settings name: an external server, or the embedded engine started here. */
import { migrate } from '../clickhouse/migrate';
import { openDatabase, type Database } from '../clickhouse/database';
import { startEmbeddedServer, type EmbeddedServer } from '../clickhouse/server';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { Logger } from '../log';
import { hasSecondChain, secondDatabaseUrl } from './secondChain';

export interface Storage {
  readonly writer: Database;
  /** The database of the explorer's second chain; null where it is not ingested. */
  readonly secondWriter: Database | null;
  readonly readUrl: string;
  /** null with CLICKHOUSE_URL. */
  readonly server: EmbeddedServer | null;
  close(): Promise<void>;
}

/** Connects and brings the schema up to date. Rejects when the database cannot be had. */
export async function openStorage(config: Config, log: Logger): Promise<Storage> {
  if (config.clickhouseCluster !== null) {
    throw new AppError('bad_config', 'CLICKHOUSE_CLUSTER is not supported yet: leave it unset');
  }
  const server =
    config.clickhouseUrl === null ? await startEmbeddedServer({ dataDir: config.dataDir, log }) : null;
  const writeUrl = config.clickhouseUrl ?? server?.writerUrl ?? '';
  const readUrl = config.clickhouseReadUrl ?? server?.readerUrl ?? writeUrl;
  if (server === null) await createDatabase(writeUrl);
  const open = (url: string): Database => openDatabase({ url, requestTimeoutMs: 120_000 });
  const writer = open(writeUrl);
  const secondUrl = secondDatabaseUrl(writeUrl);
  const secondWriter = hasSecondChain(config) ? open(secondUrl) : null;
  const close = async (): Promise<void> => {
    await secondWriter?.close();
    await writer.close();
    await server?.stop();
  };
  try {
    await migrate(writer, log);
    if (secondWriter !== null) {
      await createDatabase(secondUrl, new URL(writeUrl).pathname);
      await migrate(secondWriter, log);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { writer, secondWriter, readUrl, server, close };
}

/** Creates the database that the address names, connected to `from`; its user must be allowed to. */
async function createDatabase(url: string, from = '/default'): Promise<void> {
  const target = new URL(url);
  const name = target.pathname.slice(1) || 'default';
  if (!/^\w+$/.test(name))
    throw new AppError(
      'bad_config',
      `CLICKHOUSE_URL names the database "${name}": use letters, digits and _`,
    );
  target.pathname = from;
  const database = openDatabase({ url: target.toString() });
  try {
    await database.command('create database', `CREATE DATABASE IF NOT EXISTS ${name}`);
  } finally {
    await database.close();
  }
}

/** What is wrong with the engine that this process runs; nothing where it is someone else's. */
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
