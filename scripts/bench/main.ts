/** `npm run bench`: the figures that the project promises, each beside a limit measured in the same run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { startEmbeddedServer } from '../../src/clickhouse/server';
import { createLog } from '../../src/log';
import { benchBackfill } from './backfill';
import { benchDecode } from './decode';
import { printTable, type Figure } from './figure';
import { startStubChain } from './stubChain';

const log = createLog(process.env['LOG_LEVEL'] ?? 'warn', false);
const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 1_600);
const LOGS_PER_BLOCK = 200;
const PAIRS = 2_000;

/** A database of this name on the server, with the schema. */
async function createDatabase(writerUrl: string, name: string, views: boolean): Promise<Database> {
  const admin = openDatabase({ url: writerUrl });
  await admin.command('create', `CREATE DATABASE ${name}`);
  await admin.close();
  const url = new URL(writerUrl);
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.toString(), requestTimeoutMs: 300_000 });
  await migrate(database, log);
  if (views) return database;
  const rows = await database.select<{ name: string }>(
    'list views',
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'",
  );
  for (const row of rows) await database.command('drop view', `DROP VIEW ${row.name}`);
  return database;
}

async function main(): Promise<void> {
  const groups = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const wants = (group: string): boolean => groups.length === 0 || groups.includes(group);
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-bench-'));
  const figures: Figure[] = [];
  try {
    const server = await startEmbeddedServer({ dataDir: folder, log });
    try {
      if (wants('decode') || wants('backfill')) {
        process.stderr.write(`building a stub chain of ${BLOCKS} blocks …\n`);
        const chain = await startStubChain({ blocks: BLOCKS, logsPerBlock: LOGS_PER_BLOCK, pairs: PAIRS });
        if (wants('decode')) figures.push(...benchDecode(chain));
        if (wants('backfill')) {
          process.stderr.write('backfill …\n');
          const full = await createDatabase(server.writerUrl, 'candlehouse_full', true);
          const raw = await createDatabase(server.writerUrl, 'candlehouse_raw', false);
          figures.push(...(await benchBackfill(chain, { full, raw }, BLOCKS, log)));
          await full.close();
          await raw.close();
        }
        await chain.close();
      }
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    printTable(figures);
    process.stdout.write(
      `\n${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}\n`,
    );
  }
  if (figures.some((figure) => !figure.ok)) process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
