/** Shared by the benchmark groups: the database server, its databases, and the list of figures. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../src/clickhouse/client/database';
import { migrate } from '../../src/clickhouse/schema/migrate';
import type { EmbeddedServer } from '../../src/clickhouse/engine/server';
import { createLog } from '../../src/log';
import { percentile, type Figure } from './figure';
import { askRows } from '../../test/support/engine/askRows';
import { stubDescription } from '../../test/support/stub/stubDescription';
import { loadedAnchors } from './loaders/swapLoader';

export const log = createLog(process.env['LOG_LEVEL'] ?? 'warn', false);
/** Longest wait for merges, in ms. After a load of 100 million swaps, ClickHouse still has to merge 20 GB. */
const MERGES_MS = 1_200_000;
/** Time between two looks at the server while the benchmark waits for it. */
const LOOK_MS = 500;
/** Additional wait after the last merge, in ms. Without this wait, requests of the benchmark were sometimes slow. */
export const NO_MERGE_FOR_MS = 70_000;

export interface Bench {
  readonly server: EmbeddedServer;
  readonly folder: string;
  readonly figures: Figure[];
  isWanted(group: string): boolean;
}

/** Number of swaps that the read benchmarks load. */
export const SWAPS = Number(process.env['BENCH_SWAPS'] ?? 10_000_000);

export const say = (text: string): void => void process.stderr.write(`${text}\n`);

export function databaseUrl(url: string, name: string): string {
  const changedUrl = new URL(url);
  changedUrl.pathname = `/${name}`;
  return changedUrl.toString();
}

/** Creates a database with the schema on the server. */
export async function createDatabase(
  writerUrl: string,
  name: string,
  { hasViews }: { readonly hasViews: boolean } = { hasViews: true },
): Promise<Database> {
  const admin = openDatabase({ url: writerUrl });
  await admin.command('create', `CREATE DATABASE ${name}`);
  await admin.close();
  const database = openDatabase({ url: databaseUrl(writerUrl, name), requestTimeoutMs: 600_000 });
  await migrate(database, log);
  if (hasViews) return database;
  const rows = await askRows<{ name: string }>(
    database,
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'",
  );
  for (const row of rows) await database.command('drop view', `DROP VIEW ${row.name}`);
  return database;
}

/** Writes the stub chain's description to a file. */
export function writeDescription(folder: string): string {
  const file = join(folder, 'chain.json');
  writeFileSync(file, JSON.stringify(stubDescription()));
  return file;
}

/** Waits until the database server has merged the loaded parts and started no merge for `calmMs`, up to a limit. */
export async function waitForMerges(database: Database, calmMs = 3_000): Promise<void> {
  const untilMs = Date.now() + MERGES_MS;
  let calmLooks = 0;
  while (Date.now() < untilMs && calmLooks * LOOK_MS < calmMs) {
    const [row] = await askRows<{ merges: string }>(database, 'SELECT count() AS merges FROM system.merges');
    calmLooks = Number(row?.merges) === 0 ? calmLooks + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const CALM_MS = Number(process.env['BENCH_CALM_MS'] ?? 60_000);
/** Number of queries that are timed to find out whether the server is calm. */
const CALM_ASKS = 200;
/** Limit of loaded data that may still be unwritten to disk, in kilobytes. */
const UNWRITTEN_MAX_KB = 64 * 1_024;

/**
 * Waits until work left over from loading, such as disk writes and removal of merged parts, no longer slows the
 * smallest query. Waits at most twice CALM_MS, because other programs may keep the machine busy.
 */
export async function waitForCalm(database: Database): Promise<void> {
  for (const endsAt = Date.now() + CALM_MS; Date.now() < endsAt && unwrittenKb() > UNWRITTEN_MAX_KB;)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  for (const endsAt = Date.now() + CALM_MS; Date.now() < endsAt;) {
    const timesMs: number[] = [];
    for (let askCount = 0; askCount < CALM_ASKS; askCount += 1) {
      const startedAt = performance.now();
      await database.select('calm', 'SELECT 1');
      timesMs.push(performance.now() - startedAt);
    }
    // On a calm machine, slow queries take at most about three times as long as usual ones.
    if (percentile(timesMs, 99) <= 3 * percentile(timesMs, 50)) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** Kilobytes that the kernel has not written to disk yet; 0 if unknown. */
function unwrittenKb(): number {
  const file = '/proc/meminfo';
  const meminfo = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const kbOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0);
  return kbOf('Dirty') + kbOf('Writeback');
}

/** Writes the description of the loaded swaps' chain to a file. */
export function writeLoadedDescription(folder: string): string {
  const anchors = loadedAnchors().map((address) => ({ address: `0x${address}`, symbol: 'USD', priceUsd: 1 }));
  const file = join(folder, 'loaded.json');
  writeFileSync(file, JSON.stringify({ ...stubDescription(), anchors }));
  return file;
}

/** Makes the figure of a process's memory. Both numbers are MB. */
export function memoryFigure(name: string, value: number, limit: number): Figure {
  const target = `<= ${limit} MB`;
  return {
    name,
    value,
    unit: 'MB',
    limitName: 'allowed memory',
    limit,
    ratio: value / limit,
    target,
    ok: value <= limit,
  };
}
