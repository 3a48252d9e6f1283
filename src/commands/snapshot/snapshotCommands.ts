/** Command line of the commands of snapshots: export, fill and compare. */
import { join } from 'node:path';

import { InvalidArgumentError, type Command } from 'commander';

import { runBackfill } from '../backfill';
import type { OneChain } from '../data/dataCommands';
import { stopOnSignals } from '../stopSignal';
import { runCompare } from './compare';
import { runExport, type ExportOptions } from './export';

/** Adds the commands to the program. Each works on one chain. `parseBlock` returns a block number, or throws. */
export function addSnapshotCommands(
  program: Command,
  { start, chainOption }: OneChain,
  parseBlock: (text: string, before?: number) => number,
): void {
  program
    .command('export')
    .description(
      'write the final blocks of whole days as Parquet files that anyone can check; the program may run',
    )
    .requiredOption(
      '--days <first..last>',
      'days in UTC, such as 2026-01-01..2026-01-31, or one day',
      readDays,
    )
    .option('--out <place>', 'a folder or s3://bucket/folder (default: snapshot in DATA_DIR)')
    .addOption(chainOption())
    .action(async ({ days, out, chain }: { days: ExportOptions['days']; out?: string; chain?: number }) => {
      const { config, log } = start(chain);
      const place = out ?? join(config.dataDir, 'snapshot');
      await runExport(config, log, stopOnSignals(), { days, out: place });
    });
  program
    .command('fill')
    .description('store the blocks of a snapshot, each proven by its hash; a repeated run continues')
    .requiredOption('--snapshot <place>', 'a folder, an http(s) URL or s3://bucket/folder')
    .option('--from <block>', 'first block of an empty database (default: of the snapshot)', parseBlock)
    .option('--to <block>', 'last block (default: of the snapshot)', parseBlock)
    .addOption(chainOption())
    .action(async (options: { snapshot: string; from?: number; to?: number; chain?: number }) => {
      const { config, log } = start(options.chain);
      await runBackfill(config, log, stopOnSignals(), options);
    });
  program
    .command('compare <url>')
    .description(
      'compare the stored rows with another instance, and name the first block that differs; the exit code is 1 then',
    )
    .addOption(chainOption())
    .action(async (url: string, { chain }: { chain?: number }) => {
      const { config, log } = start(chain);
      process.exitCode = await runCompare(config, log, stopOnSignals(), url);
    });
}

/** Parses one day or two days with `..` between, of which the second is not earlier. */
function readDays(text: string): ExportOptions['days'] {
  const [from = '', to = from, ...others] = text.split('..');
  const isDay = (day: string): boolean =>
    /^\d{4}-\d\d-\d\d$/.test(day) && new Date(day).toJSON()?.startsWith(day) === true;
  if (others.length > 0 || !isDay(from) || !isDay(to) || from > to)
    throw new InvalidArgumentError(`expected days such as 2026-01-01..2026-01-31, got "${text}"`);
  return { from, to };
}
