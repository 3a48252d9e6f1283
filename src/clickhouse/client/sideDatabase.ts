/** A database next to the market's database, for rows that a command needs for a while. */
import { openDatabase, type Database } from './database';

export interface SideDatabase {
  readonly database: Database;
  /** URL of the database, for a client of another kind. */
  readonly url: string;
  /** Creates the database, unless it exists. */
  create(): Promise<void>;
  /** Drops the database with all rows, if it exists. */
  drop(): Promise<void>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 120_000;

/** `url` is the market's database. The other database has its name with `suffix`; it need not exist yet. */
export function openSideDatabase(url: string, suffix: string): SideDatabase {
  const target = new URL(url);
  const name = `${target.pathname.slice(1) || 'default'}${suffix}`;
  target.pathname = `/${name}`;
  const server = openDatabase({ url });
  const database = openDatabase({ url: target.toString(), requestTimeoutMs: REQUEST_TIMEOUT_MS });
  return {
    database,
    url: target.toString(),
    create: () => server.command('create database', `CREATE DATABASE IF NOT EXISTS ${name}`),
    drop: () => server.command('drop database', `DROP DATABASE IF EXISTS ${name} SYNC`),
    async close() {
      await Promise.all([database.close(), server.close()]);
    },
  };
}
