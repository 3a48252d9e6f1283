/**
 * Compares the speed of fills of the same blocks from each source, with the same command, in alternating rounds. The node,
 * the portal and the client of HyperSync are stand-ins that have their answers in memory. With node headers, the files
 * have only cryo's default columns. The group `workers` measures worker processes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runBackfill, type BackfillOptions } from '../../../../src/commands/backfill';
import { runExport } from '../../../../src/commands/snapshot/export';
import { loadConfig, type Config } from '../../../../src/config';
import { askRows } from '../../../../test/support/engine/askRows';
import {
  createHyperSync,
  HYPERSYNC_URL,
  packageLoaderFor,
} from '../../../../test/support/node/blockServices';
import { writeCryoFiles } from '../../../../test/support/node/cryoFiles';
import { createDatabase, databaseUrl, log, say, writeDescription, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { percentile, type Figure } from '../../figure';
import { UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';

const LOGS = Number(process.env['BENCH_SOURCES_LOGS'] ?? 60_000);
const LOGS_PER_BLOCK = Number(process.env['BENCH_SOURCES_LOGS_PER_BLOCK'] ?? 20);
const ROUNDS = Number(process.env['BENCH_SOURCES_ROUNDS'] ?? 3);
const FILE_BLOCKS = 1_000;
/** Blocks of one answer of a service. */
const ANSWER_BLOCKS = 500;
/** As on PulseChain. */
const BLOCK_SECONDS = 10;
const YEAR_BLOCKS = (365 * 86_400) / BLOCK_SECONDS;
/** Blocks after the last one of the fills: the newest are not final, and the export needs a later final block. */
const BLOCKS_AFTER = UNFINAL_BLOCKS + 20;
/** Time after the last block of the fills, which is the end of a day because an export has whole days. Unix seconds. */
const DAY_END = Date.parse('2024-03-02') / 1_000;
const NAME = 'candlehouse_sources_bench';

type FillOptions = Omit<BackfillOptions, 'from' | 'to'>;

/** A source, and in `limit` the name of the source with which it is compared. `rates`: logs per second of each round. */
interface Source {
  readonly options: FillOptions;
  readonly settings: Readonly<Record<string, string>>;
  readonly limit: string;
  readonly rates: number[];
}

const BLOOM = { PROOF: 'bloom' };
const NODE = 'a node, level bloom';
const PROVEN_NODE = 'a node, level full';

export async function benchSources(bench: Bench): Promise<void> {
  const blocks = Math.round(LOGS / LOGS_PER_BLOCK) + BLOCKS_AFTER;
  const to = blocks - BLOCKS_AFTER;
  const genesisTime = DAY_END - (to + 1) * BLOCK_SECONDS;
  const chain = { logsPerBlock: LOGS_PER_BLOCK, pairs: 500, onlyV2: true, provable: true };
  const node = await startBenchChild('stubServer', { ...chain, blocks, genesisTime });
  const portal = await startBenchChild('portalServer', {
    rpcUrl: node.url,
    head: to,
    blocksMax: ANSWER_BLOCKS,
  });
  const paths = await writeFiles(bench, node.url, to);
  const source = (options: FillOptions, settings: Source['settings'], limit = NODE): Source => {
    return { options, settings, limit, rates: [] };
  };
  const sources: Readonly<Record<string, Source>> = {
    [NODE]: source({}, BLOOM),
    'Parquet files, level bloom': source({ parquet: [paths.files] }, BLOOM),
    'Parquet files and headers of the node, level bloom': source({ parquet: [paths.defaultFiles] }, BLOOM),
    'an SQD portal, level bloom': source({ source: portal.url }, BLOOM),
    'HyperSync without its client, level bloom': source(
      { source: HYPERSYNC_URL, loadPackage: packageLoaderFor(keepAnswers(node.url, to)) },
      { ...BLOOM, HYPERSYNC_TOKEN: 'token' },
    ),
    [PROVEN_NODE]: source({}, { PROOF: 'full' }, PROVEN_NODE),
    'a snapshot, level full': source({ snapshot: paths.snapshot }, { PROOF: 'full' }, PROVEN_NODE),
  };
  // In the first round, which does not count, the services make their answers.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [name, { options, settings, rates }] of Object.entries(sources)) {
      say(`round ${round} of ${ROUNDS}: filling from ${name} …`);
      const config = configOf(bench, node.url, settings);
      const rate = await timeFill(bench, config, { from: 1, to, ...options });
      if (round > 0) rates.push(rate);
    }
  await portal.close();
  await node.close();
  for (const [name, { rates, limit }] of Object.entries(sources))
    bench.figures.push(compareFills(name, rates, limit, sources[limit]?.rates ?? []));
}

