/** Benchmark groups that query an API over loaded rows: ticks, lists, hot, compression, storage, balances, explorer, sources. */
import { benchBalances, loadTransfers, storageFigures } from './balances';
import {
  createDatabase,
  databaseUrl,
  NO_MERGE_FOR_MS,
  memoryFigure,
  say,
  SWAPS,
  waitForCalm,
  waitForMerges,
  writeDescription,
  writeLoadedDescription,
  type Bench,
} from '../bench';
import { benchCompression } from './compression';
import { benchExplorer, loadLogs, logStorage } from './explorer';
import { benchGrowth, type Grown } from './growth';
import { benchHot } from './hot';
import { benchLists } from './lists';
import { serveApi } from '../loaders/servedApi';
import { loadSources } from '../loaders/sourceLoader';
import { measureSourceSearch } from './sourceSearch';
import { benchStorage } from './storage';
import { loadPrices, loadSwaps } from '../loaders/swapLoader';
import { benchTicks } from './ticks';

const TRANSFERS = Number(process.env['BENCH_TRANSFERS'] ?? 3_000_000);
const EXPLORED_LOGS = Number(process.env['BENCH_LOGS'] ?? 20_000_000);
const SOURCE_FILES = Number(process.env['BENCH_SOURCE_FILES'] ?? 20_000);

/** Numbers of stored swaps in the group `growth`. */
const GROWTH = (process.env['BENCH_GROWTH'] ?? '1000000,10000000,100000000').split(',').map(Number);

const STORAGE = [
  { table: 'swaps', row: 'swap', target: 90 },
  { table: 'bars', row: 'bar', target: 40 },
];

export async function benchReads({ server, folder, figures, isWanted }: Bench): Promise<void> {
  const load = { swaps: SWAPS, pairs: 10_000, from: 1_700_000_000, days: 120 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_ticks');
  await loadSwaps(database, load, (done) => say(`loaded ${done} of ${load.swaps} swaps`));
  await loadPrices(database, load);
  say('merging the table parts …');
  await database.command('optimize', 'OPTIMIZE TABLE bars FINAL');
  await waitForMerges(database);
  await waitForCalm(database);
  if (isWanted('storage')) figures.push(...(await benchStorage(database, STORAGE)));
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_ticks');
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_ticks'),
    CLICKHOUSE_READ_URL: readerUrl,
    CHAIN_CONFIG: writeLoadedDescription(folder),
  });
  if (isWanted('ticks')) {
    say('measuring ticks …');
    figures.push(...(await benchTicks(api, load, readerUrl, server.pid())));
  }
  if (isWanted('lists')) {
    say('measuring lists …');
    figures.push(...(await benchLists(api, load, readerUrl)));
  }
  if (isWanted('hot')) {
    say('measuring cached answers …');
    figures.push(...(await benchHot(api)));
  }
  if (isWanted('compression')) {
    say('measuring compressed answers …');
    figures.push(...(await benchCompression(api)));
  }
  figures.push(memoryFigure('memory of the API process', api.memoryMb(), 300));
  await api.stop();
}

/**
 * Sends the same queries to three databases with different numbers of swaps. Sends the queries of the group `lists`
 * only to the largest database.
 */
export async function benchSizes({ server, folder, figures }: Bench): Promise<void> {
  const settings = { CHAIN_CONFIG: writeLoadedDescription(folder) };
  const sizes: Grown[] = [];
  for (const swaps of GROWTH) {
    const load = { swaps, pairs: 100_000, from: 1_700_000_000, days: 120 };
    const name = `candlehouse_growth_${swaps}`;
    const database = await createDatabase(server.writerUrl, name);
    const startedAt = performance.now();
    await loadSwaps(database, load, (done) => say(`loaded ${done} of ${swaps} swaps`));
    say(`loaded ${swaps} swaps and their bars in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
    await loadPrices(database, load);
    await waitForMerges(database, NO_MERGE_FOR_MS);
    await waitForCalm(database);
    if (swaps === GROWTH.at(-1)) figures.push(...(await benchStorage(database, STORAGE)));
    await database.close();
    const readerUrl = databaseUrl(server.readerUrl, name);
    const urls = {
      CLICKHOUSE_URL: databaseUrl(server.writerUrl, name),
      CLICKHOUSE_READ_URL: readerUrl,
    };
    sizes.push({ load, readerUrl, api: await serveApi('serve', { ...settings, ...urls }) });
  }
  say('measuring ticks at each size …');
  figures.push(...(await benchGrowth(sizes)));
  const largest = sizes.at(-1);
  say('measuring lists at the largest size …');
  if (largest !== undefined)
    figures.push(...(await benchLists(largest.api, largest.load, largest.readerUrl)));
  for (const { api } of sizes) await api.stop();
}

export async function benchHoldings({ server, folder, figures }: Bench): Promise<void> {
  const swaps = { swaps: 200_000, pairs: 10_000, from: 1_700_000_000, days: 30 };
  const load = { otherTransfers: TRANSFERS, holders: 1_000_000, wallets: 130 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_balances');
  await loadSwaps(database, swaps, () => undefined);
  await loadPrices(database, swaps);
  await loadTransfers(database, swaps, load, (done) => say(`loaded ${done} transfers`));
  say('merging the table parts …');
  for (const table of ['transfers', 'token_balances', 'holder_balances'])
    await database.command('optimize', `OPTIMIZE TABLE ${table} FINAL`);
  figures.push(...(await storageFigures(database)));
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_balances');
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_balances'),
    CLICKHOUSE_READ_URL: readerUrl,
    CHAIN_CONFIG: writeLoadedDescription(folder),
  });
  say('measuring balances …');
  figures.push(...(await benchBalances(api, load, readerUrl)));
  await api.stop();
}

export async function benchLogs({ server, figures }: Bench): Promise<void> {
  const load = { logs: EXPLORED_LOGS, seed: 7 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_logs');
  await loadLogs(database, load, (done) => say(`loaded ${done} logs`));
  say('merging the table parts …');
  await waitForMerges(database, NO_MERGE_FOR_MS);
  await waitForCalm(database);
  figures.push(await logStorage(database, load));
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_logs');
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_logs'),
    CLICKHOUSE_READ_URL: readerUrl,
  });
  say('measuring the explorer …');
  figures.push(...(await benchExplorer(api, load, readerUrl)));
  await api.stop();
}

export async function benchSourceSearch({ server, folder, figures }: Bench): Promise<void> {
  const swaps = { swaps: 20_000, pairs: 100, from: 1_700_000_000, days: 1 };
  const database = await createDatabase(server.writerUrl, 'candlehouse_sources');
  await loadSwaps(database, swaps, () => undefined);
  await loadPrices(database, swaps);
  const bytes = await loadSources(database, 369, SOURCE_FILES, (done) => say(`loaded ${done} source files`));
  say('merging the table parts …');
  for (const table of ['source_files', 'source_uses'])
    await database.command('optimize', `OPTIMIZE TABLE ${table} FINAL`);
  await waitForMerges(database);
  await waitForCalm(database);
  await database.close();
  const readerUrl = databaseUrl(server.readerUrl, 'candlehouse_sources');
  const api = await serveApi('serve', {
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_sources'),
    CLICKHOUSE_READ_URL: readerUrl,
    CHAIN_CONFIG: writeDescription(folder),
  });
  say('measuring source search …');
  figures.push(...(await measureSourceSearch(api, SOURCE_FILES, bytes, readerUrl)));
  await api.stop();
}
