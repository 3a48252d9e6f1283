/** Backfills the blocks of a stub chain into databases of their own, with the function that the command `backfill` runs. */
import { readFileSync } from 'node:fs';

import pino from 'pino';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { runBackfill } from '../../../src/commands/backfill';
import { loadConfig, type Config } from '../../../src/config';
import { askRows } from '../engine/askRows';
import { createTestDatabase, type TestDatabase } from '../engine/engine';
import { stubDescription } from './stubDescription';

export interface FillTarget {
  readonly test: TestDatabase;
  readonly database: Database;
}

export type FillOptions = Parameters<typeof runBackfill>[3];
export type FillSettings = Readonly<Record<string, string>>;

interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

export class StubFills {
  private readonly targets: FillTarget[] = [];

  constructor(private readonly rpcUrl: string) {}

  async openTarget(): Promise<FillTarget> {
    const test = await createTestDatabase();
    const target = { test, database: openDatabase({ url: test.writerUrl }) };
    this.targets.push(target);
    return target;
  }

  /** Runs a backfill to its end. Returns the lines of its log. */
  async fill(target: FillTarget, options: FillOptions, settings: FillSettings = {}): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    const log = pino(
      { level: 'debug', base: null },
      { write: (line: string) => lines.push(JSON.parse(line) as LogLine) },
    );
    await runBackfill(this.configOf(target, settings), log, new AbortController().signal, options);
    return lines;
  }

  configOf({ test }: FillTarget, settings: FillSettings = {}): Config {
    const allSettings = {
      RPC_URL: this.rpcUrl,
      CHAIN_CONFIG: 'chain.json',
      FINALITY_DEPTH: '5',
      CLICKHOUSE_URL: test.writerUrl,
      ...settings,
    };
    const description = JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined });
    return loadConfig(allSettings, (path) =>
      path === 'chain.json' ? description : readFileSync(path, 'utf8'),
    );
  }

  /** Drops all databases. */
  async close(): Promise<void> {
    for (const { test, database } of this.targets) {
      await database.close();
      await test.drop();
    }
  }
}

export const findLine = (lines: readonly LogLine[], start: string): LogLine =>
  lines.find(({ msg }) => msg.startsWith(start))!;

/** Matches a number of blocks. On a busy machine a session may start again, and then reads blocks again. */
export const atLeast = (blocks: number): unknown => ({
  asymmetricMatch: (value: unknown) => Number(value) >= blocks,
});

/** The levels of proof of the blocks after the first one. */
export async function listLevels({ database }: FillTarget): Promise<string> {
  const rows = await askRows<{ level: string }>(
    database,
    "SELECT DISTINCT toString(proof) AS level FROM promotions WHERE status = 'done' AND kind != 'start' LIMIT 10",
  );
  return rows.map(({ level }) => level).join(', ');
}

export async function countRows({ database }: FillTarget): Promise<string | undefined> {
  const [row] = await askRows<{ rows: string }>(
    database,
    'SELECT (SELECT count() FROM logs) + (SELECT count() FROM swaps) AS rows',
  );
  return row?.rows;
}