function configOf(
  { server, folder }: Bench,
  rpcUrl: string,
  settings: Readonly<Record<string, string>>,
): Config {
  const allSettings = {
    RPC_URL: rpcUrl,
    CHAIN_CONFIG: writeDescription(folder),
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, NAME),
    ...settings,
  };
  return loadConfig(allSettings, (path) => readFileSync(path, 'utf8'));
}

/** Writes the blocks as Parquet files with and without headers, and as a snapshot. */
async function writeFiles(
  bench: Bench,
  rpcUrl: string,
  to: number,
): Promise<Readonly<Record<'files' | 'defaultFiles' | 'snapshot', string>>> {
  const pathOf = (name: string): string => join(bench.folder, name);
  const paths = {
    files: pathOf('files'),
    defaultFiles: pathOf('default-files'),
    snapshot: pathOf('snapshot'),
  };
  say('writing the blocks as files …');
  const database = await createDatabase(bench.server.writerUrl, NAME);
  const cryoOptions = {
    rpcUrl,
    databaseUrl: databaseUrl(bench.server.writerUrl, NAME),
    from: 1,
    to,
    chunk: FILE_BLOCKS,
  };
  await writeCryoFiles({ ...cryoOptions, folder: paths.files });
  await writeCryoFiles({ ...cryoOptions, folder: paths.defaultFiles, withHeaders: false });
  const config = configOf(bench, rpcUrl, { PROOF: 'full' });
  const { signal } = new AbortController();
  await runBackfill(config, log, signal, { from: 1, to: to + BLOCKS_AFTER - UNFINAL_BLOCKS });
  const dayOf = (seconds: number): string => new Date(1_000 * seconds).toISOString().slice(0, 10);
  const days = { from: dayOf(DAY_END - to * BLOCK_SECONDS), to: dayOf(DAY_END - 1) };
  await runExport(config, log, signal, { days, out: paths.snapshot }, { write: say });
  await database.command('drop', `DROP DATABASE ${NAME}`);
  await database.close();
  return paths;
}

/** A client of HyperSync that keeps the answers to its queries. */
function keepAnswers(rpcUrl: string, to: number): ReturnType<typeof createHyperSync> {
  const client = createHyperSync(rpcUrl, to, ANSWER_BLOCKS);
  const { get } = client;
  const answerByQuery = new Map<string, Promise<unknown>>();
  client.get = (query) => {
    const key = JSON.stringify(query);
    const answer = answerByQuery.get(key) ?? get(query);
    answerByQuery.set(key, answer);
    return answer;
  };
  return client;
}

/** Logs per second of one fill of a new database. */
async function timeFill(
  { server }: Bench,
  config: Config,
  options: Parameters<typeof runBackfill>[3],
): Promise<number> {
  const database = await createDatabase(server.writerUrl, NAME);
  const startedAt = performance.now();
  await runBackfill(config, log, new AbortController().signal, options);
  const seconds = (performance.now() - startedAt) / 1_000;
  const [row] = await askRows<{ logs: string }>(database, 'SELECT count() AS logs FROM logs');
  await database.command('drop', `DROP DATABASE ${NAME}`);
  await database.close();
  return Number(row?.logs ?? 0) / seconds;
}

/** Compares the rates of fills from a source with those from the limit, a fast node. Rates are logs per second. */
function compareFills(
  source: string,
  sourceRates: readonly number[],
  limitName: string,
  limitRates: readonly number[],
): Figure {
  const [rate, limitRate] = [percentile(sourceRates, 50), percentile(limitRates, 50)];
  const hours = (YEAR_BLOCKS * LOGS_PER_BLOCK) / rate / 3_600;
  return {
    name: `fill from ${source}, ${LOGS_PER_BLOCK} logs a block, median of ${ROUNDS}; ${YEAR_BLOCKS} blocks, a year of PulseChain, in ${hours.toFixed(1)} h`,
    value: rate,
    unit: 'logs/s',
    limitName,
    limit: limitRate,
    ratio: rate / limitRate,
    target: 'none',
    ok: true,
  };
}
