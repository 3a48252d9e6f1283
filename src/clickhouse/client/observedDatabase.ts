/** Wraps a database to time and count its statements by name, for metrics. */
import type { Database } from './database';

interface DatabaseObserver {
  /**
   * Called after each statement. `name` is the table of an insert, otherwise the name of the statement. The
   * number of different names is small, so a metric can have one series per name.
   */
  finished(kind: 'insert' | 'command' | 'select', name: string, seconds: number, failed: boolean): void;
}

interface ObservedDatabase extends Database {
  /** Number of statements that are running or waiting for a connection. */
  underWay(): number;
}

export function observeDatabase(database: Database, observer: DatabaseObserver): ObservedDatabase {
  let underWay = 0;
  const timed = async <T>(
    kind: 'insert' | 'command' | 'select',
    name: string,
    run: () => Promise<T>,
  ): Promise<T> => {
    const startedAt = performance.now();
    let hasFailed = true;
    underWay += 1;
    try {
      const result = await run();
      hasFailed = false;
      return result;
    } finally {
      underWay -= 1;
      observer.finished(kind, name, (performance.now() - startedAt) / 1_000, hasFailed);
    }
  };
  return {
    ...database,
    rows: (name, ...rest) => timed('select', name, () => database.rows(name, ...rest)),
    select: (name, sql, params) => timed('select', name, () => database.select(name, sql, params)),
    selectBinary: (name, ...rest) => timed('select', name, () => database.selectBinary(name, ...rest)),
    command: (name, sql, params, token) =>
      timed('command', name, () => database.command(name, sql, params, token)),
    insert: (table, ...rest) => timed('insert', table, () => database.insert(table, ...rest)),
    underWay: () => underWay,
  };
}
