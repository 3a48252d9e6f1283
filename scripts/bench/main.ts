/** `npm run bench`: the figures that the project promises, each beside a limit measured in the same run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { startEmbeddedServer, type EmbeddedServer } from '../../src/clickhouse/server';
import { createLog } from '../../src/log';
import { benchBackfill } from './backfill';
import { benchBalances, loadTransfers, storageFigures } from './balances';
import { benchDecode } from './decode';
import { benchExplorer, loadLogs, logStorage } from './explorer';
import { printTable, type Figure } from './figure';
import { benchLatency } from './latency';
import { serveApi } from './servedApi';
import { startStubChain, type StubChain } from './stubChain';
import { stubDescription } from './stubDescription';
import { benchLists } from './lists';
import { benchRecovery } from './recovery';
import { benchReorg } from './reorg';
import { loadSources } from './sourceLoader';
import { benchSources } from './sources';
import { loadedAnchors, loadPrices, loadSwaps } from './swapLoader';
import { benchTicks } from './ticks';

const log = createLog(process.env['LOG_LEVEL'] ?? 'warn', false);
const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 1_600);
const LOGS_PER_BLOCK = 200;
const PAIRS = 2_000;
const MERGES_MS = 120_000;
const TRANSFERS = Number(process.env['BENCH_TRANSFERS'] ?? 3_000_000);
const EXPLORED_LOGS = Number(process.env['BENCH_LOGS'] ?? 20_000_000);
const SOURCE_FILES = Number(process.env['BENCH_SOURCE_FILES'] ?? 20_000);
const SWAPS = Number(process.env['BENCH_SWAPS'] ?? 10_000_000);

function databaseUrl(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
}

/** A database of this name on the server, with the schema. */
async function createDatabase(writerUrl: string, name: string, views: boolean): Promise<Database> {
  const admin = openDatabase({ url: writerUrl });
  await admin.command('create', `CREATE DATABASE ${name}`);
  await admin.close();
  const database = openDatabase({ url: databaseUrl(writerUrl, name), requestTimeoutMs: 600_000 });
  await migrate(database, log);
  if (views) return database;
  const rows = await database.select<{ name: string }>(
    'list views',
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'",
  );
  for (const row of rows) await database.command('drop view', `DROP VIEW ${row.name}`);
  return database;
}

interface Bench {
  readonly server: EmbeddedServer;
  readonly folder: string;
  readonly figures: Figure[];
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function benchIngest(bench: Bench, wants: (group: string) => boolean): Promise<void> {
  const { server, figures } = bench;
  say(`building a stub chain of ${BLOCKS} blocks …`);
  const chain = await startStubChain({ blocks: BLOCKS, logsPerBlock: LOGS_PER_BLOCK, pairs: PAIRS });
  if (wants('decode')) figures.push(...benchDecode(chain));
  if (wants('backfill')) {
    say('backfill …');
    const full = await createDatabase(server.writerUrl, 'candlehouse_full', true);
    const raw = await createDatabase(server.writerUrl, 'candlehouse_raw', false);
    const unpriced = await createDatabase(server.writerUrl, 'candlehouse_unpriced', true);
    figures.push(...(await benchBackfill(chain, { full, raw, unpriced }, BLOCKS, log)));
    await unpriced.close();
    await full.close();
    await raw.close();
    await benchMemory(bench, chain);
  }
  await chain.close();
}

/** The same backfill by the program itself, in a process of its own: API and ingester together. */
async function benchMemory({ server, folder, figures }: Bench, chain: StubChain): Promise<void> {
  say('memory of a backfill …');
  const database = await createDatabase(server.writerUrl, 'candlehouse_memory', true);
  const api = await serveApi('all', {
    RPC_URL: chain.url,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_memory'),
  });
  while (Number((await api.head()) ?? 0) < BLOCKS) await new Promise((resolve) => setTimeout(resolve, 100));
  figures.push(memoryFigure('memory of API and ingester after the backfill, most', api.memoryMb(), 1_024));
  await api.stop();
  await database.close();
}

function writeDescription(folder: string): string {
  const file = join(folder, 'chain.json');
  writeFileSync(file, JSON.stringify(stubDescription()));
  return file;
}

/** Until the engine has merged what the load left behind, or a while has passed. */
async function waitForMerges(database: Database): Promise<void> {
  const until = Date.now() + MERGES_MS;
  while (Date.now() < until) {
    const [row] = await database.select<{ merges: string }>(
      'merges',
      'SELECT count() AS merges FROM system.merges',
    );
    if (Number(row?.merges) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function benchReads(
  { server, folder, figures }: Bench,
  wants: (group: string) => boolean,
): Promise<void> {
  const load = { swaps: SWAPS, pairs: 10_000, from: 1_700_000_000, days: 120 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_ticks', true);
  await loadSwaps(database, load, (done) => say(`loaded ${done} of ${load.swaps} swaps`));
  await loadPrices(database, load);
  say('merging …');
  await database.command('optimize', 'OPTIMIZE TABLE bars FINAL');
  await waitForMerges(database);
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_ticks');
  const anchors = loadedAnchors().map((address) => ({ address: `0x${address}`, symbol: 'USD', priceUsd: 1 }));
  writeFileSync(join(folder, 'loaded.json'), JSON.stringify({ ...stubDescription(), anchors }));
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_ticks'),
    CLICKHOUSE_READ_URL: readerUrl,
    CHAIN_CONFIG: join(folder, 'loaded.json'),
  });
  if (wants('ticks')) {
    say('ticks …');
    figures.push(...(await benchTicks(api, load, readerUrl)));
  }
  if (wants('lists')) {
    say('lists …');
    figures.push(...(await benchLists(api, load, readerUrl)));
  }
  figures.push(memoryFigure('memory of the API process', api.memoryMb(), 300));
  await api.stop();
}

async function benchHoldings({ server, folder, figures }: Bench): Promise<void> {
  const swaps = { swaps: 200_000, pairs: 10_000, from: 1_700_000_000, days: 30 };
  const load = { others: TRANSFERS, holders: 1_000_000, wallets: 130 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_balances', true);
  await loadSwaps(database, swaps, () => undefined);
  await loadPrices(database, swaps);
  await loadTransfers(database, swaps, load, (done) => say(`loaded ${done} transfers`));
  say('merging …');
  for (const table of ['transfers', 'token_balances', 'holder_balances'])
    await database.command('optimize', `OPTIMIZE TABLE ${table} FINAL`);
  figures.push(...(await storageFigures(database)));
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_balances');
  const anchors = loadedAnchors().map((address) => ({ address: `0x${address}`, symbol: 'USD', priceUsd: 1 }));
  writeFileSync(join(folder, 'held.json'), JSON.stringify({ ...stubDescription(), anchors }));
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_balances'),
    CLICKHOUSE_READ_URL: readerUrl,
    CHAIN_CONFIG: join(folder, 'held.json'),
  });
  say('balances …');
  figures.push(...(await benchBalances(api, load, readerUrl)));
  await api.stop();
}

async function benchLogs({ server, figures }: Bench): Promise<void> {
  const load = { logs: EXPLORED_LOGS, seed: 7 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_logs', true);
  await loadLogs(database, load, (done) => say(`loaded ${done} logs`));
  say('merging …');
  await waitForMerges(database);
  figures.push(await logStorage(database, load));
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_logs');
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_logs'),
    CLICKHOUSE_READ_URL: readerUrl,
  });
  say('explorer …');
  figures.push(...(await benchExplorer(api, load, readerUrl)));
  await api.stop();
}

async function benchSourceSearch({ server, folder, figures }: Bench): Promise<void> {
  const swaps = { swaps: 20_000, pairs: 100, from: 1_700_000_000, days: 1 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_sources', true);
  await loadSwaps(database, swaps, () => undefined);
  await loadPrices(database, swaps);
  const bytes = await loadSources(database, 369, SOURCE_FILES, (done) => say(`loaded ${done} source files`));
  say('merging …');
  for (const table of ['source_files', 'source_uses'])
    await database.command('optimize', `OPTIMIZE TABLE ${table} FINAL`);
  await waitForMerges(database);
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_sources');
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_sources'),
    CLICKHOUSE_READ_URL: readerUrl,
    CHAIN_CONFIG: writeDescription(folder),
  });
  say('source search …');
  figures.push(...(await benchSources(api, SOURCE_FILES, bytes, readerUrl)));
  await api.stop();
}

