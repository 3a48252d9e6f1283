/**
 * A database that is set later. Until then every call throws `unavailable`. It lets the API answer during start-up.
 */
import { AppError } from '../../errors';
import type { Database } from './database';

interface DeferredDatabase extends Database {
  give(database: Database): void;
}

export function createDeferredDatabase(): DeferredDatabase {
  let given: Database | null = null;
  const now = (): Database => {
    if (given === null) throw new AppError('unavailable', 'the database is still starting');
    return given;
  };
  return {
    give(database) {
      given = database;
    },
    // Only readers use a deferred database, and readers see the tables of a cluster as ordinary tables.
    cluster: null,
    rows: async (...call) => now().rows(...call),
    select: async (name, sql, params) => now().select(name, sql, params),
    selectBinary: async (...call) => now().selectBinary(...call),
    command: async (name, sql, params, token) => now().command(name, sql, params, token),
    insert: async (...call) => now().insert(...call),
    ping: async () => given !== null && given.ping(),
    close: async () => given?.close(),
  };
}
