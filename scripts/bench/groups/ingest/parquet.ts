/**
 * Compares the speed of a backfill from Parquet files with one from a fast node. Both store the same blocks with the same
 * command, and alternate. With node headers, the files have only cryo's default columns.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runBackfill } from '../../../../src/commands/backfill';
import { loadConfig } from '../../../../src/config';
import { askRows } from '../../../../test/support/engine/askRows';
import { writeCryoFiles } from '../../../../test/support/node/cryoFiles';
import { createDatabase, databaseUrl, log, say, writeDescription, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { percentile, type Figure } from '../../figure';

const LOGS = Number(process.env['BENCH_PARQUET_LOGS'] ?? 120_000);
export const LOGS_PER_BLOCK = 20;
const FILE_BLOCKS = 1_000;
export const ROUNDS = 3;

type Source = 'node' | 'files' | 'files and headers of the node';

export async function benchParquet({ server, folder, figures }: Bench): Promise<void> {
  say('backfilling from Parquet files …');
  const blocks = Math.round(LOGS / LOGS_PER_BLOCK);
  const to = blocks - 64;
  const node = await startBenchChild('stubServer', {
    blocks,
    logsPerBlock: LOGS_PER_BLOCK,
    pairs: 500,
    onlyV2: true,
  });
  const database = await createDatabase(server.writerUrl, 'candlehouse_made_files', false);
  const target = { rpcUrl: node.url, databaseUrl: databaseUrl(server.writerUrl, 'candlehouse_made_files') };
  const places: Record<Source, string> = {
    node: '',
    files: join(folder, 'files'),
    'files and headers of the node': join(folder, 'default-files'),
  };
  const range = { from: 1, to, chunk: FILE_BLOCKS };
  await writeCryoFiles({ ...target, ...range, folder: places.files });
  const fromFiles = places['files and headers of the node'];
  await writeCryoFiles({ ...target, ...range, folder: fromFiles, withHeaders: false });
  await database.command('drop', 'DROP DATABASE candlehouse_made_files');
  await database.close();
  const rates: Record<Source, number[]> = { node: [], files: [], 'files and headers of the node': [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const source of Object.keys(places) as Source[])
      rates[source].push(
        await timeFill(server.writerUrl, folder, node.url, {
          to,
          ...(source === 'node' ? {} : { parquet: [places[source]] }),
        }),
      );
  await node.close();
  for (const source of ['files', 'files and headers of the node'] as const)
    figures.push(compareFills(source, rates[source], rates.node));
}

/** Logs per second of one backfill of the blocks from 1 on into a new database. */
export async function timeFill(
  writerUrl: string,
  folder: string,
  rpcUrl: string,
  options: Omit<Parameters<typeof runBackfill>[3], 'from'>,
): Promise<number> {
  const name = 'candlehouse_fill_bench';
  const database = await createDatabase(writerUrl, name, true);
  const settings = {
    RPC_URL: rpcUrl,
    CHAIN_CONFIG: writeDescription(folder),
    PROOF: 'bloom',
    CLICKHOUSE_URL: databaseUrl(writerUrl, name),
  };
  const config = loadConfig(settings, (path) => readFileSync(path, 'utf8'));
  const startedAt = performance.now();
  await runBackfill(config, log, new AbortController().signal, { from: 1, ...options });
  const seconds = (performance.now() - startedAt) / 1_000;
  const [row] = await askRows<{ logs: string }>(database, 'SELECT count() AS logs FROM logs');
  await database.command('drop', `DROP DATABASE ${name}`);
  await database.close();
  return Number(row?.logs ?? 0) / seconds;
}

/** Rates of backfills from a source, and of those from a fast node, in logs per second. */
export function compareFills(
  source: string,
  ownRates: readonly number[],
  limitRates: readonly number[],
): Figure {
  const [value, limit] = [percentile(ownRates, 50), percentile(limitRates, 50)];
  return {
    name: `backfill from ${source}, ${LOGS_PER_BLOCK} logs a block, median of ${ROUNDS}`,
    value,
    unit: 'logs/s',
    limitName: 'the same from a fast node',
    limit,
    ratio: value / limit,
    target: '>= 0.8x',
    ok: value >= 0.8 * limit,
  };
}