async function benchStream({ server, folder, figures }: Bench): Promise<void> {
  say('stream …');
  const last = 320;
  const chain = await startStubChain({ blocks: last, logsPerBlock: LOGS_PER_BLOCK, pairs: 200 });
  const first = 200;
  chain.setHead(first);
  const database = await createDatabase(server.writerUrl, 'candlehouse_stream', true);
  const api = await serveApi('all', {
    RPC_URL: chain.url,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_stream'),
  });
  figures.push(...(await benchLatency(api, chain, { from: first + 1, to: last }, database)));
  await api.stop();
  await database.close();
  await chain.close();
}

const REORG_LOGS = 50;

async function benchReorgs({ server, folder, figures }: Bench): Promise<void> {
  say('reorg …');
  const chain = await startStubChain({ blocks: 400, logsPerBlock: REORG_LOGS, pairs: 100 });
  const database = await createDatabase(server.writerUrl, 'candlehouse_reorg', true);
  const api = await serveApi('all', {
    RPC_URL: chain.url,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_reorg'),
  });
  figures.push(...(await benchReorg(api, chain, REORG_LOGS)));
  await api.stop();
  await database.close();
  await chain.close();
}

function memoryFigure(name: string, value: number, limit: number): Figure {
  const target = `<= ${limit} MB`;
  return {
    name,
    value,
    unit: 'MB',
    limitName: 'allowed',
    limit,
    ratio: value / limit,
    target,
    ok: value <= limit,
  };
}

async function main(): Promise<void> {
  const groups = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const wants = (group: string): boolean => groups.length === 0 || groups.includes(group);
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-bench-'));
  const figures: Figure[] = [];
  try {
    const server = await startEmbeddedServer({ dataDir: folder, log });
    const bench = { server, folder, figures };
    try {
      if (wants('decode') || wants('backfill')) await benchIngest(bench, wants);
      if (wants('ticks') || wants('lists')) await benchReads(bench, wants);
      if (wants('balances')) await benchHoldings(bench);
      if (wants('explorer')) await benchLogs(bench);
      if (wants('sources')) await benchSourceSearch(bench);
      if (wants('stream')) await benchStream(bench);
      if (wants('reorg')) await benchReorgs(bench);
      if (wants('recovery')) figures.push(...(await benchRecovery(folder, SWAPS, log, say)));
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
