/**
 * A database connection whose process crashes at a seeded moment: before a write, or after the write but before its
 * acknowledgement.
 */
import type { Database } from '../../src/clickhouse/client/database';
import { AppError } from '../../src/errors';
import type { Random } from '../support/random';

export interface CrashingDatabase extends Database {
  /** From now on, every write may crash with this probability. */
  arm(probability: number): void;
  readonly dead: boolean;
}

const crash = (): AppError => new AppError('unavailable', 'simulated crash');

export function crashingDatabase(database: Database, random: Random): CrashingDatabase {
  let probability = 0;
  let dead = false;
  const write = async (run: () => Promise<void>): Promise<void> => {
    if (dead) throw crash();
    if (random.chance(probability)) {
      dead = true;
      if (random.chance(0.5)) await run();
      throw crash();
    }
    await run();
    // Another statement of the same batch may have crashed in the meantime.
    if (dead) throw crash();
  };
  return {
    cluster: null,
    arm(value) {
      probability = value;
    },
    get dead() {
      return dead;
    },
    async select(name, sql, params) {
      if (dead) throw crash();
      return database.select(name, sql, params);
    },
    async selectBinary(name, sql, params) {
      if (dead) throw crash();
      return database.selectBinary(name, sql, params);
    },
    command: (name, sql, params, token) => write(() => database.command(name, sql, params, token)),
    insert: (table, columns, body, token) => write(() => database.insert(table, columns, body, token)),
    ping: () => database.ping(),
    close: () => Promise.resolve(),
  };
}
